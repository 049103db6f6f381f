#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "nasbench/graph/network.h"
#include "nasbench/graph/network_weights.h"
#include "nasbench/graph/onnx.h"

namespace tenshot::nasbench {

// What the sources of the ONNX writer share. Needs ONNX's headers: for those sources only.

/// Writes the nodes and constants of one graph. A value has the name of the node that gives it, but for inputs and
/// outputs; a name that is taken gets a number behind it.
class OnnxGraphWriter {
 public:
  OnnxGraphWriter(const Network& network, const OnnxOptions& options, onnx::GraphProto& out);
  void write();

  const OnnxOptions& options() const { return options_; }
  onnx::NodeProto& node(const std::string& type, const std::string& name, const std::vector<std::string>& inputs);
  /// As above, with one output of the same name.
  onnx::NodeProto& step(const std::string& type, const std::string& name, const std::vector<std::string>& inputs);
  std::string constant(const std::string& name, const std::vector<float>& values, const Shape& shape);
  std::string integers(const std::string& name, const std::vector<std::int64_t>& values);
  /// Whether the value of a global pool still has its two axes of 1.
  bool is_unflattened(const Source& source) const { return unflattened_.count(source) != 0; }

 private:
  std::string unique(std::string name);
  onnx::TensorProto& tensor(const std::string& name, int type, const Shape& shape);
  void name_values();
  void leave_pools_unflattened();
  const std::string& value_of(const Source& source) const;
  void write_node(std::size_t index);

  const Network& network_;
  const OnnxOptions& options_;
  onnx::GraphProto& out_;
  std::set<std::string> names_;
  std::vector<std::vector<std::string>> values_;  ///< by node and output
  std::set<Source> unflattened_;
};

/// One node of a network on its way to ONNX.
struct OnnxNodeWriting {
  OnnxGraphWriter& graph;
  const NetworkNode& node;
  const LayerWeights& weights;
  std::vector<std::string> inputs;
  bool unflattened = false;  ///< a global pool whose two axes of 1 its reader flattens

  /// The node that gives its outputs, which are the caller's to name.
  onnx::NodeProto& last(const std::string& type, const std::vector<std::string>& read);
  /// A node before it, called NAME_part, and the output of such a one.
  onnx::NodeProto& inner(const std::string& type, const std::string& part, const std::vector<std::string>& read);
  std::string step(const std::string& type, const std::string& part, const std::vector<std::string>& read);
  /// Constants called NAME_part: numbers of that shape, a single number, a list.
  std::string constant(const std::string& part, const std::vector<float>& values, const Shape& shape);
  std::string number(const std::string& part, double value);
  std::string integers(const std::string& part, const std::vector<std::int64_t>& values);
};

/// Writes the nodes that `writing.node` stands for, and returns the last one, whose outputs are the caller's to name.
/// Throws InputError that names the node where ONNX has nothing for it.
onnx::NodeProto& write_operator(OnnxNodeWriting& writing);

/// Add an attribute, and return the node.
onnx::NodeProto& add_integers(onnx::NodeProto& node, const char* name, const std::vector<std::int64_t>& values);
onnx::NodeProto& add_integer(onnx::NodeProto& node, const char* name, std::int64_t value);
onnx::NodeProto& add_real(onnx::NodeProto& node, const char* name, double value);
onnx::NodeProto& add_text(onnx::NodeProto& node, const char* name, const std::string& value);

}  // namespace tenshot::nasbench
