#include "nasbench/graph/onnx_operators.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string>

#include "nasbench/graph/network_builder.h"
#include "nasbench/support/error.h"
#include "nasbench/support/text.h"

namespace tenshot::nasbench {
namespace {

using Inputs = std::vector<const OnnxValue*>;

std::string text_of(const Shape& shape) {
  std::vector<std::string> dimensions;
  for (const std::int64_t dimension : shape) dimensions.push_back(std::to_string(dimension));
  return dimensions.empty() ? "scalar" : joined(dimensions, "x");
}

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

/// Whether the node has been understood; if not it is opaque.
using Convert = bool (*)(Conversion&);

/// ONNX inputs of QLinearConv and QLinearMatMul are (x, scale, zero point, weight, scale, zero point, …, bias).
std::size_t weight_index(const onnx::NodeProto& node) { return node.op_type().rfind("QLinear", 0) == 0 ? 3 : 1; }
std::size_t bias_index(const onnx::NodeProto& node) {
  if (node.op_type() == "ConvInteger") return 99;  // its third input is a zero point
  return node.op_type().rfind("QLinear", 0) == 0 ? 8 : 2;
}

void keep_first_input(Conversion& c) {
  c.result.inputs = {c.inputs[0]->source};
  c.result.operation.inputs = {c.shape(0)};
}

int small(std::int64_t number) { return static_cast<int>(number); }  // checked by inferred_types

/// Attribute `name` of a window over one or two axes, as height and width.
Extent extent_of(const std::vector<std::int64_t>& numbers) {
  if (numbers.empty()) return {};
  return numbers.size() == 1 ? Extent{1, small(numbers[0])} : Extent{small(numbers[0]), small(numbers[1])};
}

/// Zeros around the image: given, or what auto_pad asks for.
Padding padding_of(const Conversion& c, const OperatorSpecification& s) {
  const std::vector<std::int64_t> pads = integers_attribute(c.node, "pads");
  if (pads.size() == 4) return {small(pads[0]), small(pads[1]), small(pads[2]), small(pads[3])};
  if (pads.size() == 2) return {0, small(pads[0]), 0, small(pads[1])};
  const std::string mode = text_attribute(c.node, "auto_pad", "NOTSET");
  if (mode != "SAME_UPPER" && mode != "SAME_LOWER") return {};
  const auto total = [](std::int64_t in, std::int64_t out, int kernel, int stride, int dilation) {
    return small(std::max<std::int64_t>(0, (out - 1) * stride + std::int64_t{dilation} * (kernel - 1) + 1 - in));
  };
  const Shape& in = s.inputs[0];
  const std::size_t rank = in.size();
  const bool flat = rank < 4;
  const int height = flat ? 0 : total(in[2], s.output[2], s.kernel.height, s.stride.height, s.dilation.height);
  const int width = total(in[rank - 1], s.output[rank - 1], s.kernel.width, s.stride.width, s.dilation.width);
  const int more = mode == "SAME_LOWER" ? 1 : 0;
  const Padding half = {(height + more) / 2, (width + more) / 2, 0, 0};
  return {half.top, half.left, height - half.top, width - half.left};
}

void read_window(Conversion& c, const std::vector<std::int64_t>& kernel) {
  OperatorSpecification& s = c.result.operation;
  s.kernel = extent_of(kernel);
  s.stride = extent_of(integers_attribute(c.node, "strides"));
  s.dilation = extent_of(integers_attribute(c.node, "dilations"));
  c.result.attributes.padding = padding_of(c, s);
}

/// Images, and signals as images of one row.
bool is_image(const Conversion& c) {
  const std::size_t rank = c.shape(0).size();
  return (rank == 4 || rank == 3) && c.result.operation.output.size() == rank;
}

bool convolution(Conversion& c) {
  const std::size_t weight = weight_index(c.node), bias = bias_index(c.node);
  if (!c.is_computed(0) || !c.is_constant(weight) || (c.has(bias) && !c.is_constant(bias)) || !is_image(c))
    return false;
  const Shape& kernel = c.shape(weight);
  const std::int64_t groups = integer_attribute(c.node, "group", 1);
  const bool transposed = c.node.op_type() == "ConvTranspose";
  const std::int64_t in = c.shape(0)[1], out = c.result.operation.output[1];
  if (kernel.size() != c.shape(0).size() || in % groups != 0 || out % groups != 0 ||
      kernel[0] != (transposed ? in : out) || kernel[1] != (transposed ? out : in) / groups) {
    throw FormatError("weights of " + text_of(kernel) + " and " + std::to_string(groups) + " groups do not fit " +
                      std::to_string(in) + " channels");
  }
  keep_first_input(c);
  c.result.operation.groups = small(groups);
  c.result.operation.bias = c.has(bias);
  read_window(c, {kernel.begin() + 2, kernel.end()});
  return true;
}

/// A product with constant weights; `out` is their dimension that the output has.
bool set_linear(Conversion& c, std::size_t weight, std::size_t out, bool bias) {
  const Shape& shape = c.shape(weight);
  const Shape& output = c.result.operation.output;
  if (shape.size() != 2 || c.shape(0).empty() || output.empty() || shape[1 - out] != c.shape(0).back() ||
      shape[out] != output.back()) {
    return false;
  }
  keep_first_input(c);
  c.result.operation.bias = bias;
  return true;
}

bool gemm(Conversion& c) {
  const bool plain = integer_attribute(c.node, "transA", 0) == 0 && real_attribute(c.node, "alpha", 1) == 1 &&
                     real_attribute(c.node, "beta", 1) == 1;
  if (!plain || !c.is_computed(0) || !c.is_constant(1) || (c.has(2) && !c.is_constant(2))) return false;
  return set_linear(c, 1, integer_attribute(c.node, "transB", 0) != 0 ? 0 : 1, c.has(2));
}

bool matrix_product(Conversion& c) {
  const std::size_t weight = weight_index(c.node);
  if (!c.is_computed(0) || !c.has(weight)) return false;
  if (c.is_constant(weight)) {
    c.result.operation.kind = OperatorKind::linear;
    return set_linear(c, weight, 1, false);
  }
  c.result.inputs = {c.inputs[0]->source, c.inputs[weight]->source};
  c.result.operation.inputs = {c.shape(0), c.shape(weight)};
  return true;
}

bool pool(Conversion& c) {
  if (!is_image(c) || c.outputs.size() != 1) return false;
  read_window(c, integers_attribute(c.node, "kernel_shape"));
  c.result.attributes.ceil_mode = integer_attribute(c.node, "ceil_mode", 0) != 0;
  c.result.attributes.count_padding = integer_attribute(c.node, "count_include_pad", 0) != 0;
  return true;
}

bool global_pool(Conversion& c) {
  if (c.shape(0).size() < 3) return false;
  keep_first_input(c);
  if (c.node.op_type() == "GlobalMaxPool") c.result.operation.name = "max";
  return true;
}

bool activation(Conversion& c) {
  static const std::map<std::string, std::string> names = {{"Relu", "relu"},
                                                           {"HardSwish", "hard_swish"},
                                                           {"HardSigmoid", "hard_sigmoid"},
                                                           {"Sigmoid", "sigmoid"},
                                                           {"Tanh", "tanh"},
                                                           {"LeakyRelu", "leaky_relu"},
                                                           {"Elu", "elu"},
                                                           {"Selu", "selu"},
                                                           {"Softplus", "softplus"},
                                                           {"Gelu", "gelu"},
                                                           {"Mish", "mish"},
                                                           {"Erf", "erf"},
                                                           {"Sqrt", "sqrt"},
                                                           {"Exp", "exp"},
                                                           {"Log", "log"},
                                                           {"Neg", "negate"},
                                                           {"Abs", "absolute"},
                                                           {"Reciprocal", "reciprocal"},
                                                           {"Floor", "floor"},
                                                           {"Ceil", "ceil"},
                                                           {"Round", "round"},
                                                           {"Sign", "sign"},
                                                           {"Not", "not"},
                                                           {"Cast", "cast"},
                                                           {"Softsign", "softsign"},
                                                           {"Sin", "sin"},
                                                           {"Cos", "cos"},
                                                           {"QLinearSigmoid", "sigmoid"},
                                                           {"Silu", "silu"},
                                                           {"Swish", "silu"},
                                                           {"QuickGelu", "quick_gelu"},
                                                           {"FastGelu", "gelu"},
                                                           {"Celu", "celu"},
                                                           {"ThresholdedRelu", "thresholded_relu"},
                                                           {"QLinearLeakyRelu", "leaky_relu"}};
  c.result.operation.name = names.at(c.node.op_type());
  OperatorAttributes& a = c.result.attributes;
  const std::string& type = c.node.op_type();
  if (type == "LeakyRelu" || type == "QLinearLeakyRelu") a.alpha = real_attribute(c.node, "alpha", 0.01F);
  if (type == "Elu" || type == "Celu" || type == "ThresholdedRelu") a.alpha = real_attribute(c.node, "alpha", 1);
  if (type == "HardSigmoid") {
    a.alpha = real_attribute(c.node, "alpha", 0.2F);
    a.beta = real_attribute(c.node, "beta", 0.5);
  }
  keep_first_input(c);
  return true;
}

/// Attributes until opset 6, inputs since opset 11.
bool clip(Conversion& c) {
  const auto bound = [&](const char* name, std::size_t index, double otherwise) {
    if (c.known(index) && c.inputs[index]->numbers->size() == 1) return c.inputs[index]->numbers->real(0);
    return real_attribute(c.node, name, otherwise);
  };
  if (!c.is_computed(0) || c.is_computed(1) || c.is_computed(2)) return false;
  constexpr double open = 3.4028234663852886e38;
  c.result.attributes.alpha = bound("min", 1, -open);
  c.result.attributes.beta = bound("max", 2, open);
  const bool relu6 = c.result.attributes.alpha == 0 && c.result.attributes.beta == 6;
  c.result.operation.name = relu6 ? "relu6" : "clip";
  if (relu6) c.result.attributes.alpha = c.result.attributes.beta = 0;
  keep_first_input(c);
  return true;
}

/// Operators of two tensors, or of one and a constant.
bool elementwise(Conversion& c) {
  if (c.result.operation.kind == OperatorKind::elementwise) {
    static const std::map<std::string, std::string> names = {{"Sub", "subtract"},
                                                             {"Div", "divide"},
                                                             {"Pow", "power"},
                                                             {"Min", "minimum"},
                                                             {"Max", "maximum"},
                                                             {"PRelu", "prelu"},
                                                             {"Where", "where"},
                                                             {"Equal", "equal"},
                                                             {"Less", "less"},
                                                             {"Greater", "greater"},
                                                             {"And", "and"},
                                                             {"Or", "or"},
                                                             {"Mod", "modulo"},
                                                             {"LessOrEqual", "less_or_equal"},
                                                             {"GreaterOrEqual", "greater_or_equal"},
                                                             {"Xor", "xor"}};
    c.result.operation.name = names.at(c.node.op_type());
  }
  for (std::size_t i = 0; i < c.inputs.size(); ++i) {
    if (!c.is_constant(i)) continue;
    c.result.attributes.constant_first =
        i == 0 && c.inputs.size() == 2 && c.result.operation.kind == OperatorKind::elementwise;
    if (element_count(c.shape(i)) == 1) c.result.attributes.alpha = c.known(i) ? c.inputs[i]->numbers->real(0) : 1;
  }
  return c.result.operation.constants.size() + c.result.inputs.size() <= 3;
}

/// QLinearAdd and QLinearMul (com.microsoft): (a, scale, zero point, b, scale, zero point, …).
bool quantised_pair(Conversion& c) {
  if (!c.is_computed(0) || !c.has(3)) return false;
  c.result.inputs = {c.inputs[0]->source};
  c.result.operation.inputs = {c.shape(0)};
  c.result.operation.constants.clear();
  if (c.is_constant(3)) {
    if (element_count(c.shape(3)) > 1) c.result.operation.constants = {c.shape(3)};
    return true;
  }
  c.result.inputs.push_back(c.inputs[3]->source);
  c.result.operation.inputs.push_back(c.shape(3));
  return true;
}

bool with_axis(Conversion& c) {
  const bool concatenates = c.result.operation.kind == OperatorKind::concatenate;
  if (c.shape(0).empty()) return false;
  c.result.attributes.axes = {c.axis("axis", concatenates ? 1 : -1)};
  if (c.node.op_type() == "LogSoftmax") c.result.operation.name = "log";
  if (concatenates) c.result.attributes.constant_first = c.is_constant(0) && c.result.inputs.size() == 1;
  return true;
}

bool split(Conversion& c) {
  if (!c.is_computed(0)) return false;
  keep_first_input(c);
  c.result.attributes.axes = {c.axis("axis", 0)};
  return true;
}

/// Starts within the tensor; ends follow from the output's shape.
bool slice(Conversion& c) {
  OperatorAttributes& a = c.result.attributes;
  a.starts = c.list("starts", 1);
  a.axes = c.list("axes", 3);
  a.steps = c.numbers(4);
  if (a.starts.empty() || c.is_computed(1) || c.is_computed(3) || c.is_computed(4)) return false;
  const auto rank = static_cast<std::int64_t>(c.shape(0).size());
  for (std::size_t i = a.axes.size(); i < a.starts.size(); ++i) a.axes.push_back(static_cast<std::int64_t>(i));
  a.axes.resize(a.starts.size());
  a.steps.resize(a.starts.size(), 1);
  for (std::size_t i = 0; i < a.starts.size(); ++i) {
    if (a.axes[i] < 0) a.axes[i] += rank;
    if (a.axes[i] < 0 || a.axes[i] >= rank) throw FormatError("there is no axis " + std::to_string(a.axes[i]));
    const std::int64_t extent = c.shape(0)[static_cast<std::size_t>(a.axes[i])];
    if (a.starts[i] < 0) a.starts[i] += extent;
    a.starts[i] = std::clamp<std::int64_t>(a.starts[i], 0, a.steps[i] < 0 ? extent - 1 : extent);
  }
  c.result.operation.name = "slice";
  c.result.operation.constants.clear();
  keep_first_input(c);
  return true;
}

/// One constant index is a slice; the rows of a table are an opaque look-up.
bool gather(Conversion& c) {
  if (!c.is_computed(0) || !c.known(1) || c.inputs[1]->numbers->size() != 1 || c.shape(0).empty()) return false;
  const std::int64_t axis = c.axis("axis", 0), index = c.inputs[1]->numbers->whole(0);
  if (axis < 0 || axis >= static_cast<std::int64_t>(c.shape(0).size()))
    throw FormatError("there is no axis " + std::to_string(axis));
  const std::int64_t extent = c.shape(0)[static_cast<std::size_t>(axis)];
  if (index < -extent || index >= extent)
    throw FormatError("index " + std::to_string(index) + " lies beyond the tensor");
  c.result.operation.kind = OperatorKind::split;
  c.result.operation.name = "slice";
  c.result.attributes.axes = {axis};
  c.result.attributes.starts = {index < 0 ? index + extent : index};
  c.result.attributes.steps = {1};
  keep_first_input(c);
  return true;
}

bool first_input_alone(Conversion& c) {
  if (!c.is_computed(0)) return false;
  keep_first_input(c);
  c.result.operation.constants.clear();
  return true;
}

bool pad(Conversion& c) {
  const std::vector<std::int64_t> pads = c.list("pads", 1);
  const std::size_t rank = c.shape(0).size();
  if (!first_input_alone(c) || pads.size() != 2 * rank || c.has(3)) return false;
  c.result.attributes.starts = {pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(rank)};
  c.result.attributes.ends = {pads.begin() + static_cast<std::ptrdiff_t>(rank), pads.end()};
  c.result.attributes.mode = text_attribute(c.node, "mode", "constant");
  c.result.attributes.alpha = c.known(2) && c.inputs[2]->numbers->size() == 1 ? c.inputs[2]->numbers->real(0)
                                                                              : real_attribute(c.node, "value", 0);
  return true;
}

bool resize(Conversion& c) {
  if (!first_input_alone(c)) return false;
  std::string mode = text_attribute(c.node, "mode", "nearest");
  const std::string at = text_attribute(c.node, "coordinate_transformation_mode",
                                        c.node.op_type() == "Resize" ? "half_pixel" : "asymmetric");
  const std::string rounding = text_attribute(c.node, "nearest_mode", "round_prefer_floor");
  const bool half_pixel = at == "half_pixel" || at == "pytorch_half_pixel";
  if (mode == "nearest") {
    mode = at == "asymmetric" && (rounding == "floor" || c.node.op_type() != "Resize") ? "nearest" : "other";
  } else if (mode == "linear") {
    mode = half_pixel ? "linear" : at == "align_corners" ? "linear_aligned" : "other";
  } else {
    mode = mode == "cubic" && half_pixel && real_attribute(c.node, "cubic_coeff_a", -0.75) == -0.75 ? "cubic" : "other";
  }
  c.result.attributes.mode = mode;
  return true;
}

bool transpose(Conversion& c) {
  std::vector<std::int64_t> axes = integers_attribute(c.node, "perm");
  if (axes.empty()) {
    for (std::size_t i = c.shape(0).size(); i > 0; --i) axes.push_back(static_cast<std::int64_t>(i) - 1);
  }
  std::vector<std::int64_t> sorted = axes;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (sorted[i] != static_cast<std::int64_t>(i) || sorted.size() != c.shape(0).size()) {
      throw FormatError("its attribute 'perm' is no permutation of " + std::to_string(c.shape(0).size()) + " axes");
    }
  }
  c.result.attributes.axes = std::move(axes);
  return c.is_computed(0);
}

bool batch_norm(Conversion& c) {
  for (std::size_t i = 1; i < 5; ++i) {
    if (!c.is_constant(i)) return false;
  }
  if (!first_input_alone(c) || c.shape(0).size() < 2 || c.result.operation.output.size() != c.shape(0).size())
    return false;
  c.result.outputs.resize(1);  // the others are of training
  c.result.attributes.alpha = real_attribute(c.node, "epsilon", 1e-5F);
  return element_count(c.shape(1)) == c.shape(0)[1];
}

bool layer_norm(Conversion& c) {
  if (!c.is_computed(0) || !c.is_constant(1) ||
      c.axis("axis", -1) + 1 != static_cast<std::int64_t>(c.shape(0).size())) {
    return false;
  }
  if (!first_input_alone(c)) return false;
  c.result.outputs.resize(1);
  c.result.attributes.axes = {c.axis("axis", -1)};
  c.result.attributes.alpha = real_attribute(c.node, "epsilon", 1e-5F);
  return true;
}

bool group_norm(Conversion& c) {
  if (!c.is_constant(1) || c.shape(0).size() < 3) return false;
  const std::int64_t channels = c.shape(0)[1];
  const bool of_instances = c.node.op_type() == "InstanceNormalization";
  const std::int64_t groups = of_instances ? channels : integer_attribute(c.node, "num_groups", 1);
  if (groups < 1 || groups > channels || channels % groups != 0) {
    throw FormatError(std::to_string(groups) + " groups do not divide " + std::to_string(channels) + " channels");
  }
  if (element_count(c.shape(1)) != channels || !first_input_alone(c)) return false;
  c.result.operation.groups = small(groups);
  c.result.attributes.alpha = real_attribute(c.node, "epsilon", 1e-5F);
  return true;
}

/// The mean over the two axes of an image is a global pool, whoever wrote it.
bool reduce(Conversion& c) {
  static const std::map<std::string, std::string> names = {{"ReduceMean", "mean"},    {"ReduceSum", "sum"},
                                                           {"ReduceMax", "max"},      {"ReduceMin", "min"},
                                                           {"ReduceProd", "product"}, {"ReduceL2", "l2"}};
  std::vector<std::int64_t> axes = c.list("axes", 1);
  if (!first_input_alone(c)) return false;
  const auto rank = static_cast<std::int64_t>(c.shape(0).size());
  for (std::int64_t& axis : axes) axis = axis < 0 ? axis + rank : axis;
  for (std::int64_t axis = 0; axes.empty() && axis < rank; ++axis) axes.push_back(axis);
  std::sort(axes.begin(), axes.end());
  c.result.operation.name = names.at(c.node.op_type());
  if (rank == 4 && axes == std::vector<std::int64_t>{2, 3} &&
      (c.result.operation.name == "mean" || c.result.operation.name == "max")) {
    c.result.operation.kind = OperatorKind::global_pool;
    if (c.result.operation.name == "mean") c.result.operation.name.clear();
    return true;
  }
  c.result.attributes.axes = std::move(axes);
  return true;
}

struct Rule {
  OperatorKind kind;
  Convert convert;
};

const std::map<std::string, Rule>& rules() {
  using Kind = OperatorKind;
  static const std::map<std::string, Rule> table = [] {
    std::map<std::string, Rule> rules = {{"Conv", {Kind::convolution, convolution}},
                                         {"ConvInteger", {Kind::convolution, convolution}},
                                         {"QLinearConv", {Kind::convolution, convolution}},
                                         {"ConvTranspose", {Kind::transposed_convolution, convolution}},
                                         {"Gemm", {Kind::linear, gemm}},
                                         {"MatMul", {Kind::matrix_product, matrix_product}},
                                         {"MatMulInteger", {Kind::matrix_product, matrix_product}},
                                         {"QLinearMatMul", {Kind::matrix_product, matrix_product}},
                                         {"MaxPool", {Kind::max_pool, pool}},
                                         {"AveragePool", {Kind::average_pool, pool}},
                                         {"GlobalAveragePool", {Kind::global_pool, global_pool}},
                                         {"QLinearGlobalAveragePool", {Kind::global_pool, global_pool}},
                                         {"GlobalMaxPool", {Kind::global_pool, global_pool}},
                                         {"Clip", {Kind::activation, clip}},
                                         {"Add", {Kind::add, elementwise}},
                                         {"Sum", {Kind::add, elementwise}},
                                         {"Mul", {Kind::multiply, elementwise}},
                                         {"QLinearAdd", {Kind::add, quantised_pair}},
                                         {"QLinearMul", {Kind::multiply, quantised_pair}},
                                         {"Concat", {Kind::concatenate, with_axis}},
                                         {"Softmax", {Kind::softmax, with_axis}},
                                         {"LogSoftmax", {Kind::softmax, with_axis}},
                                         {"Split", {Kind::split, split}},
                                         {"Slice", {Kind::split, slice}},
                                         {"Gather", {Kind::opaque, gather}},
                                         {"Pad", {Kind::pad, pad}},
                                         {"Resize", {Kind::resize, resize}},
                                         {"Upsample", {Kind::resize, resize}},
                                         {"Transpose", {Kind::transpose, transpose}},
                                         {"BatchNormalization", {Kind::batch_norm, batch_norm}},
                                         {"LayerNormalization", {Kind::layer_norm, layer_norm}},
                                         {"GroupNormalization", {Kind::group_norm, group_norm}},
                                         {"InstanceNormalization", {Kind::group_norm, group_norm}}};
    for (const char* type : {"Reshape", "Flatten", "Squeeze", "Unsqueeze"})
      rules[type] = {Kind::reshape, first_input_alone};
    for (const char* type : {"ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL2"}) {
      rules[type] = {Kind::reduce, reduce};
    }
    for (const char* type : {"Sub", "Div", "Pow", "Min", "Max", "PRelu", "Where", "Equal", "Less", "Greater", "And",
                             "Or", "Mod", "LessOrEqual", "GreaterOrEqual", "Xor"}) {
      rules[type] = {Kind::elementwise, elementwise};
    }
    for (const char* type : {"Relu",
                             "HardSwish",
                             "HardSigmoid",
                             "Sigmoid",
                             "Tanh",
                             "LeakyRelu",
                             "Elu",
                             "Selu",
                             "Softplus",
                             "Gelu",
                             "Mish",
                             "Erf",
                             "Sqrt",
                             "Exp",
                             "Log",
                             "Neg",
                             "Abs",
                             "Reciprocal",
                             "Floor",
                             "Ceil",
                             "Round",
                             "Sign",
                             "Not",
                             "Cast",
                             "Softsign",
                             "Sin",
                             "Cos",
                             "Silu",
                             "Swish",
                             "QuickGelu",
                             "FastGelu",
                             "QLinearSigmoid",
                             "QLinearLeakyRelu",
                             "Celu",
                             "ThresholdedRelu"}) {
      rules[type] = {Kind::activation, activation};
    }
    return rules;
  }();
  return table;
}

/// A constant operand that was trained, not a shape, an index or a scale.
bool is_trained(const OnnxValue& value) {
  const ElementType type = element_type(value.element);
  const bool number = type != ElementType::int64 && type != ElementType::int32 && type != ElementType::boolean;
  return value.constant && number && element_count(value.stored) > 1;
}

NetworkNode opaque_node(const onnx::NodeProto& node, const Inputs& inputs, const std::vector<OnnxValue>& outputs) {
  NetworkNode result;
  result.operation.name = node.op_type();
  result.operation.type = outputs.empty() ? ElementType::float32 : element_type(outputs[0].element);
  for (const OnnxValue* input : inputs) {
    if (input == nullptr) continue;
    if (is_trained(*input)) result.operation.constants.push_back(input->stored);
    if (input->constant) continue;
    result.inputs.push_back(input->source);
    result.operation.inputs.push_back(input->shape);
  }
  return result;
}

/// What the operator computes in: the bytes of quantised inputs, for products the type of what they multiply.
ElementType computing_type(const onnx::NodeProto& node, const Inputs& inputs, const std::vector<OnnxValue>& outputs) {
  for (const OnnxValue* input : inputs) {
    if (input != nullptr && !input->constant && input->bytes) return *input->bytes;
  }
  const bool product = node.op_type() == "ConvInteger" || node.op_type() == "MatMulInteger";
  return element_type(product ? inputs[0]->element : outputs[0].element);
}

}  // namespace

NetworkNode operator_of(const onnx::NodeProto& node, const Inputs& inputs, const std::vector<OnnxValue>& outputs,
                        const std::vector<Source>& implicit, const std::vector<Shape>& implicit_shapes) {
  NetworkNode opaque = opaque_node(node, inputs, outputs);
  opaque.inputs.insert(opaque.inputs.end(), implicit.begin(), implicit.end());
  opaque.operation.inputs.insert(opaque.operation.inputs.end(), implicit_shapes.begin(), implicit_shapes.end());
  opaque.operation.type = computing_type(node, inputs, outputs);
  for (const OnnxValue& output : outputs) {
    const bool quantised = opaque.operation.type == ElementType::int8 || opaque.operation.type == ElementType::uint8;
    opaque.outputs.push_back({output.shape, quantised ? opaque.operation.type : element_type(output.element)});
  }
  opaque.operation.output = outputs[0].shape;
  const auto rule = rules().find(node.op_type());
  if (rule == rules().end() || inputs.empty() || inputs[0] == nullptr || opaque.inputs.empty()) return opaque;
  NetworkNode known = opaque;
  known.operation.kind = rule->second.kind;
  known.operation.name.clear();
  Conversion conversion{node, inputs, outputs, known};
  if (!rule->second.convert(conversion)) return opaque;
  const bool implied = known.operation.kind == OperatorKind::convolution ||
                       known.operation.kind == OperatorKind::linear ||
                       known.operation.kind == OperatorKind::transposed_convolution ||
                       known.operation.kind == OperatorKind::matrix_product;
  if (implied) known.operation.constants.clear();
  return known;
}

}  // namespace tenshot::nasbench
