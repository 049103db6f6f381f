// Layers of ncnn that compute element by element, normalise, reduce, keep a state, or look something up.

#include <algorithm>
#include <numeric>

#include "nasbench/formats/ncnn_layer.h"
#include "nasbench/graph/limits.h"
#include "nasbench/support/words.h"

namespace tenshot::nasbench::ncnn {
namespace {

/// The shape in which `shape` broadcasts over `other`, which has more dimensions: a smaller one stands for the
/// outermost, but for a vector that has not as many numbers, which stands for the innermost.
Shape aligned(Shape shape, const Shape& other) {
  if (shape.size() == 2 && other.size() > 2 && shape[1] != other[1]) return shape;
  shape.resize(std::max(shape.size(), other.size()), 1);
  return shape;
}

}  // namespace

void one_function(LayerReader& layer) {
  const std::string& type = layer.type();
  if (type == "ReLU") {
    const double slope = layer.real(0, 0);
    return layer.give(activated(layer, layer.source(), slope == 0 ? 1 : 2, {slope}));
  }
  if (type == "Clip") {
    constexpr double open = 3.4028234663852886e38;
    return layer.give(activated(layer, layer.source(), 3, {layer.real(0, -open), layer.real(1, open)}));
  }
  static const std::map<std::string, std::string> names = lower_cased(
      "Softplus CELU ELU Erf Exp GELU Log Mish SELU Sigmoid TanH AbsVal=absolute BNLL=softplus "
      "HardSigmoid=hard_sigmoid HardSwish=hard_swish Swish=silu Threshold=thresholded_relu UnaryOp=");
  NetworkNode node = same_shape(layer, OperatorKind::activation, names.at(type));
  if (type == "UnaryOp") {
    node.operation.name = layer.one_of(
        {"absolute", "negate", "floor", "ceil", "square", "sqrt",       "rsqrt", "exp",   "log",   "sin",
         "cos",      "tan",    "asin",  "acos", "atan",   "reciprocal", "tanh",  "log10", "round", "truncate"},
        0);
  }
  if (type == "ELU") node.attributes.alpha = layer.real(0, 0.1);
  if (type == "HardSigmoid") {
    node.attributes.alpha = layer.real(0, 0.2);
    node.attributes.beta = layer.real(1, 0.5);
  }
  append(layer, std::move(node));
}

void binary(LayerReader& layer) {
  const int number = layer.whole(0, 0);
  const std::string function = layer.one_of(
      {"", "subtract", "", "divide", "maximum", "minimum", "power", "subtract", "divide", "power", "atan2", "atan2"},
      0);
  const OperatorKind kind = !function.empty() ? OperatorKind::elementwise
                            : number == 0     ? OperatorKind::add
                                              : OperatorKind::multiply;
  const bool reversed = number == 7 || number == 8 || number == 9 || number == 11;
  if (layer.whole(1, 0) != 0 || layer.size() == 1) {
    NetworkNode node = same_shape(layer, kind, function);
    node.attributes.alpha = layer.real(2, 0);
    node.attributes.constant_first = reversed;
    return append(layer, std::move(node));
  }
  const std::array<Shape, 2> shapes = {aligned(layer.shape(0), layer.shape(1)),
                                       aligned(layer.shape(1), layer.shape(0))};
  NetworkNode node = layer.node(kind, broadcast_shape(shapes[0], shapes[1]), function);
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
  Shape channels(layer.shape().size() - 1, 1);  // a number for each, as it broadcasts over the blob
  channels.front() = layer.shape()[1];
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

/// Adds a norm, which may have neither scale nor shift.
static void append_norm(LayerReader& layer, NetworkNode node, bool has_scale) {
  if (!has_scale) node.stored = {{"", 2 * channel_count(node.operation, layer.shape())}};
  append(layer, std::move(node));
}

void normalise(LayerReader& layer) {
  const Shape& shape = layer.shape();
  const std::string& type = layer.type();
  const std::int64_t channels = shape.at(1);
  if (type == "BatchNorm") {
    NetworkNode node = same_shape(layer, OperatorKind::batch_norm);
    node.attributes.alpha = layer.real(1, 0);
    return append(layer, std::move(node));
  }
  if (type == "LayerNorm") {
    const std::int64_t size = layer.whole(0, 0);
    const bool has_scale = layer.whole(2, 1) != 0;
    if (size != shape.back()) {
      return layer.give_opaque(
          "LayerNormalization", shape,
          has_scale ? std::vector<Shape>{{2, std::max<std::int64_t>(size, 1)}} : std::vector<Shape>());
    }
    NetworkNode node = same_shape(layer, OperatorKind::layer_norm);
    node.attributes.alpha = layer.real(1, 0.001);
    node.attributes.axes = {static_cast<std::int64_t>(shape.size()) - 1};
    return append_norm(layer, std::move(node), has_scale);
  }
  const int groups = type == "GroupNorm" ? layer.whole(0, 1) : static_cast<int>(channels);
  require_groups(groups, channels, channels);
  NetworkNode node = same_shape(layer, OperatorKind::group_norm);
  node.operation.groups = groups;
  node.attributes.alpha = layer.real(type == "GroupNorm" ? 2 : 1, 0.001);
  append_norm(layer, std::move(node), layer.whole(type == "GroupNorm" ? 3 : 2, 1) != 0);
}

void same_shape_opaque(LayerReader& layer) {
  static const std::map<std::string, std::string> names = lower_cased(
      "CumulativeSum=CumSum MVN=MeanVarianceNormalization Normalize=LpNormalization RMSNorm=RMSNormalization "
      "RotaryEmbed=RotaryEmbedding");
  const std::string& type = layer.type();
  const std::int64_t scales = type == "Normalize"                           ? layer.whole(3, 0)
                              : type == "RMSNorm" && layer.whole(2, 1) != 0 ? layer.whole(0, 0)
                                                                            : 0;
  const auto onnx = names.find(type);
  layer.give_opaque(onnx == names.end() ? type : onnx->second, layer.shape(),
                    scales > 1 ? std::vector<Shape>{{scales}} : std::vector<Shape>());
}

void softmax(LayerReader& layer) {
  NetworkNode node = same_shape(layer, OperatorKind::softmax);
  node.attributes.axes = {layer.axis(layer.whole(0, 0))};
  append(layer, std::move(node));
}

void reduce(LayerReader& layer) {
  const char* name = layer.one_of(
      {"sum", "l1", "sum_square", "mean", "max", "min", "product", "l1", "l2", "log_sum", "log_sum_exp"}, 0);
  const Shape& from = layer.shape();
  std::vector<std::int64_t> axes;
  for (const std::int64_t axis : layer.list(3)) axes.push_back(layer.axis(axis));
  if (layer.whole(1, 1) != 0) {
    axes.resize(from.size() - 1);
    std::iota(axes.begin(), axes.end(), 1);
  }
  const bool keeps = layer.whole(4, 0) != 0;
  Shape shape;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const bool reduced = std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(i)) != axes.end();
    if (!reduced || keeps) shape.push_back(reduced ? 1 : from[i]);
  }
  if (shape.size() < 2) shape.push_back(1);
  std::sort(axes.begin(), axes.end());
  NetworkNode node = layer.node(OperatorKind::reduce, shape);
  node.inputs = {layer.source()};
  node.operation.constants.clear();
  set_reduction(node, name, std::move(axes), from.size() == 4);
  append(layer, std::move(node));
}

/// One layer over a sequence of steps: {1, steps, width}.
void recurrent(LayerReader& layer) {
  const Shape& shape = layer.shape();
  if (shape.size() != 3) reject({"it takes steps of a width, found ", shape});
  const std::int64_t gates = layer.type() == "LSTM" ? 4 : layer.type() == "GRU" ? 3 : 1;
  const std::int64_t units = layer.whole(0, 0),
                     hidden = layer.type() == "LSTM" ? layer.whole(3, layer.whole(0, 0)) : units;
  const std::int64_t directions = layer.whole(2, 0) == 2 ? 2 : 1;
  if (units < 1 || hidden < 1) throw FormatError("it has no units");
  std::vector<Shape> weights = {{directions, gates * hidden, shape[2]},
                                {directions, gates * hidden, units},
                                {directions, (layer.type() == "GRU" ? 4 : gates) * hidden}};
  if (hidden != units) weights.push_back({directions, units, hidden});
  std::vector<Shape> states = {{1, directions, units}, {1, directions, hidden}};  // behind the last step
  states.resize(std::clamp<std::size_t>(layer.outputs(), 1, 3) - 1);
  layer.give_opaque(layer.type(), {1, shape[1], directions * units}, std::move(weights), states);
}

void embed(LayerReader& layer) {
  const std::int64_t width = std::max(1, layer.whole(0, 0));
  std::vector<Shape> weights = {{std::max(1, layer.whole(1, 1)), width}};
  if (layer.whole(2, 0) != 0) weights.push_back({width});
  layer.give_opaque("Gather", {1, layer.shape().back(), width}, std::move(weights));
}

}  // namespace tenshot::nasbench::ncnn
