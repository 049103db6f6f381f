#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "nasbench/graph/network.h"
#include "nasbench/graph/onnx_folding.h"

namespace tenshot::nasbench::onnx_conversions {

// What the sources that read ONNX operators share. Needs ONNX's headers: for those sources only.

/// A node on its way to an operator: what it is made of, and what is made of it.
struct Conversion {
  const onnx::NodeProto& node;
  const OnnxInputs& inputs;
  const OnnxValues& outputs;
  NetworkNode& result;

  bool has(std::size_t i) const { return i < inputs.size() && inputs[i] != nullptr; }
  bool is_constant(std::size_t i) const { return has(i) && inputs[i]->constant; }
  bool is_computed(std::size_t i) const { return has(i) && !inputs[i]->constant; }
  const Shape& shape(std::size_t i) const { return inputs[i]->shape; }
  bool known(std::size_t i) const { return nasbench::known(inputs, i); }
  std::vector<std::int64_t> numbers(std::size_t i) const {
    return known(i) ? whole_numbers(*inputs[i]) : std::vector<std::int64_t>();
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
/// All throw FormatError where the node contradicts itself. Functions of this type are declared by it.
using Convert = bool(Conversion&);

Convert convolution, gemm, matrix_product, packed_product, packed_rows, experts, recurrent_attention, pool, global_pool;
Convert activation, clip, elementwise, quantised_pair;
Convert with_axis, quantised_concat, split, slice, gather, first_input_alone, pad, resize, transpose;
Convert batch_norm, layer_norm, group_norm, reduce;

/// Where a product with weights has its bias among its inputs; beyond all of them where it has none.
std::size_t bias_place(const onnx::NodeProto& node);

/// ONNX types of functions of one tensor, of two, and of reductions, and what the network calls them.
const std::map<std::string, std::string>& activation_names();
const std::map<std::string, std::string>& elementwise_names();
const std::map<std::string, std::string>& reduction_names();

}  // namespace tenshot::nasbench::onnx_conversions
