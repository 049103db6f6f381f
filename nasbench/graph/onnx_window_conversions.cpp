// Operators of ONNX that move windows or are made of products, and those with packed weights.

#include "nasbench/graph/limits.h"
#include "nasbench/graph/onnx_operators.h"

namespace tenshot::nasbench::onnx_conversions {
namespace {

/// ONNX inputs of QLinearConv, QLinearMatMul and QGemm are (x, scale, zero point, weight, scale, zero point, …, bias).
std::size_t weight_index(const onnx::NodeProto& node) { return node.op_type()[0] == 'Q' ? 3 : 1; }

/// Attribute `name` of a window over one or two axes, as height and width.
Extent extent_of(const std::vector<std::int64_t>& numbers) {
  if (numbers.empty()) return {};
  return numbers.size() == 1 ? Extent{1, small(numbers[0])} : Extent{small(numbers[0]), small(numbers[1])};
}

/// Zeros around the image: given, or what auto_pad asks for.
Padding padding_of(const Conversion& c, const OperatorSpecification& s) {
  const std::vector<std::int64_t> pads = c.integers("pads");
  if (pads.size() == 4) return {small(pads[0]), small(pads[1]), small(pads[2]), small(pads[3])};
  if (pads.size() == 2) return {0, small(pads[0]), 0, small(pads[1])};
  const std::string mode = c.text("auto_pad", "NOTSET");
  if (mode != "SAME_UPPER" && mode != "SAME_LOWER") return {};
  const Shape& in = s.inputs[0];
  const Shape image = {0, 0, in.size() < 4 ? 1 : in[2], in.back()};
  return same_padding(image, {s.kernel, s.stride, {}, s.dilation}, mode == "SAME_LOWER");
}

void read_window(Conversion& c, const std::vector<std::int64_t>& kernel) {
  OperatorSpecification& s = c.result.operation;
  s.kernel = extent_of(kernel);
  s.stride = extent_of(c.integers("strides"));
  s.dilation = extent_of(c.integers("dilations"));
  c.result.attributes.padding = padding_of(c, s);
}

bool is_image(const Conversion& c) {
  const std::size_t rank = c.shape().size();
  return (rank == 4 || rank == 3) && c.result.operation.output.size() == rank;
}

/// A product with constant weights; `out` is their dimension that the output has.
bool set_linear(Conversion& c, std::size_t weight, std::size_t out, bool bias) {
  const Shape& shape = c.shape(weight);
  const Shape& output = c.result.operation.output;
  if (shape.size() != 2 || c.shape().empty() || output.empty() || shape[1 - out] != c.shape().back() ||
      shape[out] != output.back()) {
    return false;
  }
  keep_first_input(c);
  c.result.operation.bias = bias;
  return true;
}

int bits_of(const Conversion& c, const char* name) { return small(std::clamp<std::int64_t>(c.integer(name, 4), 1, 8)); }

}  // namespace

std::size_t bias_place(const onnx::NodeProto& node) {
  const std::string& type = node.op_type();
  if (type == "Conv" || type == "ConvTranspose" || type == "Gemm") return 2;
  if (type == "QLinearConv") return 8;
  if (type == "QGemm" || type == "MatMulIntegerToFloat") return 6;
  if (type == "MatMulNBits") return 5;
  return type == "DynamicQuantizeMatMul" ? 4 : static_cast<std::size_t>(node.input_size());
}

bool convolution(Conversion& c) {
  const std::size_t weight = weight_index(c.proto), bias = bias_place(c.proto);
  const bool channels_last = c.flag("channels_last");
  if (!c.is_computed(0) || !c.is_constant(weight) || (c.has(bias) && !c.is_constant(bias)) || !is_image(c) ||
      channels_last) {
    return false;
  }
  const Shape& kernel = c.shape(weight);
  keep_first_input(c);
  c.result.operation.groups = small(c.integer("group", 1));
  c.result.operation.bias = c.has(bias);
  read_window(c, {kernel.begin() + 2, kernel.end()});
  return true;
}

/// Factors of numbers, alpha and beta, are folded into the weights and the bias.
bool gemm(Conversion& c) {
  const std::size_t weight = weight_index(c.proto), bias = bias_place(c.proto);
  if (c.flag("transA") || !c.is_computed(0) || !c.is_constant(weight) ||
      (c.has(bias) && (!c.is_constant(bias) || element_count(c.shape(bias)) != c.result.operation.output.back()))) {
    return false;
  }
  return set_linear(c, weight, c.flag("transB") ? 0 : 1, c.has(bias));
}

bool matrix_product(Conversion& c) {
  const std::size_t weight = weight_index(c.proto), bias = bias_place(c.proto);
  if (!c.is_computed(0) || !c.has(weight) || c.is_computed(bias)) return false;
  if (c.is_constant(weight)) {
    c.result.operation.kind = OperatorKind::linear;
    return set_linear(c, weight, 1, c.has(bias));
  }
  c.result.inputs = {c.input().source, c.input(weight).source};
  c.result.operation.inputs = {c.shape(), c.shape(weight)};
  return true;
}

/// Weights of fewer bits than 8, which the file packs, without their scales.
bool packed_product(Conversion& c) {
  OperatorSpecification& s = c.result.operation;
  if (!c.is_computed(0) || !c.is_constant(1) || c.shape().empty() || s.output.empty()) return false;
  keep_first_input(c);
  s.name = c.type();
  s.constants = {{c.shape().back(), s.output.back()}};
  c.result.stored = c.input(1).origins;
  if (const std::size_t bias = bias_place(c.proto); c.is_constant(bias)) {
    s.constants.push_back(c.shape(bias));
    add_origins(*c.inputs[bias], c.result.stored);
  }
  s.weight_bits = s.name.find("Fp8") == std::string::npos ? bits_of(c, "bits") : 8;
  return true;
}

/// Rows of a table that the file packs, without their scales.
bool packed_rows(Conversion& c) {
  if (!c.is_constant(0) || c.shape().empty()) return false;
  OperatorSpecification& s = c.result.operation;
  s.name = c.type();
  s.constants = {c.shape()};
  c.result.stored = c.input().origins;
  if (c.input().element != onnx::TensorProto::UINT8) return true;
  s.weight_bits = bits_of(c, "bits");
  s.constants[0].back() *= 8 / s.weight_bits;
  return true;
}

/// A number that it gives is a sum over the state, which was updated by a key and a value; the rules of the delta kind
/// ask the state for that key first. Groups are the products of all that.
bool recurrent_attention(Conversion& c) {
  OperatorSpecification& s = c.result.operation;
  if (!c.has(2) || c.shape().empty() || element_count(s.output) == 0) return false;
  s.name = c.type();
  const std::int64_t heads = std::max<std::int64_t>(1, c.integer("q_num_heads", 1)),
                     size = std::min<std::int64_t>(c.shape().back() / heads, 1 << 16),
                     updates = c.text("update_rule", "delta").find("delta") == std::string::npos ? 1 : 2;
  s.groups = small(std::clamp<std::int64_t>(size + size * updates * element_count(c.shape(2)) / element_count(s.output),
                                            1, 1 << 18));
  return true;
}

/// The attention has two groups where the new keys go into the past's buffer, and one where they come behind it.
bool attention_with_past(Conversion& c) {
  c.result.operation.name = c.type();
  if (c.has(3) && c.outputs.size() > 1 && c.outputs[1].shape == c.shape(3)) c.result.operation.groups = 2;
  return true;
}

/// A mixture of experts; their weights without the scales where those are packed.
bool experts(Conversion& c) {
  OperatorSpecification& s = c.result.operation;
  s.name = c.type();
  s.groups = small(std::clamp<std::int64_t>(c.integer("k", 1), 1, 1 << 16));
  if (s.name == "MoE") return true;
  s.weight_bits = bits_of(c, "expert_weight_bits");
  s.constants.clear();
  c.result.stored.clear();
  for (const std::size_t place : {2, 4, 5, 7, 8, 10}) {  // weights, each with its bias two places behind
    if (!c.is_constant(place)) continue;
    add_origins(*c.inputs[place], c.result.stored);
    s.constants.push_back(c.shape(place));
    if (place % 3 == 2 && !c.shape(place).empty()) s.constants.back().back() *= 8 / s.weight_bits;
  }
  return true;
}

bool pool(Conversion& c) {
  if (!is_image(c) || c.outputs.size() != 1 || c.flag("channels_last")) return false;
  keep_first_input(c);
  c.result.operation.constants.clear();
  read_window(c, c.integers("kernel_shape"));
  c.result.attributes.ceil_mode = c.flag("ceil_mode");
  c.result.attributes.count_padding = c.flag("count_include_pad");
  return true;
}

bool global_pool(Conversion& c) {
  if (c.shape().size() < 3) return false;
  keep_first_input(c);
  if (c.type() == "GlobalMaxPool") c.result.operation.name = "max";
  return true;
}

}  // namespace tenshot::nasbench::onnx_conversions
