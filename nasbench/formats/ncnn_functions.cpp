// Layers of ncnn that compute element by element.

#include <utility>

#include "nasbench/formats/ncnn_layer.h"
#include "nasbench/support/words.h"

namespace tenshot::nasbench::ncnn {
namespace {

/// A number for each channel, as it broadcasts over a blob of that shape.
Shape per_channel(const Shape& shape) {
  Shape constant(shape.size() - 1, 1);
  constant.front() = shape[1];
  return constant;
}

const std::map<std::string, std::string>& functions() {
  static const std::map<std::string, std::string> names = lower_cased(
      "Softplus CELU ELU Erf Exp GELU Log Mish SELU Sigmoid TanH AbsVal=absolute BNLL=softplus "
      "HardSigmoid=hard_sigmoid HardSwish=hard_swish Swish=silu Threshold=thresholded_relu");
  return names;
}

/// An operation of two tensors, by the number that BinaryOp has for it.
struct Operation {
  OperatorKind kind;
  const char* function;
};

Operation operation_of(const LayerReader& layer) {
  const int number = layer.whole(0, 0);
  static const std::array<const char*, 12> functions = {"",      "subtract", "",       "divide", "maximum", "minimum",
                                                        "power", "subtract", "divide", "power",  "atan2",   "atan2"};
  const OperatorKind kind = number == 0   ? OperatorKind::add
                            : number == 2 ? OperatorKind::multiply
                                          : OperatorKind::elementwise;
  return {kind, layer.one_of(functions, 0)};
}

/// The shape in which `shape` broadcasts over `other`: a blob of one dimension stands for the channels of a larger one.
Shape aligned(const Shape& shape, const Shape& other) {
  if (shape.size() == 2 && other.size() > 2 && shape[1] == other[1]) {
    Shape result(other.size(), 1);
    result[1] = shape[1];
    return result;
  }
  if (shape.size() == 3 && other.size() == 4 && shape[1] == other[1] && shape[2] == other[2]) {
    return {1, shape[1], shape[2], 1};
  }
  return shape;
}

bool broadcasts(const Shape& a, const Shape& b) {
  try {
    broadcast_shape(a, b);
    return true;
  } catch (const InputError&) {
    return false;
  }
}

}  // namespace

void one_function(LayerReader& layer) {
  static const std::array<const char*, 20> unary = {
      "absolute", "negate", "floor", "ceil", "square", "sqrt",       "rsqrt", "exp",   "log",   "sin",
      "cos",      "tan",    "asin",  "acos", "atan",   "reciprocal", "tanh",  "log10", "round", "truncate"};
  const std::string& type = layer.type();
  if (type == "ReLU") {
    const double slope = layer.real(0, 0);
    return layer.give(activated(layer, layer.source(), slope == 0 ? 1 : 2, {slope}));
  }
  if (type == "Clip") {
    constexpr double open = 3.4028234663852886e38;
    return layer.give(activated(layer, layer.source(), 3, {layer.real(0, -open), layer.real(1, open)}));
  }
  const auto known = functions().find(type);
  NetworkNode node = same_shape(layer, OperatorKind::activation, known == functions().end() ? "" : known->second);
  if (type == "UnaryOp") node.operation.name = layer.one_of(unary, 0);
  if (type == "ELU") node.attributes.alpha = layer.real(0, 0.1);
  if (type == "HardSigmoid") {
    node.attributes.alpha = layer.real(0, 0.2);
    node.attributes.beta = layer.real(1, 0.5);
  }
  append(layer, std::move(node));
}

void binary(LayerReader& layer) {
  const int number = layer.whole(0, 0);
  const Operation operation = operation_of(layer);
  const bool reversed = number == 7 || number == 8 || number == 9 || number == 11;
  if (layer.whole(1, 0) != 0 || layer.size() == 1) {
    NetworkNode node = same_shape(layer, operation.kind, operation.function);
    node.attributes.alpha = layer.real(2, 0);
    node.attributes.constant_first = reversed;
    return append(layer, std::move(node));
  }
  std::array<Shape, 2> shapes = {layer.shape(0), layer.shape(1)};
  if (!broadcasts(shapes[0], shapes[1])) shapes = {aligned(shapes[0], shapes[1]), aligned(shapes[1], shapes[0])};
  NetworkNode node = layer.node(operation.kind, broadcast_shape(shapes[0], shapes[1]), operation.function);
  if (node.inputs.empty()) return layer.give_constant(node.outputs[0].shape);
  if (node.inputs.size() == 1) {
    const std::size_t constant = layer.is_constant(0) ? 0 : 1;
    node.operation.constants = {shapes[constant]};
    node.attributes.constant_first = (constant == 0) != reversed;
    return append(layer, std::move(node));
  }
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    if (shapes[i] == layer.shape(i)) continue;
    node.inputs[i] = layer.builder().reshape(layer.name() + "_aligned", node.inputs[i], shapes[i]);
  }
  if (reversed) std::swap(node.inputs[0], node.inputs[1]);
  append(layer, std::move(node));
}

void element_by_element(LayerReader& layer) {
  const int number = layer.whole(0, 0);  // product, sum, maximum
  Shape shape = layer.shape();
  for (std::size_t i = 1; i < layer.size(); ++i) shape = broadcast_shape(shape, layer.shape(i));
  const OperatorKind kind = number == 0   ? OperatorKind::multiply
                            : number == 1 ? OperatorKind::add
                                          : OperatorKind::elementwise;
  append(layer, layer.node(kind, shape, kind == OperatorKind::elementwise ? "maximum" : ""));
}

void scale(LayerReader& layer) {
  constexpr int by_second_input = -233;
  Source x = layer.source();
  const Shape channels = per_channel(layer.shape());
  const auto step = [&](OperatorKind kind, const char* function, double number, std::vector<Shape> constants) {
    NetworkNode node = same_shape(layer, kind, function);
    node.inputs = {x};
    node.operation.constants = std::move(constants);
    node.attributes.alpha = number;
    x = layer.builder().append(std::move(node));
  };
  if (layer.type() == "Power") {  // (shift + x scale)^power
    const double factor = layer.real(1, 1), shift = layer.real(2, 0), power = layer.real(0, 1);
    if (factor != 1) step(OperatorKind::multiply, "", factor, {});
    if (shift != 0) step(OperatorKind::add, "", shift, {});
    if (power != 1) step(OperatorKind::elementwise, "power", power, {});
  } else if (layer.type() == "PReLU") {
    const bool shared = layer.whole(0, 0) <= 1;
    step(OperatorKind::elementwise, "prelu", shared ? 0.25 : 0,
         shared ? std::vector<Shape>() : std::vector<Shape>{channels});
  } else if (layer.type() == "Scale" && layer.whole(0, 0) == by_second_input) {
    NetworkNode node = layer.node(OperatorKind::multiply, layer.shape());
    const Shape second = aligned(layer.shape(1), layer.shape(0));
    node.inputs = {x, layer.builder().reshape(layer.name() + "_aligned", layer.source(1), second)};
    x = layer.builder().append(std::move(node));
  } else {  // Bias, Scale and the bias of Scale
    const bool scales = layer.type() == "Scale";
    if (scales) step(OperatorKind::multiply, "", 0, {channels});
    if (!scales || layer.whole(1, 0) != 0) step(OperatorKind::add, "", 0, {channels});
  }
  layer.give(x);
}

}  // namespace tenshot::nasbench::ncnn
