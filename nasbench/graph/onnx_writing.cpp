#include "nasbench/graph/onnx_writing.h"

#include <cmath>
#include <limits>
#include <map>

#include "nasbench/graph/network_builder.h"
#include "nasbench/graph/onnx_conversion.h"
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

void add_window(onnx::NodeProto& node, const NetworkNode& from) {
  const OperatorSpecification& s = from.operation;
  const Padding& padding = from.attributes.padding;
  const std::size_t rank = s.inputs[0].size();
  add_integers(node, "kernel_shape", pair(s.kernel, rank));
  add_integers(node, "strides", pair(s.stride, rank));
  if (rank == 3) {
    add_integers(node, "pads", {padding.left, padding.right});
  } else {
    add_integers(node, "pads", {padding.top, padding.left, padding.bottom, padding.right});
  }
  if (s.dilation != Extent{}) add_integers(node, "dilations", pair(s.dilation, rank));
}

onnx::NodeProto& convolution(Writing& w) {
  const OperatorSpecification& s = w.node.operation;
  const std::string& name = w.node.name;
  Shape shape = weight_shapes(w.node).weight;
  if (s.inputs[0].size() == 3) shape.erase(shape.begin() + 2);
  w.inputs.push_back(w.graph.constant(name + "_weight", w.weights.weight, shape));
  if (s.bias) w.inputs.push_back(w.graph.constant(name + "_bias", w.weights.bias, weight_shapes(w.node).bias));
  const bool transposed = s.kind == OperatorKind::transposed_convolution;
  onnx::NodeProto& node = w.graph.node(transposed ? "ConvTranspose" : "Conv", name, w.inputs);
  add_window(node, w.node);
  if (s.groups != 1) add_integer(node, "group", s.groups);
  if (!transposed) return node;
  std::vector<std::int64_t> more;
  const Padding& p = w.node.attributes.padding;
  const auto rest = [&](std::size_t axis, int kernel, int stride, int dilation, int zeros) {
    more.push_back(s.output[axis] - stretched_length(s.inputs[0][axis], kernel, stride, dilation, zeros));
  };
  if (s.inputs[0].size() == 4) rest(2, s.kernel.height, s.stride.height, s.dilation.height, p.top + p.bottom);
  rest(s.inputs[0].size() - 1, s.kernel.width, s.stride.width, s.dilation.width, p.left + p.right);
  add_integers(node, "output_padding", more);
  return node;
}

onnx::NodeProto& linear(Writing& w) {
  const OperatorSpecification& s = w.node.operation;
  const std::string& name = w.node.name;
  const std::int64_t in = s.inputs[0].back(), out = s.output.back();
  if (s.inputs[0].size() != 2) {
    const std::string weight = w.graph.constant(name + "_weight", transposed(w.weights.weight, out, in), {in, out});
    if (!s.bias) return w.graph.node("MatMul", name, {w.inputs[0], weight});
    const std::string product = w.graph.step("MatMul", name + "_product", {w.inputs[0], weight});
    return w.graph.node("Add", name, {product, w.graph.constant(name + "_bias", w.weights.bias, {out})});
  }
  if (w.graph.is_unflattened(w.node.inputs[0])) {
    w.graph.node("Flatten", name + "_flatten", w.inputs).add_output(name + "_flat");
    w.inputs[0] = name + "_flat";
  }
  w.inputs.push_back(w.graph.constant(name + "_weight", w.weights.weight, {out, in}));
  if (s.bias) w.inputs.push_back(w.graph.constant(name + "_bias", w.weights.bias, {out}));
  onnx::NodeProto& node = w.graph.node("Gemm", name, w.inputs);
  add_integer(node, "transB", 1);
  return node;
}

onnx::NodeProto& pool(Writing& w) {
  const bool average = w.node.operation.kind == OperatorKind::average_pool;
  onnx::NodeProto& node = w.graph.node(average ? "AveragePool" : "MaxPool", w.node.name, w.inputs);
  add_window(node, w.node);
  if (average) add_integer(node, "count_include_pad", w.node.attributes.count_padding ? 1 : 0);
  if (w.node.attributes.ceil_mode) add_integer(node, "ceil_mode", 1);
  return node;
}

onnx::NodeProto& global_pool(Writing& w) {
  const char* type = w.node.operation.name == "max" ? "GlobalMaxPool" : "GlobalAveragePool";
  const bool flat = w.node.operation.output.size() == 2;
  if (!flat || w.unflattened) return w.graph.node(type, w.node.name, w.inputs);
  return w.graph.node("Flatten", w.node.name, {w.graph.step(type, w.node.name + "_pooled", w.inputs)});
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
  const std::string& name = w.node.name;
  const std::string scaled =
      w.graph.step("Div", name + "_scaled", {w.inputs[0], w.graph.number(name + "_root", std::sqrt(2.0))});
  const std::string erf = w.graph.step("Erf", name + "_erf", {scaled});
  const std::string sum = w.graph.step("Add", name + "_sum", {erf, w.graph.number(name + "_one", 1)});
  const std::string product = w.graph.step("Mul", name + "_product", {w.inputs[0], sum});
  return w.graph.node("Mul", name, {product, w.graph.number(name + "_half", 0.5)});
}

onnx::NodeProto& activation(Writing& w) {
  const std::string &name = w.node.name, &function = w.node.operation.name;
  const OperatorAttributes& a = w.node.attributes;
  if (function == "gelu") return gelu(w);
  if (function == "silu") {
    return w.graph.node("Mul", name, {w.inputs[0], w.graph.step("Sigmoid", name + "_gate", w.inputs)});
  }
  if (function == "hard_swish") {
    onnx::NodeProto& gate = w.graph.node("HardSigmoid", name + "_gate", w.inputs);
    add_real(gate, "alpha", 1.0 / 6);
    add_real(gate, "beta", 0.5);
    gate.add_output(name + "_gate");
    return w.graph.node("Mul", name, {w.inputs[0], name + "_gate"});
  }
  if (function == "relu6" || function == "clip") {
    const double least = function == "relu6" ? 0 : a.alpha, most = function == "relu6" ? 6 : a.beta;
    if (w.graph.options().constants_as_attributes) {
      onnx::NodeProto& node = w.graph.node("Clip", name, w.inputs);
      add_real(node, "min", least);
      add_real(node, "max", most);
      return node;
    }
    w.inputs.push_back(w.graph.number(name + "_least", least));
    w.inputs.push_back(w.graph.number(name + "_most", most));
    return w.graph.node("Clip", name, w.inputs);
  }
  const std::string* type = type_of(function, activation_types());
  if (type == nullptr) refuse(w, "ONNX writing does not cover this function");
  onnx::NodeProto& node = w.graph.node(*type, name, w.inputs);
  if (function == "leaky_relu" || function == "elu" || function == "hard_sigmoid") add_real(node, "alpha", a.alpha);
  if (function == "hard_sigmoid") add_real(node, "beta", a.beta);
  return node;
}

onnx::NodeProto& elementwise(Writing& w) {
  const OperatorSpecification& s = w.node.operation;
  const bool product = s.kind == OperatorKind::multiply;
  if (s.constants.size() > 1 || (w.inputs.size() < 2 && s.name == "where")) refuse(w, "it has several constants");
  if (w.inputs.size() == 1) {
    const std::string name = w.node.name + (product ? "_factor" : "_constant");
    const std::string constant = s.constants.empty() ? w.graph.number(name, w.node.attributes.alpha)
                                                     : w.graph.constant(name, w.weights.weight, s.constants[0]);
    w.inputs.insert(w.node.attributes.constant_first ? w.inputs.begin() : w.inputs.end(), constant);
  }
  if (s.kind == OperatorKind::add) return w.graph.node(w.inputs.size() > 2 ? "Sum" : "Add", w.node.name, w.inputs);
  if (product) return w.graph.node("Mul", w.node.name, w.inputs);
  const std::string* type = type_of(s.name, onnx_conversions::elementwise_names());
  if (type == nullptr) refuse(w, "ONNX writing does not cover this operation");
  return w.graph.node(*type, w.node.name, w.inputs);
}

onnx::NodeProto& concatenate(Writing& w) {
  const OperatorSpecification& s = w.node.operation;
  const auto axis = static_cast<std::size_t>(w.node.attributes.axes.at(0));
  if (s.constants.size() > 1) refuse(w, "it has several constants");
  if (!s.constants.empty()) {
    std::string constant = w.graph.constant(w.node.name + "_constant", w.weights.weight, s.constants[0]);
    Shape wanted = s.inputs[0];
    if (s.constants[0].size() != wanted.size()) refuse(w, "its constant has other dimensions than its inputs");
    wanted[axis] = s.constants[0][axis];
    if (wanted != s.constants[0]) {  // repeated for every image of the batch
      constant = w.graph.step("Expand", w.node.name + "_repeated",
                              {constant, w.graph.integers(w.node.name + "_shape", wanted)});
    }
    w.inputs.insert(w.node.attributes.constant_first ? w.inputs.begin() : w.inputs.end(), constant);
  }
  onnx::NodeProto& node = w.graph.node("Concat", w.node.name, w.inputs);
  add_integer(node, "axis", w.node.attributes.axes[0]);
  return node;
}

onnx::NodeProto& slice(Writing& w) {
  const OperatorSpecification& s = w.node.operation;
  const OperatorAttributes& a = w.node.attributes;
  const std::string& name = w.node.name;
  if (s.output.size() < s.inputs[0].size()) {  // one index of an axis, which goes
    w.inputs.push_back(w.graph.integers(name + "_index", {a.starts.at(0)}));
    const std::string one = w.graph.step("Squeeze", name + "_scalar", {w.inputs.back()});
    w.inputs.back() = one;
    onnx::NodeProto& node = w.graph.node("Gather", name, w.inputs);
    add_integer(node, "axis", a.axes.at(0));
    return node;
  }
  std::vector<std::int64_t> ends;
  for (std::size_t i = 0; i < a.starts.size(); ++i) {
    const std::int64_t end = a.starts[i] + s.output[static_cast<std::size_t>(a.axes[i])] * a.steps[i];
    ends.push_back(end < 0 ? -std::numeric_limits<std::int64_t>::max() : end);
  }
  w.inputs.push_back(w.graph.integers(name + "_starts", a.starts));
  w.inputs.push_back(w.graph.integers(name + "_ends", ends));
  w.inputs.push_back(w.graph.integers(name + "_axes", a.axes));
  w.inputs.push_back(w.graph.integers(name + "_steps", a.steps));
  return w.graph.node("Slice", name, w.inputs);
}

onnx::NodeProto& split(Writing& w) {
  if (w.node.operation.name == "slice") return slice(w);
  std::vector<std::int64_t> sizes;
  const std::int64_t axis = w.node.attributes.axes.at(0);
  for (const TensorType& part : w.node.outputs) sizes.push_back(part.shape.at(static_cast<std::size_t>(axis)));
  const bool attribute = w.graph.options().constants_as_attributes;
  if (!attribute) w.inputs.push_back(w.graph.integers(w.node.name + "_sizes", sizes));
  onnx::NodeProto& node = w.graph.node("Split", w.node.name, w.inputs);
  if (attribute) add_integers(node, "split", sizes);
  add_integer(node, "axis", axis);
  return node;
}

onnx::NodeProto& reshape(Writing& w, const std::string& input, const Shape& shape) {
  return w.graph.node("Reshape", w.node.name, {input, w.graph.integers(w.node.name + "_shape", shape)});
}

onnx::NodeProto& shuffle(Writing& w) {
  const Shape& image = w.node.operation.output;
  if (image.size() != 4) refuse(w, "channels of images alone are shuffled");
  const std::int64_t groups = w.node.operation.groups;
  const std::string& name = w.node.name;
  const std::string grouped =
      reshaped(w, name + "_grouped", w.inputs[0], {image[0], groups, image[1] / groups, image[2], image[3]});
  onnx::NodeProto& node = w.graph.node("Transpose", name + "_swapped", {grouped});
  add_integers(node, "perm", {0, 2, 1, 3, 4});
  node.add_output(name + "_swapped");
  return reshape(w, name + "_swapped", image);
}

onnx::NodeProto& pad(Writing& w) {
  std::vector<std::int64_t> pads = w.node.attributes.starts;
  pads.insert(pads.end(), w.node.attributes.ends.begin(), w.node.attributes.ends.end());
  w.inputs.push_back(w.graph.integers(w.node.name + "_pads", pads));
  if (w.node.attributes.mode == "constant") {
    w.inputs.push_back(w.graph.number(w.node.name + "_value", w.node.attributes.alpha));
  }
  onnx::NodeProto& node = w.graph.node("Pad", w.node.name, w.inputs);
  add_text(node, "mode", w.node.attributes.mode);
  return node;
}

onnx::NodeProto& resize(Writing& w) {
  const std::string& mode = w.node.attributes.mode;
  if (mode == "other") refuse(w, "its way of resizing is none that ONNX writing covers");
  w.inputs.insert(w.inputs.end(), {"", "", w.graph.integers(w.node.name + "_sizes", w.node.operation.output)});
  onnx::NodeProto& node = w.graph.node("Resize", w.node.name, w.inputs);
  add_text(node, "mode", mode == "linear_aligned" ? "linear" : mode);
  add_text(node, "coordinate_transformation_mode",
           mode == "nearest"          ? "asymmetric"
           : mode == "linear_aligned" ? "align_corners"
                                      : "half_pixel");
  if (mode == "nearest") add_text(node, "nearest_mode", "floor");
  return node;
}

onnx::NodeProto& reduce(Writing& w) {
  const OperatorSpecification& s = w.node.operation;
  const std::string* type = type_of(s.name, onnx_conversions::reduction_names());
  if (type == nullptr) refuse(w, "ONNX writing does not cover this reduction");
  const bool by_input = s.name == "sum";
  if (by_input) w.inputs.push_back(w.graph.integers(w.node.name + "_axes", w.node.attributes.axes));
  onnx::NodeProto& node = w.graph.node(*type, w.node.name, w.inputs);
  if (!by_input) add_integers(node, "axes", w.node.attributes.axes);
  add_integer(node, "keepdims", s.output.size() == s.inputs[0].size() ? 1 : 0);
  return node;
}

onnx::NodeProto& softmax(Writing& w) {
  onnx::NodeProto& node =
      w.graph.node(w.node.operation.name == "log" ? "LogSoftmax" : "Softmax", w.node.name, w.inputs);
  add_integer(node, "axis", w.node.attributes.axes.at(0));
  return node;
}

onnx::NodeProto& transpose(Writing& w) {
  onnx::NodeProto& node = w.graph.node("Transpose", w.node.name, w.inputs);
  add_integers(node, "perm", w.node.attributes.axes);
  return node;
}

}  // namespace

onnx::NodeProto& write_operator(OnnxNodeWriting& w) {
  if (w.node.operation.type != ElementType::float32) {
    refuse(w, "ONNX writing does not cover operators that compute in " + std::string(name(w.node.operation.type)));
  }
  switch (w.node.operation.kind) {
    case OperatorKind::convolution:
    case OperatorKind::transposed_convolution: return convolution(w);
    case OperatorKind::linear: return linear(w);
    case OperatorKind::matrix_product: return w.graph.node("MatMul", w.node.name, w.inputs);
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
