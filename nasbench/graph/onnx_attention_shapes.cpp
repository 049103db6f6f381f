#include <algorithm>

#include "nasbench/graph/onnx_shape_rules.h"
#include "nasbench/support/error.h"

namespace tenshot::nasbench {
namespace {

std::int64_t heads_of(const onnx::NodeProto& node, const char* name) {
  const std::int64_t heads = integer_attribute(node, name, 0);
  if (heads < 1) throw FormatError("its attribute '" + std::string(name) + "' is missing");
  return heads;
}

bool has_heads(const Shape& shape) { return shape.size() == 3 || shape.size() == 4; }

/// Three or four dimensions as [batch, heads, length, size].
Shape by_heads(const onnx::NodeProto& node, const Shape& shape, const char* heads) {
  if (shape.size() == 4) return shape;
  const std::int64_t count = heads_of(node, heads);
  return {shape[0], count, shape[1], shape[2] / count};
}

}  // namespace

/// Opset 23: Q, K, V, a mask, the past's keys and values.
OnnxTypes standard_attention(const onnx::NodeProto& node, const OnnxInputs& inputs) {
  if (given(inputs, 1) == nullptr || given(inputs, 2) == nullptr) return std::nullopt;
  for (std::size_t i = 0; i < 3; ++i) {
    if (!has_heads(inputs[i]->shape)) return std::nullopt;
  }
  const Shape query = by_heads(node, inputs[0]->shape, "q_num_heads");
  Shape key = by_heads(node, inputs[1]->shape, "kv_num_heads"),
        value = by_heads(node, inputs[2]->shape, "kv_num_heads");
  if (const OnnxValue* past = given(inputs, 4); past != nullptr && past->shape.size() == 4) {
    key[2] += past->shape[2];
    value[2] += past->shape[2];
  }
  Shape output = {query[0], query[1], query[2], value[3]};
  if (inputs[0]->shape.size() == 3) output = {query[0], query[2], query[1] * value[3]};
  return types_like(*inputs[0], {output, key, value, {query[0], query[1], query[2], key[2]}});
}

/// com.microsoft.Attention: one product gives queries, keys and values.
OnnxTypes packed_attention(const onnx::NodeProto& node, const OnnxInputs& inputs) {
  const OnnxValue* weight = given(inputs, 1);
  if (weight == nullptr || weight->shape.size() != 2 || inputs[0]->shape.size() != 3) return std::nullopt;
  const std::vector<std::int64_t> sizes = integers_attribute(node, "qkv_hidden_sizes");
  const std::int64_t hidden = sizes.size() == 3 ? sizes[2] : weight->shape[1] / 3;
  const std::int64_t heads = heads_of(node, "num_heads");
  const bool quantised = node.op_type() == "QAttention";
  const OnnxValue* past = given(inputs, quantised ? 8 : 4);
  const Shape& in = inputs[0]->shape;
  const bool has_room = node.op_type() == "DecoderMaskedSelfAttention";  // for the new key in the past's buffer
  const std::int64_t before = past != nullptr && past->shape.size() == 5 ? past->shape[3] - (has_room ? in[1] : 0) : 0;
  const Shape present = {2, in[0], heads, in[1] + before, std::max<std::int64_t>(hidden / heads, 1)};
  OnnxTypes types = types_like(*inputs[0], {{in[0], in[1], hidden}, present});
  for (InferredType& type : *types) {
    if (quantised) type->element = onnx::TensorProto::FLOAT;
  }
  return types;
}

/// com.microsoft's MultiHeadAttention and its like: (batch, length, heads × size) of each, keys and values perhaps by
/// heads, or all packed into the query.
OnnxTypes attention_of_heads(const onnx::NodeProto& node, const OnnxInputs& inputs) {
  const std::int64_t heads = heads_of(node, "num_heads");
  const Shape& query = inputs[0]->shape;
  if (query.size() == 5) {  // batch, length, heads, 3, size
    return one_type(*inputs[0], {query[0], query[1], query[2] * query[4]});
  }
  const OnnxValue *key = given(inputs, 1), *value = given(inputs, 2);
  if (query.size() != 3 || key == nullptr) return std::nullopt;
  if (key->shape.size() == 5) {  // batch, length, heads, 2, size
    return one_type(*inputs[0], query);
  }
  if (value == nullptr || !has_heads(key->shape) || !has_heads(value->shape)) return std::nullopt;
  Shape keys = by_heads(node, key->shape, "num_heads"), values = by_heads(node, value->shape, "num_heads");
  if (const OnnxValue* past = given(inputs, 6); past != nullptr && past->shape.size() == 4) {
    const bool has_room = integer_attribute(node, "past_present_share_buffer", 0) != 0;
    keys[2] = past->shape[2] + (has_room ? 0 : keys[2]);
    values[2] = past->shape[2] + (has_room ? 0 : values[2]);
  }
  return types_like(*inputs[0], {{query[0], query[1], heads * values[3]}, keys, values});
}

/// com.microsoft.GroupQueryAttention: several heads of queries share keys and values.
OnnxTypes grouped_attention(const onnx::NodeProto& node, const OnnxInputs& inputs) {
  const std::int64_t heads = heads_of(node, "num_heads"), shared = heads_of(node, "kv_num_heads");
  const Shape& query = inputs[0]->shape;
  if (query.size() != 3) return std::nullopt;
  const bool packed_in_query = given(inputs, 1) == nullptr;
  const std::int64_t size = query[2] / (packed_in_query ? heads + 2 * shared : heads);
  const OnnxValue* past = given(inputs, 3);
  const std::int64_t before = past != nullptr && past->shape.size() == 4 ? past->shape[2] : 0;
  const bool has_room = node.op_type() == "SparseAttention";  // the past is a buffer that the new keys go into
  const Shape present = {query[0], shared, (has_room ? 0 : query[1]) + before, size};
  return types_like(*inputs[0], {{query[0], query[1], heads * size}, present, present});
}

/// com.microsoft.PagedAttention: the tokens of all sequences in a row, and caches in blocks, which it gives again.
OnnxTypes paged_attention(const onnx::NodeProto& node, const OnnxInputs& inputs) {
  const std::int64_t heads = heads_of(node, "num_heads"), shared = heads_of(node, "kv_num_heads");
  const Shape& query = inputs[0]->shape;
  const OnnxValue *keys = given(inputs, 3), *values = given(inputs, 4);
  if (query.size() != 2 || keys == nullptr) return std::nullopt;
  const std::int64_t size = query[1] / (given(inputs, 1) == nullptr ? heads + 2 * shared : heads),
                     width = integer_attribute(node, "v_head_size", 0);
  const Shape output = {query[0], heads * (width > 0 && width < size ? width : size)};
  return types_like(*inputs[0], {output, keys->shape, values == nullptr ? keys->shape : values->shape});
}

/// LinearAttention, in opset 27 as in com.microsoft: each head has a state of key size × value size.
OnnxTypes linear_attention(const onnx::NodeProto& node, const OnnxInputs& inputs) {
  const std::int64_t heads = heads_of(node, "q_num_heads"), shared = heads_of(node, "kv_num_heads"),
                     window = integer_attribute(node, "state_window", 0);
  const Shape& query = inputs[0]->shape;
  const OnnxValue* value = given(inputs, 2);
  if (query.size() != 3 || value == nullptr || value->shape.size() != 3) return std::nullopt;
  if (heads > query[2] || shared > value->shape[2]) throw FormatError("it has more heads than numbers a token");
  const std::int64_t width = value->shape[2] / shared;
  Shape state = {query[0], shared, query[2] / heads, width};
  if (window > 0) state.insert(state.begin(), window);
  return types_like(*inputs[0], {{query[0], query[1], std::max(heads, shared) * width}, state});
}

/// com.microsoft.GatedDeltaNet: (batch ×) tokens × heads × size; states of value size × key size, one a sequence.
OnnxTypes gated_delta_net(const onnx::NodeProto& node, const OnnxInputs& inputs) {
  const OnnxValue *key = given(inputs, 1), *value = given(inputs, 2), *ends = given(inputs, 3),
                  *past = given(inputs, 6);
  const Shape& query = inputs[0]->shape;
  const OnnxValue* batched = past == nullptr ? ends : past;
  if (key == nullptr || value == nullptr || !has_heads(query) || key->shape.size() != query.size() ||
      value->shape.size() != query.size() || batched == nullptr || batched->shape.empty()) {
    return std::nullopt;
  }
  const std::size_t axis = query.size() - 2;
  const std::int64_t heads = value->shape[axis], width = value->shape.back(), size = query.back(),
                     batch = batched->shape[0] - (past == nullptr ? 1 : 0),
                     captured = std::clamp<std::int64_t>(integer_attribute(node, "state_update_capacity", 0), 0, 8);
  Shape output = value->shape;
  output[axis] = std::max(query[axis], heads);
  OnnxTypes types =
      types_like(*inputs[0], {output,
                              {batch, heads, width, size},
                              {batch, captured * (heads + key->shape[axis] * key->shape.back() + heads * width)}});
  for (const std::size_t i : {1, 2}) (*types)[i]->element = onnx::TensorProto::FLOAT;
  return types;
}

}  // namespace tenshot::nasbench
