#include "nasbench/graph/onnx_writing.h"

#include <cmath>
#include <limits>
#include <map>

#include "nasbench/graph/network_builder.h"
#include "nasbench/graph/onnx_operators.h"
#include "nasbench/support/error.h"
#include "nasbench/support/words.h"

namespace tenshot::nasbench {
namespace {

using Writing = OnnxNodeWriting;

[[noreturn]] void refuse(const Writing& w, const std::string& why) {
  throw InputError("node '" + w.node.name + "' (" + std::string(name(w.node.operation.kind)) + " " +
                   w.node.operation.name + "): " + why);
}

std::vector<std::int64_t> pair(const Extent& extent, std::size_t rank) {
  return rank == 3 ? std::vector<std::int64_t>{extent.width} : std::vector<std::int64_t>{extent.height, extent.width};
}

onnx::NodeProto& add_window(onnx::NodeProto& node, const NetworkNode& from) {
  const OperatorSpecification& s = from.operation;
  const Padding& padding = from.attributes.padding;
  const std::size_t rank = s.inputs[0].size();
  add_integers(node, "kernel_shape", pair(s.kernel, rank));
  add_integers(node, "strides", pair(s.stride, rank));
  std::vector<std::int64_t> pads = {padding.left, padding.right};
  if (rank != 3) pads = {padding.top, padding.left, padding.bottom, padding.right};
  add_integers(node, "pads", pads);
  if (s.dilation != Extent{}) add_integers(node, "dilations", pair(s.dilation, rank));
  return node;
}

std::string reshaped(Writing& w, const std::string& part, const std::string& input, const Shape& shape) {
  return w.step("Reshape", part, {input, w.integers(part + "_shape", shape)});
}

onnx::NodeProto& convolution(Writing& w) {
  const OperatorSpecification& s = w.node.operation;
  const std::size_t rank = s.inputs[0].size();
  Shape shape = weight_shapes(w.node).weight;
  if (rank == 3) shape.erase(shape.begin() + 2);
  w.inputs.push_back(w.constant("weight", w.weights.weight, shape));
  if (s.bias) w.inputs.push_back(w.constant("bias", w.weights.bias, weight_shapes(w.node).bias));
  const bool transposed = s.kind == OperatorKind::transposed_convolution;
  onnx::NodeProto& node = add_window(w.last(transposed ? "ConvTranspose" : "Conv", w.inputs), w.node);
  if (s.groups != 1) add_integer(node, "group", s.groups);
  if (!transposed) return node;
  std::vector<std::int64_t> more;
  const auto axes = axes_of({s.kernel, s.stride, w.node.attributes.padding, s.dilation});
  for (std::size_t i = 2; i < rank; ++i) {
    more.push_back(s.output[i] - stretched_length(s.inputs[0][i], axes[i + 2 - rank]));
  }
  return add_integers(node, "output_padding", more);
}

onnx::NodeProto& linear(Writing& w) {
  const OperatorSpecification& s = w.node.operation;
  const std::int64_t in = s.inputs[0].back(), out = s.output.back();
  if (s.inputs[0].size() != 2) {
    const std::string weight = w.constant("weight", transposed(w.weights.weight, out, in), {in, out});
    if (!s.bias) return w.last("MatMul", {w.inputs[0], weight});
    const std::string product = w.step("MatMul", "product", {w.inputs[0], weight});
    return w.last("Add", {product, w.constant("bias", w.weights.bias, {out})});
  }
  if (w.graph.is_unflattened(w.node.inputs[0])) {
    w.graph.node("Flatten", w.node.name + "_flatten", w.inputs).add_output(w.node.name + "_flat");
    w.inputs[0] = w.node.name + "_flat";
  }
  w.inputs.push_back(w.constant("weight", w.weights.weight, {out, in}));
  if (s.bias) w.inputs.push_back(w.constant("bias", w.weights.bias, {out}));
  return add_integer(w.last("Gemm", w.inputs), "transB", 1);
}

onnx::NodeProto& pool(Writing& w) {
  const bool average = w.node.operation.kind == OperatorKind::average_pool;
  onnx::NodeProto& node = add_window(w.last(average ? "AveragePool" : "MaxPool", w.inputs), w.node);
  if (average) add_integer(node, "count_include_pad", w.node.attributes.count_padding ? 1 : 0);
  if (w.node.attributes.ceil_mode) add_integer(node, "ceil_mode", 1);
  return node;
}

onnx::NodeProto& global_pool(Writing& w) {
  const char* type = w.node.operation.name == "max" ? "GlobalMaxPool" : "GlobalAveragePool";
  const bool flat = w.node.operation.output.size() == 2;
  if (!flat || w.unflattened) return w.last(type, w.inputs);
  return w.last("Flatten", {w.step(type, "pooled", w.inputs)});
}

/// The ONNX type that computes `function`, of a table that has them by type; a null pointer where there is none.
const std::string* type_of(const std::string& function, const std::map<std::string, std::string>& types) {
  for (const auto& [type, name] : types) {
    if (name == function) return &type;
  }
  return nullptr;
}

const std::map<std::string, std::string>& activation_types() {
  static const std::map<std::string, std::string> types = lower_cased(
      "Relu Sigmoid Tanh Selu Softplus Erf Sqrt Exp Log Floor Ceil Round Reciprocal Sign Softsign Sin Cos "
      "Elu HardSigmoid=hard_sigmoid LeakyRelu=leaky_relu Neg=negate Abs=absolute");
  return types;
}

onnx::NodeProto& gelu(Writing& w) {
  const std::string scaled = w.step("Div", "scaled", {w.inputs[0], w.number("root", std::sqrt(2.0))});
  const std::string sum = w.step("Add", "sum", {w.step("Erf", "erf", {scaled}), w.number("one", 1)});
  return w.last("Mul", {w.step("Mul", "product", {w.inputs[0], sum}), w.number("half", 0.5)});
}

onnx::NodeProto& activation(Writing& w) {
  const std::string& function = w.node.operation.name;
  const OperatorAttributes& a = w.node.attributes;
  if (function == "gelu") return gelu(w);
  if (function == "silu") return w.last("Mul", {w.inputs[0], w.step("Sigmoid", "gate", w.inputs)});
  if (function == "hard_swish") {
    onnx::NodeProto& gate = add_real(w.inner("HardSigmoid", "gate", w.inputs), "alpha", 1.0 / 6);
    return w.last("Mul", {w.inputs[0], add_real(gate, "beta", 0.5).output(0)});
  }
  if (function == "relu6" || function == "clip") {
    const double least = function == "relu6" ? 0 : a.alpha, most = function == "relu6" ? 6 : a.beta;
    if (w.graph.options().constants_as_attributes) {
      return add_real(add_real(w.last("Clip", w.inputs), "min", least), "max", most);
    }
    return w.last("Clip", {w.inputs[0], w.number("least", least), w.number("most", most)});
  }
  const std::string* type = type_of(function, activation_types());
  if (type == nullptr) refuse(w, "ONNX writing does not cover this function");
  onnx::NodeProto& node = w.last(*type, w.inputs);
  if (function == "leaky_relu" || function == "elu" || function == "hard_sigmoid") add_real(node, "alpha", a.alpha);
  if (function == "hard_sigmoid") add_real(node, "beta", a.beta);
  return node;
}

void add_operand(Writing& w, const std::string& constant) {
  w.inputs.insert(w.node.attributes.constant_first ? w.inputs.begin() : w.inputs.end(), constant);
}

onnx::NodeProto& elementwise(Writing& w) {
  const OperatorSpecification& s = w.node.operation;
  const bool product = s.kind == OperatorKind::multiply;
  if (s.constants.size() > 1 || (w.inputs.size() < 2 && s.name == "where")) refuse(w, "it has several constants");
  if (w.inputs.size() == 1) {
    const char* part = product ? "factor" : "constant";
    add_operand(w, s.constants.empty() ? w.number(part, w.node.attributes.alpha)
                                       : w.constant(part, w.weights.weight, s.constants[0]));
  }
  if (s.kind == OperatorKind::add) return w.last(w.inputs.size() > 2 ? "Sum" : "Add", w.inputs);
  if (product) return w.last("Mul", w.inputs);
  const std::string* type = type_of(s.name, onnx_conversions::elementwise_names());
  if (type == nullptr) refuse(w, "ONNX writing does not cover this operation");
  return w.last(*type, w.inputs);
}

onnx::NodeProto& concatenate(Writing& w) {
  const OperatorSpecification& s = w.node.operation;
  const auto axis = static_cast<std::size_t>(w.node.attributes.axes.at(0));
  if (s.constants.size() > 1) refuse(w, "it has several constants");
  if (!s.constants.empty()) {
    std::string constant = w.constant("constant", w.weights.weight, s.constants[0]);
    Shape wanted = s.inputs[0];
    if (s.constants[0].size() != wanted.size()) refuse(w, "its constant has other dimensions than its inputs");
    wanted[axis] = s.constants[0][axis];
    if (wanted != s.constants[0]) {  // repeated for every image of the batch
      constant = w.step("Expand", "repeated", {constant, w.integers("shape", wanted)});
    }
    add_operand(w, constant);
  }
  return add_integer(w.last("Concat", w.inputs), "axis", w.node.attributes.axes[0]);
}

onnx::NodeProto& slice(Writing& w) {
  const OperatorSpecification& s = w.node.operation;
  const OperatorAttributes& a = w.node.attributes;
  if (s.output.size() < s.inputs[0].size()) {  // one index of an axis, which goes
    w.inputs.push_back(w.step("Squeeze", "scalar", {w.integers("index", {a.starts.at(0)})}));
    return add_integer(w.last("Gather", w.inputs), "axis", a.axes.at(0));
  }
  std::vector<std::int64_t> ends;
  for (std::size_t i = 0; i < a.starts.size(); ++i) {
    const std::int64_t end = a.starts[i] + s.output[static_cast<std::size_t>(a.axes[i])] * a.steps[i];
    ends.push_back(end < 0 ? -std::numeric_limits<std::int64_t>::max() : end);
  }
  return w.last("Slice", {w.inputs[0], w.integers("starts", a.starts), w.integers("ends", ends),
                          w.integers("axes", a.axes), w.integers("steps", a.steps)});
}

onnx::NodeProto& split(Writing& w) {
  if (w.node.operation.name == "slice") return slice(w);
  std::vector<std::int64_t> sizes;
  const std::int64_t axis = w.node.attributes.axes.at(0);
  for (const TensorType& part : w.node.outputs) sizes.push_back(part.shape.at(static_cast<std::size_t>(axis)));
  const bool attribute = w.graph.options().constants_as_attributes;
  if (!attribute) w.inputs.push_back(w.integers("sizes", sizes));
  onnx::NodeProto& node = w.last("Split", w.inputs);
  if (attribute) add_integers(node, "split", sizes);
  return add_integer(node, "axis", axis);
}

onnx::NodeProto& reshape(Writing& w, const std::string& input, const Shape& shape) {
  return w.last("Reshape", {input, w.integers("shape", shape)});
}

onnx::NodeProto& shuffle(Writing& w) {
  const Shape& image = w.node.operation.output;
  if (image.size() != 4) refuse(w, "channels of images alone are shuffled");
  const std::int64_t groups = w.node.operation.groups;
  const std::string grouped =
      reshaped(w, "grouped", w.inputs[0], {image[0], groups, image[1] / groups, image[2], image[3]});
  return reshape(w, add_integers(w.inner("Transpose", "swapped", {grouped}), "perm", {0, 2, 1, 3, 4}).output(0), image);
}

onnx::NodeProto& pad(Writing& w) {
  const OperatorAttributes& a = w.node.attributes;
  std::vector<std::int64_t> pads = a.starts;
  pads.insert(pads.end(), a.ends.begin(), a.ends.end());
  w.inputs.push_back(w.integers("pads", pads));
  if (a.mode == "constant") w.inputs.push_back(w.number("value", a.alpha));
  return add_text(w.last("Pad", w.inputs), "mode", a.mode);
}

onnx::NodeProto& resize(Writing& w) {
  const std::string& mode = w.node.attributes.mode;
  if (mode == "other") refuse(w, "its way of resizing is none that ONNX writing covers");
  onnx::NodeProto& node = w.last("Resize", {w.inputs[0], "", "", w.integers("sizes", w.node.operation.output)});
  add_text(node, "mode", mode == "linear_aligned" ? "linear" : mode);
  add_text(node, "coordinate_transformation_mode",
           mode == "nearest"          ? "asymmetric"
           : mode == "linear_aligned" ? "align_corners"
                                      : "half_pixel");
  return mode == "nearest" ? add_text(node, "nearest_mode", "floor") : node;
}

onnx::NodeProto& reduce(Writing& w) {
  const OperatorSpecification& s = w.node.operation;
  const std::string* type = type_of(s.name, onnx_conversions::reduction_names());
  if (type == nullptr) refuse(w, "ONNX writing does not cover this reduction");
  const bool by_input = s.name == "sum";
  if (by_input) w.inputs.push_back(w.integers("axes", w.node.attributes.axes));
  onnx::NodeProto& node = w.last(*type, w.inputs);
  if (!by_input) add_integers(node, "axes", w.node.attributes.axes);
  return add_integer(node, "keepdims", s.output.size() == s.inputs[0].size() ? 1 : 0);
}

onnx::NodeProto& softmax(Writing& w) {
  const char* type = w.node.operation.name == "log" ? "LogSoftmax" : "Softmax";
  return add_integer(w.last(type, w.inputs), "axis", w.node.attributes.axes.at(0));
}

onnx::NodeProto& transpose(Writing& w) {
  return add_integers(w.last("Transpose", w.inputs), "perm", w.node.attributes.axes);
}

std::string mean(Writing& w, const char* part, const std::string& input) {
  return add_integers(w.inner("ReduceMean", part, {input}), "axes", w.node.attributes.axes).output(0);
}

onnx::NodeProto& batch_norm(Writing& w) {
  const Shape channels = weight_shapes(w.node).weight;
  w.inputs.push_back(w.constant("scale", w.weights.weight, channels));
  w.inputs.push_back(w.constant("shift", w.weights.bias, channels));
  w.inputs.push_back(w.constant("mean", w.weights.mean, channels));
  w.inputs.push_back(w.constant("variance", w.weights.variance, channels));
  return add_real(w.last("BatchNormalization", w.inputs), "epsilon", w.node.attributes.alpha);
}

/// Opset 13 has no layer normalisation: it is written as its parts, as exporters do.
onnx::NodeProto& layer_norm(Writing& w) {
  const Shape channels = weight_shapes(w.node).weight;
  const std::string centred = w.step("Sub", "centred", {w.inputs[0], mean(w, "mean", w.inputs[0])});
  const std::string variance = mean(w, "variance", w.step("Pow", "square", {centred, w.number("two", 2)}));
  const std::string sum = w.step("Add", "sum", {variance, w.number("epsilon", w.node.attributes.alpha)});
  const std::string ratio = w.step("Div", "ratio", {centred, w.step("Sqrt", "root", {sum})});
  const std::string scaled = w.step("Mul", "scaled", {ratio, w.constant("scale", w.weights.weight, channels)});
  return w.last("Add", {scaled, w.constant("shift", w.weights.bias, channels)});
}

/// An instance norm where every channel is a group of its own; else one of the groups, scaled by channel after it.
onnx::NodeProto& group_norm(Writing& w) {
  const Shape& image = w.node.operation.output;
  const std::int64_t groups = w.node.operation.groups;
  const double epsilon = w.node.attributes.alpha;
  if (groups == image[1]) {
    const Shape channels = weight_shapes(w.node).weight;
    w.inputs = {w.inputs[0], w.constant("scale", w.weights.weight, channels),
                w.constant("shift", w.weights.bias, channels)};
    return add_real(w.last("InstanceNormalization", w.inputs), "epsilon", epsilon);
  }
  const std::vector<float> ones(static_cast<std::size_t>(groups), 1), zeros(ones.size(), 0);
  const std::string grouped =
      reshaped(w, "grouped", w.inputs[0], {image[0], groups, element_count(image) / image[0] / groups});
  onnx::NodeProto& norm = w.inner("InstanceNormalization", "groups",
                                  {grouped, w.constant("ones", ones, {groups}), w.constant("zeros", zeros, {groups})});
  const std::string restored = reshaped(w, "restored", add_real(norm, "epsilon", epsilon).output(0), image);
  Shape by_channel(image.size() - 1, 1);
  by_channel[0] = image[1];
  const std::string scaled = w.step("Mul", "scaled", {restored, w.constant("scale", w.weights.weight, by_channel)});
  return w.last("Add", {scaled, w.constant("shift", w.weights.bias, by_channel)});
}

}  // namespace

onnx::NodeProto& OnnxNodeWriting::last(const std::string& type, const std::vector<std::string>& read) {
  return graph.node(type, node.name, read);
}

onnx::NodeProto& OnnxNodeWriting::inner(const std::string& type, const std::string& part,
                                        const std::vector<std::string>& read) {
  return graph.step(type, node.name + "_" + part, read);
}

std::string OnnxNodeWriting::step(const std::string& type, const std::string& part,
                                  const std::vector<std::string>& read) {
  return inner(type, part, read).output(0);
}

std::string OnnxNodeWriting::constant(const std::string& part, const std::vector<float>& values, const Shape& shape) {
  return graph.constant(node.name + "_" + part, values, shape);
}

std::string OnnxNodeWriting::number(const std::string& part, double value) {
  return constant(part, {static_cast<float>(value)}, {});
}

std::string OnnxNodeWriting::integers(const std::string& part, const std::vector<std::int64_t>& values) {
  return graph.integers(node.name + "_" + part, values);
}

onnx::NodeProto& write_operator(OnnxNodeWriting& w) {
  if (w.node.operation.type != ElementType::float32) {
    refuse(w, "ONNX writing does not cover operators that compute in " + std::string(name(w.node.operation.type)));
  }
  switch (w.node.operation.kind) {
    case OperatorKind::convolution:
    case OperatorKind::transposed_convolution: return convolution(w);
    case OperatorKind::linear: return linear(w);
    case OperatorKind::matrix_product: return w.last("MatMul", w.inputs);
    case OperatorKind::max_pool:
    case OperatorKind::average_pool: return pool(w);
    case OperatorKind::global_pool: return global_pool(w);
    case OperatorKind::activation: return activation(w);
    case OperatorKind::add:
    case OperatorKind::multiply:
    case OperatorKind::elementwise: return elementwise(w);
    case OperatorKind::concatenate: return concatenate(w);
    case OperatorKind::split: return split(w);
    case OperatorKind::shuffle: return shuffle(w);
    case OperatorKind::pad: return pad(w);
    case OperatorKind::resize: return resize(w);
    case OperatorKind::reshape: return reshape(w, w.inputs[0], w.node.operation.output);
    case OperatorKind::transpose: return transpose(w);
    case OperatorKind::batch_norm: return batch_norm(w);
    case OperatorKind::layer_norm: return layer_norm(w);
    case OperatorKind::group_norm: return group_norm(w);
    case OperatorKind::softmax: return softmax(w);
    case OperatorKind::reduce: return reduce(w);
    case OperatorKind::opaque: break;
  }
  refuse(w, "an opaque operator cannot be written as ONNX: what it computes is not known");
}

}  // namespace tenshot::nasbench
