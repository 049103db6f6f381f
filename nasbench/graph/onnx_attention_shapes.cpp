#include <algorithm>
#include <string>

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

/// Opset 23: Q, K, V, a mask, the past's keys and values.
OnnxTypes standard(const onnx::NodeProto& node, const OnnxInputs& inputs) {
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
  return std::vector<InferredType>{typed_as(*inputs[0], output), typed_as(*inputs[0], key), typed_as(*inputs[0], value),
                                   typed_as(*inputs[0], {query[0], query[1], query[2], key[2]})};
}

/// com.microsoft.Attention: one product gives queries, keys and values.
OnnxTypes packed(const onnx::NodeProto& node, const OnnxInputs& inputs) {
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
  OnnxValue output = typed_as(*inputs[0], {in[0], in[1], hidden});
  if (quantised) output.element = onnx::TensorProto::FLOAT;
  return std::vector<InferredType>{
      output, typed_as(output, {2, in[0], heads, in[1] + before, std::max<std::int64_t>(hidden / heads, 1)})};
}

/// com.microsoft's MultiHeadAttention and its like: (batch, length, heads × size) of each, keys and values perhaps by
/// heads, or all packed into the query.
OnnxTypes several_heads(const onnx::NodeProto& node, const OnnxInputs& inputs) {
  const std::int64_t heads = heads_of(node, "num_heads");
  const Shape& query = inputs[0]->shape;
  if (query.size() == 5) {  // batch, length, heads, 3, size
    return std::vector<InferredType>{typed_as(*inputs[0], {query[0], query[1], query[2] * query[4]})};
  }
  const OnnxValue *key = given(inputs, 1), *value = given(inputs, 2);
  if (query.size() != 3 || key == nullptr) return std::nullopt;
  if (key->shape.size() == 5) {  // batch, length, heads, 2, size
    return std::vector<InferredType>{typed_as(*inputs[0], query)};
  }
  if (value == nullptr || !has_heads(key->shape) || !has_heads(value->shape)) return std::nullopt;
  Shape keys = by_heads(node, key->shape, "num_heads"), values = by_heads(node, value->shape, "num_heads");
  if (const OnnxValue* past = given(inputs, 6); past != nullptr && past->shape.size() == 4) {
    const bool has_room = integer_attribute(node, "past_present_share_buffer", 0) != 0;
    keys[2] = past->shape[2] + (has_room ? 0 : keys[2]);
    values[2] = past->shape[2] + (has_room ? 0 : values[2]);
  }
  return std::vector<InferredType>{typed_as(*inputs[0], {query[0], query[1], heads * values[3]}),
                                   typed_as(*inputs[0], keys), typed_as(*inputs[0], values)};
}

/// com.microsoft.GroupQueryAttention: several heads of queries share keys and values.
OnnxTypes grouped(const onnx::NodeProto& node, const OnnxInputs& inputs) {
  const std::int64_t heads = heads_of(node, "num_heads"), shared = heads_of(node, "kv_num_heads");
  const Shape& query = inputs[0]->shape;
  if (query.size() != 3) return std::nullopt;
  const bool packed_in_query = given(inputs, 1) == nullptr;
  const std::int64_t size = query[2] / (packed_in_query ? heads + 2 * shared : heads);
  const OnnxValue* past = given(inputs, 3);
  const std::int64_t before = past != nullptr && past->shape.size() == 4 ? past->shape[2] : 0;
  const bool has_room = node.op_type() == "SparseAttention";  // the past is a buffer that the new keys go into
  const OnnxValue present = typed_as(*inputs[0], {query[0], shared, (has_room ? 0 : query[1]) + before, size});
  return std::vector<InferredType>{typed_as(*inputs[0], {query[0], query[1], heads * size}), present, present};
}

}  // namespace

OnnxTypes attention_types(const onnx::NodeProto& node, const OnnxInputs& inputs) {
  if (node.domain().empty()) return standard(node, inputs);
  if (node.op_type() == "GroupQueryAttention" || node.op_type() == "SparseAttention") return grouped(node, inputs);
  const bool has_weights =
      node.op_type() != "MultiHeadAttention" && node.op_type() != "DecoderMaskedMultiHeadAttention";
  if (has_weights) return packed(node, inputs);
  return several_heads(node, inputs);
}

}  // namespace tenshot::nasbench
