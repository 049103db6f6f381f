#include <algorithm>
#include <map>

#include "nasbench/graph/limits.h"
#include "nasbench/graph/network_builder.h"
#include "nasbench/graph/onnx_shape_rules.h"
#include "nasbench/graph/onnx_writing.h"
#include "nasbench/support/error.h"
#include "nasbench/support/words.h"

namespace tenshot::nasbench {
namespace {

// Shapes of ONNX Runtime's own operators, as its page ContribOperators.md describes them.

/// Y, mean, deviation and the sum that was normalised.
OnnxTypes skip_norm(const OnnxNode& node) {
  Shape statistics = node.shape();
  if (!statistics.empty()) statistics.back() = 1;
  return types_of(node.element(), {node.shape(), statistics, statistics, node.shape()});
}

OnnxTypes twice_the_type(const OnnxNode& node) { return types_of(node.element(), {node.shape(), node.shape()}); }

/// What libonnx infers for an operator of ONNX's that takes the first so many inputs.
OnnxTypes as_standard(const OnnxNode& node, const char* type, std::size_t most = SIZE_MAX) {
  OnnxInputs inputs = node.inputs;
  inputs.resize(std::min(inputs.size(), most));
  onnx::NodeProto standard = node.proto;
  standard.clear_domain();
  standard.set_op_type(type);
  constexpr std::int64_t opset = 17;
  return inferred_types(standard, opset, inputs);
}

/// Images of batch × height × width × channels.
OnnxTypes channels_last_convolution(const OnnxNode& node) {
  const bool quantised = node.type()[0] == 'Q';
  if (quantised && !node.flag("channels_last")) return as_standard(node, "QLinearConv");
  const std::size_t weight = quantised ? 3 : 1, rank = node.shape().size();
  if (rank < 3 || !node.has_ranks({{weight, rank}})) return std::nullopt;
  onnx::NodeProto window = node.proto;
  const Shape& weights = node.shape(weight);
  if (node.attribute("kernel_shape") == nullptr)
    add_integers(window, "kernel_shape", {weights.begin() + 2, weights.end()});
  Shape shape = pooled_shape({window, node.inputs}, true);
  shape.back() = weights[0];
  return one_type(node.element(), shape);
}

OnnxTypes integer_product(const OnnxNode& node) {
  if (!node.has(1)) return std::nullopt;
  return one_type(onnx::TensorProto::FLOAT, product_shape(node.shape(), node.shape(1)));
}

/// Weights packed in fewer bits than 8: K inputs, N outputs, which stand in front in a matrix of them.
OnnxTypes packed_product(const OnnxNode& node) {
  Shape shape = node.shape();
  const bool is_matrix = node.has_ranks({{1, 2}}) && !shape.empty();
  const std::int64_t in = node.integer("K", is_matrix ? shape.back() : 0),
                     out = node.integer("N", is_matrix ? node.shape(1)[0] : 0);
  if (shape.empty() || out < 1 || shape.back() != in) {
    reject({"its weights are of K = ", in, " and N = ", out, ", which its input does not fit"});
  }
  shape.back() = out;
  return one_type(node.element(), shape);
}

OnnxTypes distances(const OnnxNode& node) {
  if (!node.has_ranks({{0, 2}, {1, 2}})) return std::nullopt;
  return one_type(node.element(), {node.shape()[0], node.shape(1)[0]});
}

/// Half of the frequencies of real numbers, in two parts each, and back.
OnnxTypes fourier(const OnnxNode& node) {
  Shape shape = node.shape();
  const bool back = node.type() == "Irfft";
  if (shape.size() < (back ? 2 : 1) || node.integer("onesided", 1) == 0) return std::nullopt;
  if (back) shape.pop_back();
  shape.back() = back ? 2 * (shape.back() - 1) : shape.back() / 2 + 1;
  if (!back) shape.push_back(2);
  return one_type(node.element(), shape);
}

OnnxTypes unfolded(const OnnxNode& node) {
  Shape shape = node.shape();
  std::int64_t& extent = shape[node.axis("dim", -1, shape.size())];
  const std::int64_t size = node.integer("size"), step = node.integer("step", 1);
  if (size < 1 || size > extent || step < 1) throw FormatError("its window does not fit");
  extent = (extent - size) / step + 1;
  shape.push_back(size);
  return one_type(node.element(), shape);
}

/// A table of so many heads, and the numbers of queries and keys.
OnnxTypes position_bias(const OnnxNode& node) {
  if (node.shape().size() != 2 || !node.known(1) || !node.known(2)) return std::nullopt;
  return one_type(node.element(), {1, node.shape()[1], node.data(1).whole(0), node.data(2).whole(0)});
}

OnnxTypes pool(const OnnxNode& node) {
  return one_type(node.element(), pooled_shape(node, node.type() == "NhwcMaxPool" || node.flag("channels_last")));
}

OnnxTypes quantised_global_pool(const OnnxNode& node) {
  Shape shape = node.shape();
  if (shape.size() < 3) return std::nullopt;
  std::fill_n(shape.begin() + (node.flag("channels_last") ? 1 : 2), shape.size() - 2, 1);
  return one_type(node.element(), shape);
}

/// Inputs are (scale, zero point, then tensor, scale, zero point of each part).
OnnxTypes quantised_concat(const OnnxNode& node) {
  if (!node.has(2)) return std::nullopt;
  Shape shape = node.shape(2);
  const std::size_t axis = node.axis("axis", 0, shape.size());
  for (std::size_t i = 5; i < node.inputs.size(); i += 3) {
    if (!node.has_ranks({{i, shape.size()}})) return std::nullopt;
    shape[axis] += node.shape(i)[axis];
  }
  return one_type(node.element(2), shape);
}

/// The inputs are tensors, each with its scale and its zero point; a condition stands in front of those of a choice.
OnnxTypes quantised_elementwise(const OnnxNode& node) {
  const std::size_t first = node.type() == "QLinearWhere" ? 1 : 0;
  if (!node.has(first) || !node.has(first + 3)) return std::nullopt;
  const Shape pair = broadcast_shape(node.shape(first), node.shape(first + 3));
  return one_type(node.element(first), broadcast_shape(node.shape(), pair));
}

/// Tokens, and where the batch's sentences end.
OnnxTypes embedding(const OnnxNode& node) {
  if (!node.has_ranks({{0, 2}, {2, 2}})) return std::nullopt;
  const Shape& ids = node.shape();
  const Shape tokens = {ids[0], ids[1], node.shape(2)[1]}, ends = {ids[0]};
  const int element = node.type()[0] == 'Q' ? static_cast<int>(onnx::TensorProto::FLOAT) : node.element(2);
  OnnxTypes types = types_of(element, {tokens, ends, tokens});
  types->at(1)->element = node.element();
  return types;
}

OnnxTypes quantised_recurrence(const OnnxNode& node) {
  if (!node.has_ranks({{0, 3}, {2, 3}})) return std::nullopt;
  const Shape &in = node.shape(), &state = node.shape(2);
  const std::int64_t directions = state[0], hidden = state[1];
  const Shape last = {directions, in[1], hidden};
  return types_of(node.element(), {{in[0], directions, in[1], hidden}, last, last});
}

/// Rows of a table in blocks that share a scale; a byte may hold several numbers.
OnnxTypes rows_of_blocks(const OnnxNode& node) {
  if (!node.has(1) || !node.has(2) || node.shape().empty()) return std::nullopt;
  Shape table = node.shape();
  const Shape& rows = node.shape(1);
  const std::int64_t bits = node.integer("bits", 4);
  if (node.element() == onnx::TensorProto::UINT8 && bits > 0 && bits < 8) table.back() *= 8 / bits;
  const std::size_t axis = node.axis("gather_axis", 0, table.size());
  table.insert(table.erase(table.begin() + static_cast<std::ptrdiff_t>(axis)), rows.begin(), rows.end());
  return one_type(node.element(2), table);
}

/// Boxes of an image, each resized to the size that input 3 says.
OnnxTypes cropped(const OnnxNode& node) {
  if (!node.has(1) || node.shape(1).empty() || node.shape().size() != 4 || !node.known(3)) return std::nullopt;
  Shape shape = {node.shape(1)[0], node.shape()[1]};
  for (const std::int64_t extent : node.whole_numbers(3)) shape.push_back(extent);
  return one_type(node.element(), shape);
}

OnnxTypes halved(const OnnxNode& node) {
  Shape shape = node.shape();
  if (!shape.empty()) shape.back() /= 2;
  return one_type(node.element(), shape);
}

OnnxTypes hashes(const OnnxNode& node) { return one_type(onnx::TensorProto::UINT32, node.shape()); }

const std::map<std::string, ShapeRule*>& rules() {
  static const std::map<std::string, ShapeRule*> table = by_name<ShapeRule*>(
      {{channels_last_convolution, "NhwcConv NhwcFusedConv QLinearConv"},
       {transposable_product, "FusedMatMul TransposeMatMul FusedMatMulActivation GemmFastGelu QGemm"},
       {integer_product, "MatMulIntegerToFloat DynamicQuantizeMatMul MatMulInteger16"},
       {packed_product, "MatMulNBits MatMulBnb4 MatMulBlockQuantizedFp4Weight MatMulBlockQuantizedFp8Weight"},
       {distances, "CDist"},
       {fourier, "Rfft Irfft"},
       {unfolded, "UnfoldTensor"},
       {position_bias, "RelativePositionBias"},
       {pool, "QLinearAveragePool MaxpoolWithMask NhwcMaxPool"},
       {quantised_global_pool, "QLinearGlobalAveragePool"},
       {quantised_concat, "QLinearConcat"},
       {quantised_elementwise, "QLinearAdd QLinearMul QLinearWhere"},
       {embedding, "EmbedLayerNormalization QEmbedLayerNormalization"},
       {quantised_recurrence, "DynamicQuantizeLSTM"},
       {rows_of_blocks, "GatherBlockQuantized"},
       {skip_norm, "SkipLayerNormalization SkipSimplifiedLayerNormalization"},
       {twice_the_type, "SkipGroupNorm"},
       {cropped, "CropAndResize"},
       {halved, "BiasSplitGelu"},
       {hashes, "MurmurHash3"},
       {packed_attention, "Attention QAttention DecoderMaskedSelfAttention"},
       {attention_of_heads, "MultiHeadAttention DecoderMaskedMultiHeadAttention"},
       {grouped_attention, "GroupQueryAttention SparseAttention"},
       {paged_attention, "PagedAttention"},
       {linear_attention, "LinearAttention"},
       {gated_delta_net, "GatedDeltaNet"},
       {same_type,
        "FastGelu QuickGelu BiasGelu Gelu LayerNormalization SimplifiedLayerNormalization GroupNorm "
        "RotaryEmbedding BiasAdd BiasSoftmax BiasDropout QLinearSigmoid QLinearLeakyRelu QLinearSoftmax Silu Swish "
        "Mish GroupNormalization MoE QMoE Inverse LongformerAttention DecoderAttention BitmaskDropout "
        "BitmaskBiasDropout GatedAdd GatedRMSNorm MRotaryEmbedding QOrderedGelu QOrderedLayerNormalization"}});
  return table;
}

}  // namespace

OnnxTypes transposable_product(const OnnxNode& node) {
  const bool quantised = node.type() == "QGemm";
  const std::size_t right = quantised ? 3 : 1;
  if (!node.has(right)) return std::nullopt;
  const auto factor = [&](std::size_t i, const char* side) {
    Shape shape;
    for (const std::int64_t axis : factor_axes(node, node.shape(i).size(), side)) {
      shape.push_back(node.shape(i)[static_cast<std::size_t>(axis)]);
    }
    return shape;
  };
  return one_type(quantised && !node.has(7) ? static_cast<int>(onnx::TensorProto::FLOAT) : node.element(),
                  product_shape(factor(0, "A"), factor(right, "B")));
}

OnnxTypes microsoft_types(const OnnxNode& node) {
  static const std::map<std::string, std::pair<const char*, std::size_t>> alike = {
      {"FusedConv", {"Conv", 2}},
      {"FusedGemm", {"Gemm", 3}},
      {"QLinearReduceMean", {"ReduceMean", 1}},
      {"TorchEmbedding", {"Gather", 2}}};
  if (const auto like = alike.find(node.type()); like != alike.end()) {
    return as_standard(node, like->second.first, like->second.second);
  }
  const auto rule = rules().find(node.type());
  return rule == rules().end() ? as_standard(node, node.type().c_str()) : rule->second(node);
}

}  // namespace tenshot::nasbench
