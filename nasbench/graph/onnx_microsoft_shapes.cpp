#include <algorithm>
#include <map>

#include "nasbench/graph/limits.h"
#include "nasbench/graph/network_builder.h"
#include "nasbench/graph/onnx_folding.h"
#include "nasbench/graph/onnx_shape_rules.h"
#include "nasbench/graph/onnx_writing.h"
#include "nasbench/support/error.h"
#include "nasbench/support/words.h"

namespace tenshot::nasbench {
namespace {

// Shapes of ONNX Runtime's own operators, as its page ContribOperators.md describes them.

/// Y, mean, deviation and the sum that was normalised.
OnnxTypes skip_norm(const onnx::NodeProto&, const OnnxInputs& inputs) {
  const Shape& all = inputs[0]->shape;
  Shape statistics = all;
  if (!statistics.empty()) statistics.back() = 1;
  return types_like(*inputs[0], {all, statistics, statistics, all});
}

/// What libonnx infers for an operator of ONNX's that takes the first so many inputs.
OnnxTypes as_standard(const onnx::NodeProto& node, const char* type, OnnxInputs inputs, std::size_t most = SIZE_MAX) {
  inputs.resize(std::min(inputs.size(), most));
  onnx::NodeProto standard = node;
  standard.clear_domain();
  standard.set_op_type(type);
  constexpr std::int64_t opset = 17;
  return inferred_types(standard, opset, inputs);
}

/// Images of batch × height × width × channels.
OnnxTypes channels_last_convolution(const onnx::NodeProto& node, const OnnxInputs& inputs) {
  const bool quantised = node.op_type()[0] == 'Q';
  if (quantised && integer_attribute(node, "channels_last", 0) == 0) return as_standard(node, "QLinearConv", inputs);
  const OnnxValue* weight = given(inputs, quantised ? 3 : 1);
  if (weight == nullptr || weight->shape.size() != inputs[0]->shape.size() || weight->shape.size() < 3)
    return std::nullopt;
  onnx::NodeProto window = node;
  if (attribute(node, "kernel_shape") == nullptr) {
    add_integers(window, "kernel_shape", {weight->shape.begin() + 2, weight->shape.end()});
  }
  Shape shape = pooled_shape(window, inputs[0]->shape, true);
  shape.back() = weight->shape[0];
  return one_type(*inputs[0], shape);
}

OnnxTypes transposable_product(const onnx::NodeProto& node, const OnnxInputs& inputs) {
  if (given(inputs, 1) == nullptr) return std::nullopt;
  const auto factor = [&](std::size_t i, const char* side) {
    Shape shape;
    for (const std::int64_t axis : factor_axes(node, inputs[i]->shape.size(), side)) {
      shape.push_back(inputs[i]->shape[static_cast<std::size_t>(axis)]);
    }
    return shape;
  };
  return one_type(*inputs[0], product_shape(factor(0, "A"), factor(1, "B")));
}

/// Products whose result is of floating point, whatever their factors are.
OnnxTypes integer_product(const onnx::NodeProto&, const OnnxInputs& inputs) {
  if (given(inputs, 1) == nullptr) return std::nullopt;
  OnnxTypes types = one_type(*inputs[0], product_shape(inputs[0]->shape, inputs[1]->shape));
  types->front()->element = onnx::TensorProto::FLOAT;
  return types;
}

/// Weights packed in fewer bits than 8: K inputs, N outputs, which stand in front in a matrix of them.
OnnxTypes packed_product(const onnx::NodeProto& node, const OnnxInputs& inputs) {
  Shape shape = inputs[0]->shape;
  const OnnxValue* weight = given(inputs, 1);
  const bool is_matrix = weight != nullptr && weight->shape.size() == 2 && !shape.empty();
  const std::int64_t in = integer_attribute(node, "K", is_matrix ? shape.back() : 0),
                     out = integer_attribute(node, "N", is_matrix ? weight->shape[0] : 0);
  if (shape.empty() || out < 1 || shape.back() != in) {
    throw FormatError("its weights are of K = " + std::to_string(in) + " and N = " + std::to_string(out) +
                      ", which its input does not fit");
  }
  shape.back() = out;
  return one_type(*inputs[0], shape);
}

OnnxTypes quantised_gemm(const onnx::NodeProto& node, const OnnxInputs& inputs) {
  const OnnxValue* right = given(inputs, 3);
  if (right == nullptr || right->shape.size() != 2 || inputs[0]->shape.size() != 2) return std::nullopt;
  const bool left_swapped = integer_attribute(node, "transA", 0) != 0,
             right_swapped = integer_attribute(node, "transB", 0) != 0;
  OnnxTypes types = one_type(*inputs[0], {inputs[0]->shape[left_swapped ? 1 : 0], right->shape[right_swapped ? 0 : 1]});
  if (given(inputs, 7) == nullptr) types->front()->element = onnx::TensorProto::FLOAT;
  return types;
}

OnnxTypes quantised_pair(const onnx::NodeProto&, const OnnxInputs& inputs) {
  if (given(inputs, 3) == nullptr) return std::nullopt;
  return one_type(*inputs[0], broadcast_shape(inputs[0]->shape, inputs[3]->shape));
}

/// The distances of each row of one matrix from each of the other.
OnnxTypes distances(const onnx::NodeProto&, const OnnxInputs& inputs) {
  const OnnxValue* other = given(inputs, 1);
  if (other == nullptr || other->shape.size() != 2 || inputs[0]->shape.size() != 2) return std::nullopt;
  return one_type(*inputs[0], {inputs[0]->shape[0], other->shape[0]});
}

/// Half of the frequencies of real numbers, in two parts each, and back.
OnnxTypes fourier(const onnx::NodeProto& node, const OnnxInputs& inputs) {
  Shape shape = inputs[0]->shape;
  const bool back = node.op_type() == "Irfft";
  if (shape.size() < (back ? 2 : 1) || integer_attribute(node, "onesided", 1) == 0) return std::nullopt;
  if (back) shape.pop_back();
  shape.back() = back ? 2 * (shape.back() - 1) : shape.back() / 2 + 1;
  if (!back) shape.push_back(2);
  return one_type(*inputs[0], shape);
}

/// Windows along an axis, behind all others.
OnnxTypes unfolded(const onnx::NodeProto& node, const OnnxInputs& inputs) {
  Shape shape = inputs[0]->shape;
  std::int64_t& extent = shape[front_axis(integer_attribute(node, "dim", -1), shape.size())];
  const std::int64_t size = integer_attribute(node, "size", 0), step = integer_attribute(node, "step", 1);
  if (size < 1 || size > extent || step < 1) throw FormatError("its window does not fit");
  extent = (extent - size) / step + 1;
  shape.push_back(size);
  return one_type(*inputs[0], shape);
}

/// A table of so many heads, and the numbers of queries and keys.
OnnxTypes position_bias(const onnx::NodeProto&, const OnnxInputs& inputs) {
  if (inputs[0]->shape.size() != 2 || !known(inputs, 1) || !known(inputs, 2)) return std::nullopt;
  return one_type(*inputs[0], {1, inputs[0]->shape[1], inputs[1]->numbers->whole(0), inputs[2]->numbers->whole(0)});
}

OnnxTypes pool(const onnx::NodeProto& node, const OnnxInputs& inputs) {
  const bool channels_last = node.op_type() == "NhwcMaxPool" || integer_attribute(node, "channels_last", 0) != 0;
  return one_type(*inputs[0], pooled_shape(node, inputs[0]->shape, channels_last));
}

OnnxTypes quantised_global_pool(const onnx::NodeProto& node, const OnnxInputs& inputs) {
  Shape shape = inputs[0]->shape;
  if (shape.size() < 3) return std::nullopt;
  const std::size_t first = integer_attribute(node, "channels_last", 0) != 0 ? 1 : 2;
  std::fill_n(shape.begin() + static_cast<std::ptrdiff_t>(first), shape.size() - 2, 1);
  return one_type(*inputs[0], shape);
}

/// Inputs are (scale, zero point, then tensor, scale, zero point of each part).
OnnxTypes quantised_concat(const onnx::NodeProto& node, const OnnxInputs& inputs) {
  if (given(inputs, 2) == nullptr) return std::nullopt;
  Shape shape = inputs[2]->shape;
  const std::size_t axis = front_axis(integer_attribute(node, "axis", 0), shape.size());
  for (std::size_t i = 5; i < inputs.size(); i += 3) {
    if (inputs[i] == nullptr || inputs[i]->shape.size() != shape.size()) return std::nullopt;
    shape[axis] += inputs[i]->shape[axis];
  }
  return one_type(*inputs[2], shape);
}

OnnxTypes quantised_where(const onnx::NodeProto&, const OnnxInputs& inputs) {
  if (given(inputs, 1) == nullptr || given(inputs, 4) == nullptr) return std::nullopt;
  return one_type(*inputs[1], broadcast_shape(inputs[0]->shape, broadcast_shape(inputs[1]->shape, inputs[4]->shape)));
}

/// Tokens, and where the batch's sentences end.
OnnxTypes embedding(const onnx::NodeProto& node, const OnnxInputs& inputs) {
  const std::size_t table = 2;
  if (given(inputs, table) == nullptr || inputs[table]->shape.size() != 2 || inputs[0]->shape.size() != 2)
    return std::nullopt;
  const Shape& ids = inputs[0]->shape;
  const Shape tokens = {ids[0], ids[1], inputs[table]->shape[1]}, ends = {ids[0]};
  OnnxTypes types = types_like(*inputs[table], {tokens, ends, tokens});
  for (InferredType& type : *types) {
    if (node.op_type()[0] == 'Q') type->element = onnx::TensorProto::FLOAT;
  }
  types->at(1)->element = inputs[0]->element;
  return types;
}

OnnxTypes quantised_recurrence(const onnx::NodeProto&, const OnnxInputs& inputs) {
  const OnnxValue* state = given(inputs, 2);
  if (state == nullptr || state->shape.size() != 3 || inputs[0]->shape.size() != 3) return std::nullopt;
  const Shape& in = inputs[0]->shape;
  const std::int64_t directions = state->shape[0], hidden = state->shape[1];
  const Shape last = {directions, in[1], hidden};
  return types_like(*inputs[0], {{in[0], directions, in[1], hidden}, last, last});
}

/// Rows of a table in blocks that share a scale; a byte may hold several numbers.
OnnxTypes rows_of_blocks(const onnx::NodeProto& node, const OnnxInputs& inputs) {
  const OnnxValue *rows = given(inputs, 1), *scales = given(inputs, 2);
  if (rows == nullptr || scales == nullptr || inputs[0]->shape.empty()) return std::nullopt;
  Shape table = inputs[0]->shape;
  const std::int64_t bits = integer_attribute(node, "bits", 4);
  if (inputs[0]->element == onnx::TensorProto::UINT8 && bits > 0 && bits < 8) table.back() *= 8 / bits;
  const std::size_t axis = front_axis(integer_attribute(node, "gather_axis", 0), table.size());
  table.insert(table.erase(table.begin() + static_cast<std::ptrdiff_t>(axis)), rows->shape.begin(), rows->shape.end());
  return one_type(*scales, table);
}

/// Boxes of an image, each resized to the size that input 3 says.
OnnxTypes cropped(const onnx::NodeProto&, const OnnxInputs& inputs) {
  const OnnxValue* boxes = given(inputs, 1);
  if (boxes == nullptr || boxes->shape.empty() || inputs[0]->shape.size() != 4 || !known(inputs, 3))
    return std::nullopt;
  Shape shape = {boxes->shape[0], inputs[0]->shape[1]};
  for (const std::int64_t extent : whole_numbers(*inputs[3])) shape.push_back(extent);
  return one_type(*inputs[0], shape);
}

/// One half, multiplied by a function of the other.
OnnxTypes halved(const onnx::NodeProto&, const OnnxInputs& inputs) {
  Shape shape = inputs[0]->shape;
  if (!shape.empty()) shape.back() /= 2;
  return one_type(*inputs[0], shape);
}

const std::map<std::string, ShapeRule*>& rules() {
  static const std::map<std::string, ShapeRule*> table = by_name<ShapeRule*>(
      {{channels_last_convolution, "NhwcConv NhwcFusedConv QLinearConv"},
       {transposable_product, "FusedMatMul TransposeMatMul FusedMatMulActivation GemmFastGelu"},
       {integer_product, "MatMulIntegerToFloat DynamicQuantizeMatMul MatMulInteger16"},
       {packed_product, "MatMulNBits MatMulBnb4 MatMulBlockQuantizedFp4Weight MatMulBlockQuantizedFp8Weight"},
       {quantised_gemm, "QGemm"},
       {quantised_pair, "QLinearAdd QLinearMul"},
       {distances, "CDist"},
       {fourier, "Rfft Irfft"},
       {unfolded, "UnfoldTensor"},
       {position_bias, "RelativePositionBias"},
       {pool, "QLinearAveragePool MaxpoolWithMask NhwcMaxPool"},
       {quantised_global_pool, "QLinearGlobalAveragePool"},
       {quantised_concat, "QLinearConcat"},
       {quantised_where, "QLinearWhere"},
       {embedding, "EmbedLayerNormalization QEmbedLayerNormalization"},
       {quantised_recurrence, "DynamicQuantizeLSTM"},
       {rows_of_blocks, "GatherBlockQuantized"},
       {skip_norm, "SkipLayerNormalization SkipSimplifiedLayerNormalization"},
       {cropped, "CropAndResize"},
       {halved, "BiasSplitGelu"},
       {packed_attention, "Attention QAttention DecoderMaskedSelfAttention"},
       {attention_of_heads, "MultiHeadAttention DecoderMaskedMultiHeadAttention"},
       {grouped_attention, "GroupQueryAttention SparseAttention"},
       {paged_attention, "PagedAttention"},
       {linear_attention, "LinearAttention"},
       {gated_delta_net, "GatedDeltaNet"},
       {same_type,
        "FastGelu QuickGelu BiasGelu Gelu LayerNormalization SimplifiedLayerNormalization GroupNorm SkipGroupNorm "
        "RotaryEmbedding BiasAdd BiasSoftmax BiasDropout QLinearSigmoid QLinearLeakyRelu QLinearSoftmax Silu Swish "
        "Mish GroupNormalization MoE QMoE Inverse LongformerAttention DecoderAttention BitmaskDropout "
        "BitmaskBiasDropout GatedAdd GatedRMSNorm MRotaryEmbedding QOrderedGelu QOrderedLayerNormalization"}});
  return table;
}

}  // namespace

OnnxTypes microsoft_types(const onnx::NodeProto& node, const OnnxInputs& inputs) {
  static const std::map<std::string, std::pair<const char*, std::size_t>> alike = {
      {"FusedConv", {"Conv", 2}},
      {"FusedGemm", {"Gemm", 3}},
      {"QLinearReduceMean", {"ReduceMean", 1}},
      {"TorchEmbedding", {"Gather", 2}}};
  if (const auto like = alike.find(node.op_type()); like != alike.end()) {
    return as_standard(node, like->second.first, inputs, like->second.second);
  }
  const auto rule = rules().find(node.op_type());
  return rule == rules().end() ? as_standard(node, node.op_type().c_str(), inputs) : rule->second(node, inputs);
}

}  // namespace tenshot::nasbench
