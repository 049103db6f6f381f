#include <algorithm>

#include "nasbench/graph/limits.h"
#include "nasbench/graph/onnx_shape_rules.h"
#include "nasbench/support/error.h"

namespace tenshot::nasbench {
namespace {

std::int64_t heads_of(const OnnxNode& node, const char* name) {
  const std::int64_t heads = node.integer(name);
  if (heads < 1) reject({"its attribute '", name, "' is missing"});
  return heads;
}

bool has_heads(const OnnxNode& node, std::size_t input) {
  return node.has_ranks({{input, 3}}) || node.has_ranks({{input, 4}});
}

/// Three or four dimensions as [batch, heads, length, size].
Shape by_heads(const OnnxNode& node, std::size_t input, const char* heads) {
  const Shape& shape = node.shape(input);
  if (shape.size() == 4) return shape;
  const std::int64_t count = heads_of(node, heads);
  return {shape[0], count, shape[1], shape[2] / count};
}

}  // namespace

/// Opset 23: Q, K, V, a mask, the past's keys and values.
OnnxTypes standard_attention(const OnnxNode& node) {
  if (!has_heads(node, 0) || !has_heads(node, 1) || !has_heads(node, 2)) return std::nullopt;
  const Shape query = by_heads(node, 0, "q_num_heads");
  Shape key = by_heads(node, 1, "kv_num_heads"), value = by_heads(node, 2, "kv_num_heads");
  if (key[3] != query[3] || key[2] != value[2]) {
    reject({"queries of ", query, ", keys of ", key, " and values of ", value, " do not fit each other"});
  }
  if (node.has_ranks({{4, 4}})) {
    key[2] += node.shape(4)[2];
    value[2] += node.shape(4)[2];
  }
  Shape output = {query[0], query[1], query[2], value[3]};
  if (node.shape().size() == 3) output = {query[0], query[2], query[1] * value[3]};
  return types_of(node.element(), {output, key, value, {query[0], query[1], query[2], key[2]}});
}

/// LinearAttention, in opset 27 as in com.microsoft: each head has a state of key size × value size.
OnnxTypes linear_attention(const OnnxNode& node) {
  const std::int64_t heads = heads_of(node, "q_num_heads"), shared = heads_of(node, "kv_num_heads"),
                     window = node.integer("state_window");
  if (!node.has_ranks({{0, 3}, {2, 3}})) return std::nullopt;
  const Shape &query = node.shape(), &value = node.shape(2);
  if (heads > query[2] || shared > value[2]) throw FormatError("it has more heads than numbers a token");
  const std::int64_t width = value[2] / shared;
  Shape state = {query[0], shared, query[2] / heads, width};
  if (window > 0) state.insert(state.begin(), window);
  return types_of(node.element(), {{query[0], query[1], std::max(heads, shared) * width}, state});
}

/// com.microsoft.Attention: one product gives queries, keys and values.
OnnxTypes packed_attention(const OnnxNode& node) {
  if (!node.has_ranks({{0, 3}, {1, 2}})) return std::nullopt;
  if (node.shape().back() != node.shape(1)[0]) reject({"weights of ", node.shape(1), " do not fit ", node.shape()});
  const std::vector<std::int64_t> sizes = node.integers("qkv_hidden_sizes");
  const std::int64_t hidden = sizes.size() == 3 ? sizes[2] : node.shape(1)[1] / 3;
  const std::int64_t heads = heads_of(node, "num_heads");
  const bool quantised = node.type() == "QAttention";
  const std::size_t past = quantised ? 8 : 4;
  const Shape& in = node.shape();
  const bool has_room = node.type() == "DecoderMaskedSelfAttention";  // for the new key in the past's buffer
  const std::int64_t before = node.has_ranks({{past, 5}}) ? node.shape(past)[3] - (has_room ? in[1] : 0) : 0;
  const Shape present = {2, in[0], heads, in[1] + before, std::max<std::int64_t>(hidden / heads, 1)};
  return types_of(quantised ? onnx::TensorProto::FLOAT : node.element(), {{in[0], in[1], hidden}, present});
}

/// com.microsoft's MultiHeadAttention and its like: (batch, length, heads × size), by heads, or packed.
OnnxTypes attention_of_heads(const OnnxNode& node) {
  const std::int64_t heads = heads_of(node, "num_heads");
  const Shape& query = node.shape();
  if (query.size() == 5) {  // batch, length, heads, 3, size
    return one_type(node.element(), {query[0], query[1], query[2] * query[4]});
  }
  if (query.size() != 3 || !node.has(1)) return std::nullopt;
  if (node.shape(1).size() == 5) return one_type(node.element(), query);  // batch, length, heads, 2, size
  if (!has_heads(node, 1) || !has_heads(node, 2)) return std::nullopt;
  Shape keys = by_heads(node, 1, "num_heads"), values = by_heads(node, 2, "num_heads");
  if (node.has_ranks({{6, 4}})) {
    const bool has_room = node.flag("past_present_share_buffer");
    keys[2] = node.shape(6)[2] + (has_room ? 0 : keys[2]);
    values[2] = node.shape(6)[2] + (has_room ? 0 : values[2]);
  }
  const Shape scores = {query[0], heads, query[1], keys[2]};
  return types_of(node.element(), {{query[0], query[1], heads * values[3]}, keys, values, scores});
}

/// com.microsoft.GroupQueryAttention: several heads of queries share keys and values.
OnnxTypes grouped_attention(const OnnxNode& node) {
  const std::int64_t heads = heads_of(node, "num_heads"), shared = heads_of(node, "kv_num_heads");
  const Shape& query = node.shape();
  if (query.size() != 3) return std::nullopt;
  const std::int64_t size = query[2] / (node.has(1) ? heads : heads + 2 * shared);  // else all are in the query
  const std::int64_t before = node.has_ranks({{3, 4}}) ? node.shape(3)[2] : 0;
  const bool has_room = node.type() == "SparseAttention";  // the past is a buffer that the new keys go into
  const Shape present = {query[0], shared, (has_room ? 0 : query[1]) + before, size};
  const Shape scores = {query[0], heads, query[1], present[2]};
  return types_of(node.element(), {{query[0], query[1], heads * size}, present, present, scores});
}

/// com.microsoft.PagedAttention: the tokens of all sequences in a row, and caches in blocks, which it gives again.
OnnxTypes paged_attention(const OnnxNode& node) {
  const std::int64_t heads = heads_of(node, "num_heads"), shared = heads_of(node, "kv_num_heads");
  const Shape& query = node.shape();
  if (query.size() != 2 || !node.has(3)) return std::nullopt;
  const std::int64_t size = query[1] / (node.has(1) ? heads : heads + 2 * shared), width = node.integer("v_head_size");
  const Shape output = {query[0], heads * (width > 0 && width < size ? width : size)};
  return types_of(node.element(), {output, node.shape(3), node.shape(node.has(4) ? 4 : 3)});
}

/// com.microsoft.GatedDeltaNet: (batch ×) tokens × heads × size; states of value size × key size, one a sequence.
OnnxTypes gated_delta_net(const OnnxNode& node) {
  const Shape& query = node.shape();
  const std::size_t rank = query.size(), batched = node.has(6) ? 6 : 3;  // the past's states, or the sequences' ends
  if (!has_heads(node, 0) || !node.has_ranks({{1, rank}, {2, rank}})) return std::nullopt;
  if (!node.has(batched) || node.shape(batched).empty()) return std::nullopt;
  const Shape &key = node.shape(1), &value = node.shape(2);
  const std::size_t axis = rank - 2;
  const std::int64_t heads = value[axis], width = value.back(), size = query.back(),
                     batch = node.shape(batched)[0] - (node.has(6) ? 0 : 1),
                     captured = std::clamp<std::int64_t>(node.integer("state_update_capacity"), 0, 8);
  Shape output = value;
  output[axis] = std::max(query[axis], heads);
  OnnxTypes types = types_of(
      node.element(),
      {output, {batch, heads, width, size}, {batch, captured * (heads + key[axis] * key.back() + heads * width)}});
  for (const std::size_t i : {1, 2}) (*types)[i]->element = onnx::TensorProto::FLOAT;
  return types;
}

}  // namespace tenshot::nasbench
