#include "nasbench/graph/operator_products.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "nasbench/support/number_text.h"
#include "nasbench/support/text.h"
#include "nasbench/support/words.h"

namespace tenshot::nasbench {
namespace {

using Specification = OperatorSpecification;

/// The product, or 10¹⁷ where it is more: sums over the operators of a network fit 64 bits.
std::int64_t times(std::int64_t a, std::int64_t b) {
  constexpr std::int64_t most = 100'000'000'000'000'000;
  std::int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? most : std::min(product, most);
}

/// The weights of a convolution: the first constant, then the first input, of as many dimensions as the image whose
/// first one is `units`; either of them may be the image, where the other is constant.
const Shape* window_weights(const Specification& s, const std::vector<std::int64_t>& units) {
  std::vector<const Shape*> found;
  for (const Shape& constant : s.constants) found.push_back(&constant);
  for (std::size_t i = 1; i < s.inputs.size(); ++i) found.push_back(&s.inputs[i]);
  found.push_back(&s.inputs[0]);
  for (const Shape* shape : found) {
    if (shape->size() != s.output.size() || shape->empty() || shape->front() == 0) continue;
    if (std::find(units.begin(), units.end(), shape->front()) != units.end()) return shape;
  }
  return nullptr;
}

/// Channels stand behind the batch, or behind all.
std::int64_t of_convolution(const Specification& s) {
  if (s.output.size() < 3) return 0;
  const Shape* weight = window_weights(s, {s.output[1], s.output.back()});
  return weight == nullptr ? 0 : times(element_count(s.output), element_count(*weight) / weight->front());
}

/// The image and the weights, whose channels are the image's: one of both is a constant, or the second input.
std::int64_t of_transposed_convolution(const Specification& s) {
  const Shape& first = s.inputs[0];
  if (first.size() < 3) return 0;
  for (const std::vector<Shape>* list : {&s.constants, &s.inputs}) {
    for (const Shape& other : *list) {
      if (&other == &first || other.size() != first.size()) continue;
      const bool weighs = other[0] == first[1] || other[0] == first.back();
      const std::int64_t channels = weighs ? other[0] : other[1] == first[0] ? first[0] : 0;
      if (channels > 0) return times(element_count(first), element_count(other) / channels);
    }
  }
  return 0;
}

/// Whether a matrix projects the state of an LSTM whose second matrix is `recurrent` (directions × gates and units ×
/// outputs): it is directions × outputs × units. An initial state may look alike only where nothing is projected.
bool is_projection(const Shape& matrix, const Shape& recurrent) {
  const bool has_units = 4 * matrix[2] == recurrent[1] || 3 * matrix[2] == recurrent[1];  // of coupled gates three
  return matrix[1] == recurrent[2] && has_units && matrix[1] != matrix[2];
}

/// Directions × gates × (input or hidden) numbers for each of two matrices, and those of a projection.
std::int64_t of_recurrence(const Specification& s) {
  std::vector<const Shape*> matrices;
  for (const Shape& constant : s.constants) {
    if (constant.size() == 3) matrices.push_back(&constant);
  }
  for (std::size_t i = 1; i < s.inputs.size() && matrices.size() < 2; ++i) {
    if (s.inputs[i].size() == 3) matrices.push_back(&s.inputs[i]);
  }
  const Shape* x = &s.inputs[0];
  // Both matrices have as many rows; a constant in front of them is the sequence.
  if (s.name != "DynamicQuantizeLSTM" && matrices.size() > 2 && (*matrices[0])[1] != (*matrices[1])[1] &&
      (*matrices[1])[1] == (*matrices[2])[1] && matrices[0]->back() == matrices[1]->back()) {
    x = matrices[0];
    matrices.erase(matrices.begin());
  }
  if (x->size() < 2 || x->back() == 0) return 0;
  std::int64_t products = 0;
  for (std::size_t i = 0; i < matrices.size(); ++i) {
    if (i < 2 || is_projection(*matrices[i], *matrices[1])) products += element_count(*matrices[i]);
  }
  return times(products, element_count(*x) / x->back());
}

/// A computed factor and a constant one, on either side.
std::int64_t of_product(const Specification& s) {
  const Shape& x = s.inputs[0];
  if (s.constants.empty() || s.constants[0].empty() || x.empty()) return 0;
  const Shape& w = s.constants[0];
  if (w.size() == 1) return times(element_count(s.output), w[0]);
  if (x.size() == 1) return times(element_count(s.output), x[0]);
  const bool right = x.back() == w[w.size() - 2] && !s.output.empty() && w.back() == s.output.back();
  return times(element_count(s.output), right ? x.back() : w.back());
}

/// Rows of the first factor may be its columns.
std::int64_t of_quantised_gemm(const Specification& s) {
  if (s.output.size() != 2 || s.output[0] == 0 || s.inputs[0].size() != 2) return 0;
  return times(element_count(s.output), element_count(s.inputs[0]) / s.output[0]);
}

std::int64_t of_packed_product(const Specification& s) {
  return s.output.empty() ? 0 : times(element_count(s.inputs[0]), s.output.back());
}

std::int64_t length_of(const Shape& keys) { return keys.size() == 4 ? keys[2] : keys.size() > 1 ? keys[1] : 0; }

/// How many keys the past has: its two tensors, of batch × heads × length × size, are the only such pair from `first`.
std::int64_t past_keys(const Specification& s, std::size_t first) {
  for (std::size_t i = first; i + 1 < s.inputs.size() && !s.output.empty(); ++i) {
    const Shape &past = s.inputs[i], &values = s.inputs[i + 1];
    if (past.size() != 4 || values.size() != 4 || past[0] != s.output[0]) continue;
    if (std::equal(past.begin(), past.begin() + 3, values.begin())) return past[2];
  }
  return 0;
}

/// Several heads of queries share keys and values, which may be packed behind the queries. Of two groups, and of a
/// SparseAttention, the past has room for the new keys.
std::int64_t of_grouped_attention(const Specification& s) {
  const Shape& query = s.inputs[0];
  if (query.size() != 3 || s.output.size() != 3) return 0;
  const bool packed = query[2] != s.output[2] || s.inputs.size() < 3;
  const bool has_room = s.name == "SparseAttention" || s.groups == 2;
  const std::int64_t keys = has_room ? 0 : packed ? query[1] : length_of(s.inputs[1]);
  return times(2 * element_count(s.output), keys + past_keys(s, packed ? 1 : 3));
}

/// Queries, keys and values of batch × (heads ×) length × size, any of them constant: both the computed ones and the
/// constants keep their order, and stand among each other as they fit the output. 0 where none fit.
std::int64_t of_queries_keys_values(const Specification& s) {
  for (unsigned constant = 0; constant < 8; ++constant) {
    std::array<const Shape*, 3> found = {};
    std::size_t inputs = 0, constants = 0;
    for (unsigned i = 0; i < found.size(); ++i) {
      const bool is_constant = (constant >> i & 1U) != 0;
      const std::vector<Shape>& list = is_constant ? s.constants : s.inputs;
      std::size_t& next = is_constant ? constants : inputs;
      if (next < list.size() && (list[next].size() == 3 || list[next].size() == 4)) found[i] = &list[next++];
    }
    const auto& [query, keys, values] = found;
    if (query == nullptr || keys == nullptr || values == nullptr || s.output.size() != query->size() ||
        length_of(*query) != length_of(s.output) || length_of(*keys) != length_of(*values) ||
        times(query->back(), values->back()) != times(s.output.back(), keys->back())) {
      continue;
    }
    const std::int64_t past = past_keys(s, inputs);
    const bool has_room = s.name == "DecoderMaskedMultiHeadAttention" && past > 0;  // for the new key as well
    return times(element_count(*query) + element_count(s.output), past + (has_room ? 0 : length_of(*keys)));
  }
  return 0;
}

std::int64_t of_attention(const Specification& s) {
  const Shape& query = s.inputs[0];
  const std::int64_t result = element_count(s.output);
  const bool has_keys = query.size() == 3 && s.inputs.size() > 1 && s.inputs[1].size() == 3;
  const Shape mask = has_keys ? Shape{query[1], s.inputs[1][1]} : Shape{};
  if (!s.constants.empty() && query.size() == 3 && s.constants[0].size() == 2 && s.constants[0][0] == query[2] &&
      s.constants[0] != mask) {
    const std::int64_t width = s.constants[0][1], values = s.output.empty() ? 0 : s.output.back();
    std::int64_t keys = query[1];
    const bool has_room = s.name == "DecoderMaskedSelfAttention";
    for (const Shape& past : s.inputs) keys += past.size() == 5 ? past[3] - (has_room ? query[1] : 0) : 0;
    const std::int64_t scores = times(query[0] * query[1], std::max<std::int64_t>(0, (width - values) / 2));
    return times(element_count(query), width) + times(scores + result, keys);
  }
  if (query.size() == 5) return times(element_count(query) / 3 + result, query[1]);
  if (const std::int64_t products = of_queries_keys_values(s); products > 0) return products;
  if (s.inputs.size() < 2) return query.size() == 3 ? times(2 * result, query[1]) : 0;
  return s.inputs[1].size() < 3 ? 0 : times(element_count(query) + result, length_of(s.inputs[1]) + past_keys(s, 3));
}

/// Each token takes as many experts as the operator has groups, with all matrices of an expert.
std::int64_t of_experts(const Specification& s) {
  if (s.inputs[0].empty() || s.inputs[0].back() == 0) return 0;
  std::int64_t products = 0;
  for (const Shape& weights : s.constants) {
    if (weights.size() != 3 || weights[0] == 0) continue;
    const std::int64_t taken = std::min<std::int64_t>(s.groups, weights[0]);
    products = times(1, products + times(element_count(weights) / weights[0], taken));
  }
  return times(products, element_count(s.inputs[0]) / s.inputs[0].back());
}

/// Each token meets all keys that its sequence may have: the blocks in a row of the table, and those of a block.
std::int64_t of_paged_attention(const Specification& s) {
  const auto cache = std::find_if(s.inputs.begin(), s.inputs.end(), [](const Shape& x) { return x.size() == 4; });
  const auto table = std::find_if(cache, s.inputs.end(), [](const Shape& x) { return x.size() == 2; });
  if (table == s.inputs.end() || s.inputs.size() < 2) return 0;
  const std::int64_t result = element_count(s.output);
  const bool packed = s.inputs[1].size() != 2;
  return times(result + (packed ? result : element_count(s.inputs[0])), times((*table)[1], (*cache)[1]));
}

/// Groups are here the products of each number that it gives.
std::int64_t of_recurrent_attention(const Specification& s) { return times(element_count(s.output), s.groups); }

using Count = std::int64_t (*)(const Specification&);

const std::map<std::string, Count>& counts() {
  static const std::map<std::string, Count> table = by_name<Count>(
      {{of_convolution, "Conv ConvInteger QLinearConv FusedConv NhwcConv NhwcFusedConv DeformConv CausalConvWithState"},
       {of_transposed_convolution, "ConvTranspose"},
       {of_recurrence, "LSTM GRU RNN SVDF DynamicQuantizeLSTM"},
       {of_product, "MatMul MatMulInteger QLinearMatMul MatMulIntegerToFloat DynamicQuantizeMatMul CDist"},
       {of_packed_product, "MatMulNBits MatMulBnb4 MatMulBlockQuantizedFp4Weight MatMulBlockQuantizedFp8Weight"},
       {of_quantised_gemm, "QGemm"},
       {of_attention,
        "Attention QAttention MultiHeadAttention DecoderMaskedMultiHeadAttention DecoderMaskedSelfAttention"},
       {of_grouped_attention, "GroupQueryAttention SparseAttention"},
       {of_paged_attention, "PagedAttention"},
       {of_recurrent_attention, "LinearAttention GatedDeltaNet"},
       {of_experts, "MoE QMoE"}});
  return table;
}

/// Types that read trained numbers without a product that the field counts: tables, norms, elementwise operators.
bool multiplies_nothing(const std::string& name) {
  static const std::set<std::string> types = words_of(
      "Gather GatherElements GatherND GatherBlockQuantized ScatterElements ScatterND Scatter Concat Expand Tile "
      "Slice Split Pad Resize Upsample Where Clip PRelu Max Min Sum Mean Add Sub Mul Div Pow CumSum TopK OneHot "
      "Compress Range Loop Scan If RoiAlign MaxRoiPool GridSample NonMaxSuppression Trilu STFT DFT TfIdfVectorizer "
      "BatchNormalization InstanceNormalization LayerNormalization GroupNormalization LpNormalization "
      "RMSNormalization SimplifiedLayerNormalization SkipLayerNormalization SkipSimplifiedLayerNormalization "
      "EmbedLayerNormalization QEmbedLayerNormalization GroupNorm SkipGroupNorm BiasGelu FastGelu BiasAdd "
      "BiasSoftmax BiasDropout RotaryEmbedding QLinearWhere QLinearReduceMean QuantizeLinear DequantizeLinear "
      "SequenceConstruct ReverseSequence TensorScatter Equal BiasSplitGelu TorchEmbedding RelativePositionBias "
      "GatedRMSNorm MRotaryEmbedding QOrderedLayerNormalization BitmaskBiasDropout ComplexMul ComplexMulConj "
      "tflite.TFLite_Detection_PostProcess");
  return types.count(name) != 0;
}

}  // namespace

std::int64_t opaque_multiply_adds(const Specification& s) {
  const auto count = counts().find(s.name);
  return count == counts().end() || s.inputs.empty() ? 0 : count->second(s);
}

bool is_known_operator(const Specification& s) {
  return s.kind != OperatorKind::opaque || multiplies_nothing(s.name) || opaque_multiply_adds(s) > 0;
}

std::string remark_on_weights(const std::vector<Specification>& operators) {
  std::map<std::string, int> names;
  std::int64_t own = 0, all = 0;
  for (const Specification& s : operators) {
    all += weight_bytes(s);
    const bool may_multiply = !s.constants.empty() || s.name.find('.') != std::string::npos;
    if (is_known_operator(s) || !may_multiply) continue;
    own += weight_bytes(s);
    ++names[s.name];
  }
  if (names.empty()) return {};
  std::vector<std::string> listed;
  for (const auto& [name, repeats] : names) {
    listed.push_back(name + (repeats > 1 ? " (" + std::to_string(repeats) + " times)" : ""));
  }
  const std::string share =
      whole_percent(static_cast<double>(own) / static_cast<double>(std::max<std::int64_t>(1, all)));
  return "what these operators compute is not known, and none of their products is counted: " + joined(listed) +
         (own == 0 ? "; the file shows no weights of theirs"
                   : "; they hold " + share + " of the bytes of all weights, " + std::to_string(own) + " of " +
                         std::to_string(all));
}

}  // namespace tenshot::nasbench
