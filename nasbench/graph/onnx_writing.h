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
  /// As above, with one output of the same name, which is given back.
  std::string step(const std::string& type, const std::string& name, const std::vector<std::string>& inputs);
  std::string constant(const std::string& name, const std::vector<float>& values, const Shape& shape);
  std::string number(const std::string& name, double value) { return constant(name, {static_cast<float>(value)}, {}); }
  std::string integers(const std::string& name, const std::vector<std::int64_t>& values);
  /// Whether the value of a global pool still has its two axes of 1.
  bool is_unflattened(const Source& source) const { return unflattened_.count(source) != 0; }

 private:
  std::string unique(std::string name);
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
};

/// Writes the nodes that `writing.node` stands for; the last one, whose outputs are the caller's to name, is given
/// back. Throws InputError that names the node where ONNX has nothing for it.
onnx::NodeProto& write_operator(OnnxNodeWriting& writing);

void add_integers(onnx::NodeProto& node, const char* name, const std::vector<std::int64_t>& values);
void add_integer(onnx::NodeProto& node, const char* name, std::int64_t value);
void add_real(onnx::NodeProto& node, const char* name, double value);
void add_text(onnx::NodeProto& node, const char* name, const std::string& value);

/// A reshape of `input`, whose one output has the name that is given back.
std::string reshaped(OnnxNodeWriting& w, const std::string& name, const std::string& input, const Shape& shape);

/// As write_operator(), of norms.
onnx::NodeProto& batch_norm(OnnxNodeWriting& w);
onnx::NodeProto& layer_norm(OnnxNodeWriting& w);
onnx::NodeProto& group_norm(OnnxNodeWriting& w);

}  // namespace tenshot::nasbench
