#pragma once

#include <onnx/onnx_pb.h>

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace tenshot::nasbench {

// Needs ONNX's headers: for the sources that read ONNX only.

/// The node's name; where it has none, that of its first output that is not left out, else its type.
std::string name_of(const onnx::NodeProto& node);
/// "node 12 (Conv 'conv1')"; with the domain where it is not ONNX's own.
std::string place_of(const onnx::NodeProto& node, std::size_t index);

bool has_sub_graph(const onnx::NodeProto& node);

/// Brings the node and those in its sub-graphs into one form: without the domain "ai.onnx", which is ONNX's own as none
/// is, and sparse weights of sub-graphs as dense ones.
void make_uniform(onnx::NodeProto& node);

/// Whether the node, or one in its sub-graphs, names attributes of its function's call. Where a call is given, its
/// attributes take their places.
bool bind_attributes(onnx::NodeProto& node, const onnx::NodeProto* call);

/// The call, with the values that the function has for attributes which the call leaves out.
onnx::NodeProto with_defaults(const onnx::FunctionProto& function, const onnx::NodeProto& call);

/// Calls `visit` with every name that a node's sub-graphs read from outside; with `nested`, also with its own inputs.
void for_each_read(const onnx::NodeProto& node, bool nested, const std::function<void(const std::string&)>& visit);

/// An order of execution of the nodes, that of the file where it is one. `given` are the inputs and constants. Throws
/// FormatError that names the node: a name that nobody or that two give, a cycle.
std::vector<std::size_t> execution_order(const std::vector<const onnx::NodeProto*>& nodes,
                                         const std::set<std::string>& given);

}  // namespace tenshot::nasbench
