#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "nasbench/graph/network.h"
#include "nasbench/graph/onnx_values.h"

namespace tenshot::nasbench::onnx_conversions {

// What the sources that read ONNX operators share. Needs ONNX's headers: for those sources only.

using Inputs = std::vector<const OnnxValue*>;

/// A node on its way to an operator: what it is made of, and what is made of it.
struct Conversion {
  const onnx::NodeProto& node;
  const Inputs& inputs;
  const std::vector<OnnxValue>& outputs;
  NetworkNode& result;

  bool has(std::size_t i) const { return i < inputs.size() && inputs[i] != nullptr; }
  bool is_constant(std::size_t i) const { return has(i) && inputs[i]->constant; }
  bool is_computed(std::size_t i) const { return has(i) && !inputs[i]->constant; }
  const Shape& shape(std::size_t i) const { return inputs[i]->shape; }
  bool known(std::size_t i) const { return is_constant(i) && inputs[i]->numbers.has_value(); }
  std::vector<std::int64_t> numbers(std::size_t i) const {
    std::vector<std::int64_t> result;
    for (std::size_t n = 0; known(i) && n < inputs[i]->numbers->size(); ++n)
      result.push_back(inputs[i]->numbers->whole(n));
    return result;
  }
  /// Attribute `name`, or, since later opsets have it there, input `index`.
  std::vector<std::int64_t> list(const char* name, std::size_t index) const {
    return attribute(node, name) != nullptr ? integers_attribute(node, name) : numbers(index);
  }
  std::int64_t axis(const char* name, std::int64_t otherwise) const {
    const std::int64_t axis = integer_attribute(node, name, otherwise);
    return axis < 0 ? axis + static_cast<std::int64_t>(shape(0).size()) : axis;
  }
};

inline void keep_first_input(Conversion& c) {
  c.result.inputs = {c.inputs[0]->source};
  c.result.operation.inputs = {c.shape(0)};
}

/// Checked by inferred_types().
inline int small(std::int64_t number) { return static_cast<int>(number); }

/// A conversion fills in Conversion::result and says whether it has understood the node; if not, the node is opaque.
/// All throw FormatError where the node contradicts itself.
using Convert = bool (*)(Conversion&);

bool convolution(Conversion& c);
bool gemm(Conversion& c);
bool matrix_product(Conversion& c);
bool packed_product(Conversion& c);
bool experts(Conversion& c);
bool pool(Conversion& c);
bool global_pool(Conversion& c);

/// ONNX types of functions of one tensor, and what the network calls them; and the same of two tensors.
const std::map<std::string, std::string>& activation_names();
const std::map<std::string, std::string>& elementwise_names();
bool activation(Conversion& c);
bool clip(Conversion& c);
bool elementwise(Conversion& c);
bool quantised_pair(Conversion& c);

bool with_axis(Conversion& c);
bool quantised_concat(Conversion& c);
bool split(Conversion& c);
bool slice(Conversion& c);
bool gather(Conversion& c);
bool first_input_alone(Conversion& c);
bool pad(Conversion& c);
bool resize(Conversion& c);
bool transpose(Conversion& c);
bool batch_norm(Conversion& c);
bool layer_norm(Conversion& c);
bool group_norm(Conversion& c);
/// ONNX types of reductions, and what the network calls them.
const std::map<std::string, std::string>& reduction_names();
bool reduce(Conversion& c);

}  // namespace tenshot::nasbench::onnx_conversions
