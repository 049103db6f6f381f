#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "nasbench/graph/network.h"
#include "nasbench/graph/onnx_folding.h"
#include "nasbench/graph/onnx_steps.h"

namespace tenshot::nasbench {

/// The operator that `node` is, without a name; opaque where it is none of the kinds that we know, or of a known one
/// in an unusual form (a convolution whose weights are computed). `inputs` have null pointers where an optional one is
/// missing. Throws FormatError where shapes contradict each other.
NetworkNode operator_of(const onnx::NodeProto& node, const OnnxInputs& inputs, const OnnxValues& outputs);

/// An ONNX node that several of our operators stand for: Einsum, a general Gemm or FusedMatMul (transposed factors,
/// weights on either side, an addend that is computed), a FusedConv with its addend and its function. Adds them and
/// returns the node's first output; nothing where the node is none of these, or in a form that we do not take apart.
/// `outputs` are the node's, with their shapes.
std::optional<Source> composed(const OnnxSteps& steps, const onnx::NodeProto& node, const OnnxInputs& inputs,
                               const OnnxValues& outputs);

namespace onnx_conversions {

// What the sources that read ONNX operators share.

/// A node on its way to an operator: what it is made of, and what is made of it.
struct Conversion : OnnxNode {
  const OnnxValues& outputs;
  NetworkNode& result;

  bool is_constant(std::size_t i) const { return has(i) && inputs[i]->constant; }
  bool is_computed(std::size_t i) const { return has(i) && !inputs[i]->constant; }
  /// An axis of the first input, counted from the front.
  std::int64_t first_axis(std::int64_t otherwise) const {
    return static_cast<std::int64_t>(axis("axis", otherwise, shape().size()));
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

Convert convolution, gemm, matrix_product, packed_product, packed_rows, experts, recurrent_attention,
    attention_with_past;
Convert pool, global_pool;
Convert activation, clip, elementwise, quantised_parts;
Convert with_axis, split, slice, gather, first_input_alone, pad, resize, transpose;
Convert batch_norm, layer_norm, group_norm, reduce;

/// Where a product with weights has its bias among its inputs; beyond all of them where it has none.
std::size_t bias_place(const onnx::NodeProto& node);

/// ONNX types of functions of one tensor, of two, and of reductions, and what the network calls them.
const std::map<std::string, std::string>& activation_names();
const std::map<std::string, std::string>& elementwise_names();
const std::map<std::string, std::string>& reduction_names();

}  // namespace onnx_conversions

}  // namespace tenshot::nasbench
