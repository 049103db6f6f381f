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

/// Calls `visit` with every name that a node's sub-graphs read from outside; with `nested`, also with its own inputs.
void for_each_read(const onnx::NodeProto& node, bool nested, const std::function<void(const std::string&)>& visit);

/// An order of execution of the nodes, that of the file where it is one. `given` are the inputs and constants. Throws
/// FormatError that names the node: a name that nobody or that two give, a cycle.
std::vector<std::size_t> execution_order(const std::vector<const onnx::NodeProto*>& nodes,
                                         const std::set<std::string>& given);

}  // namespace tenshot::nasbench
