// Operators of TensorFlow Lite that compute, and those that stay opaque; what moves numbers alone is in tflite_shapes.

#include <algorithm>

#include "nasbench/formats/tflite_operation.h"
#include "nasbench/graph/limits.h"
#include "nasbench/support/error.h"

namespace tenshot::nasbench::tflite {
namespace {

/// Numbers of the options of a window in the schema.
struct WindowOptionNumbers {
  int padding, stride_w, stride_h, activation, dilation_w, dilation_h;
};
constexpr WindowOptionNumbers convolution_numbers = {0, 1, 2, 3, 4, 5};
constexpr WindowOptionNumbers depthwise_numbers = {0, 1, 2, 4, 5, 6};
constexpr int no_option = 1000, same = 0;  // beyond every table, so that it has its default; a Padding

WindowOptions window_of(const Operation& op, const WindowOptionNumbers& numbers, const Extent& kernel) {
  WindowOptions window;
  window.kernel = kernel;
  window.stride = {op.whole(numbers.stride_h), op.whole(numbers.stride_w)};
  window.dilation = {op.whole(numbers.dilation_h, 1), op.whole(numbers.dilation_w, 1)};
  require_window(window);
  if (op.small(numbers.padding) == same) window.padding = same_padding(op.shape(), window);
  return window;
}

void require_image(const Operation& op, std::size_t input = 0) {
  if (op.input(input).image && op.shape(input).size() == 4) return;
  reject({"it takes an image of four dimensions, found ", op.shape(input)});
}

/// The sizes of weights of four dimensions. Throws FormatError of others, and where they are computed.
const Shape& weights_of(const Operation& op, std::size_t input) {
  const Shape& weights = op.shape(input);
  if (!op.is_constant(input)) throw FormatError("its weights are computed");
  if (weights.size() != 4) reject({"its weights have the shape ", weights});
  return weights;
}

Extent extent(std::int64_t height, std::int64_t width) {
  constexpr std::int64_t most = 1 << 16;
  return {static_cast<int>(std::clamp<std::int64_t>(height, 0, most + 1)),
          static_cast<int>(std::clamp<std::int64_t>(width, 0, most + 1))};
}

/// The operand that a lower rank broadcasts from behind, in the order of an image.
Source over_image(Operation& op, std::size_t input) {
  Shape whole = op.shape(input);
  whole.insert(whole.begin(), 4 - whole.size(), 1);
  return op.builder().reshape(op.name() + "_aligned", op.source(input), image_shape(whole));
}

/// The weights of one direction of a recurrent layer, the first of which is input `first`, as ONNX has them: 1 × gates
/// and units × inputs, then × outputs, then the biases and the peepholes; a projection is 1 × outputs × units. Of an
/// LSTM each gate has tensors of its own, the first of each four being left out where it is coupled. The weights of an
/// auxiliary input, from input `auxiliary` on, stand beside those of the input.
std::vector<Shape> direction_of(const Operation& op, std::size_t first, std::size_t gates, std::size_t auxiliary) {
  const bool lstm = gates > 1;
  const std::size_t biases = first + (lstm ? 11 : 2), peepholes = first + 8, projection = first + 15;
  std::vector<Shape> weights;
  for (const std::size_t begin : {first, first + gates}) {
    Shape all = {1, 0, 0};
    for (std::size_t i = begin; i < begin + gates; ++i) {
      if (!op.is_constant(i) || op.shape(i).size() != 2) continue;
      all[1] += op.shape(i)[0];
      all[2] = op.shape(i)[1];
    }
    if (all[1] < 1 || all[2] < 1) throw FormatError("it has no weights");
    weights.push_back(std::move(all));
  }
  const std::size_t last_auxiliary = auxiliary + gates - 1;
  if (op.is_constant(last_auxiliary) && op.shape(last_auxiliary).size() == 2)
    weights[0][2] += op.shape(last_auxiliary)[1];
  const auto add_vectors = [&](std::size_t begin, std::size_t end) {
    std::int64_t numbers = 0;
    for (std::size_t i = begin; i < end; ++i) numbers += op.is_constant(i) ? element_count(op.shape(i)) : 0;
    if (numbers > 0) weights.push_back({1, numbers});
  };
  add_vectors(biases, biases + gates);
  if (lstm) add_vectors(peepholes, biases);
  if (lstm && op.is_constant(projection) && op.shape(projection).size() == 2) {
    weights.push_back({1, op.shape(projection)[0], op.shape(projection)[1]});
    add_vectors(projection + 1, projection + 2);
  }
  return weights;
}

void give_all(Operation& op, NetworkNode node) {
  for (std::size_t i = 1; i < op.outputs(); ++i) node.outputs.push_back({op.output(i).shape, op.output_type(i)});
  op.give(op.builder().append(std::move(node)));
  for (std::size_t i = 1; i < op.outputs(); ++i) op.give({op.given().front().node, static_cast<int>(i)});
}

}  // namespace

void function(Operation& op) {
  NetworkNode node = op.lone_node(OperatorKind::activation, op.shape(), rule_of(op.code(), "")->name);
  OperatorAttributes& attributes = node.attributes;
  if (op.code() == code::leaky_relu) attributes.alpha = op.real(0);
  if (op.code() == code::elu || op.code() == code::relu_n1_to_1) attributes.alpha = op.code() == code::elu ? 1 : -1;
  if (op.code() == code::relu_n1_to_1 || op.code() == code::relu_0_to_1) attributes.beta = 1;
  op.append(std::move(node));
}

/// Operations of two tensors or more, or of one and a constant.
void pair(Operation& op) {
  const OperatorKind kind = op.code() == code::add || op.code() == code::add_n ? OperatorKind::add
                            : op.code() == code::mul                           ? OperatorKind::multiply
                                                                               : OperatorKind::elementwise;
  const Shape wanted = op.output().shape;
  const Shape file = inferred_shapes(op)->front();  // of all inputs, in the order of the file
  const Shape shape = op.output().image ? image_shape(file) : file;
  NetworkNode node = op.node(kind, wanted, kind == OperatorKind::elementwise ? rule_of(op.code(), "")->name : "");
  node.inputs.clear();
  for (std::size_t i = 0; i < op.size(); ++i) {
    if (!op.has(i)) continue;
    if (!op.is_constant(i)) {
      const bool smaller = op.output().image && op.shape(i).size() < 4;
      node.inputs.push_back(smaller ? over_image(op, i) : op.source(i));
    } else if (element_count(op.shape(i)) == 1) {
      const std::optional<std::vector<std::int64_t>> number = op.few_numbers(i);
      node.attributes.alpha = number && !number->empty() ? static_cast<double>(number->front()) : 1;
    }
    if (op.is_constant(i)) node.attributes.constant_first = i == 0 && kind == OperatorKind::elementwise;
  }
  if (element_count(shape) != element_count(wanted)) node.outputs[0].shape = shape;
  const bool activates =
      op.code() == code::add || op.code() == code::mul || op.code() == code::sub || op.code() == code::div;
  op.give_activated(op.builder().append(std::move(node)), activates ? op.small(0) : 0);
}

void softmax(Operation& op) {
  NetworkNode node = op.node(OperatorKind::softmax, op.shape(), op.code() == code::log_softmax ? "log" : "");
  node.attributes.axes = {op.axis(-1)};
  op.append(std::move(node));
}

void reduce(Operation& op) {
  std::vector<std::int64_t> axes;
  for (const std::int64_t axis : op.numbers(1)) axes.push_back(op.axis(axis));
  std::sort(axes.begin(), axes.end());
  NetworkNode node = op.node(OperatorKind::reduce, op.output().shape);
  node.inputs = {op.source()};
  set_reduction(node, rule_of(op.code(), "")->name, std::move(axes), op.input(0).image);
  op.append(std::move(node));
}

/// A layer with a state, over a sequence or of one step; SVDF has a matrix over features and one over time. The basic
/// kernel of an LSTM, of one step, has one matrix over its input and its last output.
void recurrent(Operation& op) {
  const std::int32_t code = op.code();
  constexpr int kernel_type = 3;
  const bool basic = code == code::lstm && op.small(kernel_type) == 1;
  const bool lstm = code == code::lstm || code == code::sequence_lstm || code == code::two_way_lstm;
  NetworkNode node = op.lone_node(OperatorKind::opaque, op.output().shape, op.type());
  std::vector<Shape>& weights = node.operation.constants;
  if (basic) {
    if (op.shape(2).size() != 2) reject({"its weights have the shape ", op.shape(2)});
    weights = {{1, op.shape(2)[0], op.shape(2)[1]}, op.shape(3)};
    return give_all(op, std::move(node));
  }
  const std::size_t gates = lstm ? 4 : 1, auxiliary = lstm ? 39 : 9;
  weights = direction_of(op, 1, gates, auxiliary + 1);
  if (code == code::two_way_lstm || code == code::two_way_rnn) {
    const std::vector<Shape> back = direction_of(op, lstm ? 18 : 5, gates, auxiliary + 1 + gates);
    if (op.is_computed(auxiliary)) node.inputs.push_back(op.source(auxiliary));
    if (back != weights) throw FormatError("its directions have weights of different shapes");
    for (Shape& shape : weights) shape.front() = 2;
  }
  give_all(op, std::move(node));
}

void opaque(Operation& op) { give_all(op, op.node(OperatorKind::opaque, op.output().shape, op.type())); }

/// Weights are units × height × width × channels; of depthwise ones 1 × height × width × units.
void convolution(Operation& op) {
  require_image(op);
  const bool depthwise = op.code() == code::depthwise_conv_2d;
  if (!depthwise && op.is_computed(1)) return opaque(op);
  const WindowOptionNumbers& numbers = depthwise ? depthwise_numbers : convolution_numbers;
  const Shape& weights = weights_of(op, 1);
  const std::int64_t channels = op.shape()[1], units = weights[depthwise ? 3 : 0];
  if (!depthwise && (weights[3] < 1 || channels % weights[3] != 0)) {
    reject({"weights of ", weights, " do not fit ", channels, " channels"});
  }
  const std::int64_t groups = depthwise ? channels : channels / weights[3];
  require_groups(groups, channels, units);
  ConvolutionOptions options;
  options.window = window_of(op, numbers, extent(weights[1], weights[2]));
  options.groups = static_cast<int>(groups);
  options.bias = op.has(2);
  op.give_activated(op.builder().convolution(op.name(), op.source(), units, options), op.small(numbers.activation));
}

/// Inputs are the output's shape, weights (units × height × width × channels), the image and a bias; of MediaPipe's own
/// operator the image, weights and a bias, and its steps are those that give the output.
void transposed_convolution(Operation& op) {
  const bool custom = op.code() == code::custom;
  const std::size_t input = custom ? 0 : 2;
  require_image(op, input);
  const Shape& weights = weights_of(op, 1);
  const Shape image = op.shape(input), wanted = op.output().shape;
  ConvolutionOptions options;
  options.window.kernel = extent(weights[1], weights[2]);
  if (wanted.size() != 4) reject({"its output has the shape ", wanted});
  options.window.stride =
      custom ? extent(wanted[2] / image[2], wanted[3] / image[3]) : Extent{op.whole(2), op.whole(1)};
  options.bias = op.has(custom ? 2 : 3);
  require_window(options.window);
  if (weights[3] != image[1]) reject({"weights of ", weights, " do not fit ", image[1], " channels"});
  require_groups(1, image[1], weights[0]);
  const auto surplus = [](std::int64_t in, std::int64_t out, const AxisWindow& axis) {
    return static_cast<int>(std::clamp<std::int64_t>(stretched_length(in, axis) - out, -(1 << 16), 1 << 16));
  };
  const auto [rows, columns] = axes_of(options.window);
  const int height = surplus(image[2], wanted[2], rows), width = surplus(image[3], wanted[3], columns);
  const int cut_height = std::max(0, height), cut_width = std::max(0, width);
  options.window.padding = {cut_height / 2, cut_width / 2, cut_height - cut_height / 2, cut_width - cut_width / 2};
  const Extent more = {std::max(0, -height), std::max(0, -width)};
  const Source result = op.builder().transposed_convolution(op.name(), op.source(input), weights[0], options, more);
  op.give_activated(result, custom ? 0 : op.small(3));
}

/// Convolutions of volumes are no kind of ours: opaque, with weights in ONNX's order. The file's are depth × height ×
/// width × channels × units, of transposed ones, whose first input is the output's shape, units × channels.
void volume_convolution(Operation& op) {
  const bool transposed = op.code() != code::conv_3d;
  const Shape& weights = op.shape(1);
  if (weights.size() != 5) reject({"its weights have the shape ", weights});
  NetworkNode node = op.lone_node(OperatorKind::opaque, op.output().shape, op.type(), transposed ? 2 : 0);
  node.operation.constants = {{weights[4], weights[3], weights[0], weights[1], weights[2]}};
  if (op.has(transposed ? 3 : 2)) node.operation.constants.push_back({weights[transposed ? 3 : 4]});
  op.give_activated(op.builder().append(std::move(node)), op.small(4));
}

void pool(Operation& op) {
  require_image(op);
  constexpr WindowOptionNumbers numbers = {0, 1, 2, 5, no_option, no_option};
  constexpr int filter_width = 3, filter_height = 4;
  PoolOptions options;
  options.window = window_of(op, numbers, extent(op.whole(filter_height), op.whole(filter_width)));
  const Source result = op.code() == code::max_pool_2d ? op.builder().max_pool(op.name(), op.source(), options)
                                                       : op.builder().average_pool(op.name(), op.source(), options);
  op.give_activated(result, op.small(numbers.activation));
}

/// Weights are units × inputs; the input is a matrix of so many columns, whatever its shape is.
void fully_connected(Operation& op) {
  Source x = op.source();
  const Shape& weights = op.shape(1);
  if (weights.size() != 2) reject({"its weights have the shape ", weights});
  const std::int64_t in = weights[1], units = weights[0], all = element_count(op.shape());
  if (op.shape().empty() || in < 1 || units < 1 || all % in != 0) {
    reject({"weights of ", weights, " do not fit an input of ", op.shape()});
  }
  const bool as_it_is = op.shape().back() == in && (op.shape().size() == 2 || op.flag(2));
  if (!as_it_is) x = op.builder().reshape(op.name() + "_rows", x, {all / in, in});
  const Source result =
      op.is_constant(1)
          ? op.builder().linear(op.name(), x, units, op.has(2))
          : op.builder().matrix_product(op.name(), x, op.builder().swap_last(op.name() + "_transposed", op.source(1)));
  const Shape& wanted = op.output().shape;
  const bool fits = op.builder().type(result).shape == wanted;
  op.give_activated(fits ? result : op.builder().reshape(op.name() + "_shape", result, wanted), op.small(0));
}

void matrix_product(Operation& op) {
  const bool several = op.is_constant(1) && op.shape(1).size() > 2 &&
                       element_count(op.shape(1)) > op.shape(1).back() * op.shape(1)[op.shape(1).size() - 2];
  if (op.shape().empty()) throw FormatError("it multiplies a scalar");
  const auto factor = [&](std::size_t i, const char* part) {  // an image in the order of the file
    const Source x =
        op.input(i).image ? op.builder().reshape(op.name() + "_rows", op.source(i), op.file_shape(i)) : op.source(i);
    return op.flag(static_cast<int>(i)) ? op.builder().swap_last(op.name() + part, x) : x;
  };
  const auto give = [&op](const Source& x) { return op.output().image ? op.give_reshaped(x) : op.give(x); };
  if (op.is_constant(0) || several) {
    const std::size_t constant = op.is_constant(0) ? 0 : 1;
    NetworkNode node = op.node(OperatorKind::opaque, file_shape(op.output()), op.type());
    node.inputs = {factor(1 - constant, "_factor")};
    for (Shape& weights : node.operation.constants) {
      if (op.flag(static_cast<int>(constant)) && weights.size() > 1)
        std::swap(weights.back(), weights[weights.size() - 2]);
    }
    return give(op.builder().append(std::move(node)));
  }
  const Source left = factor(0, "_left");
  if (op.is_computed(1)) return give(op.builder().matrix_product(op.name(), left, factor(1, "_right")));
  const Shape& weights = op.shape(1);
  if (weights.size() < 2) reject({"its weights have the shape ", weights});
  const std::int64_t inner = weights[weights.size() - (op.flag(1) ? 1 : 2)];
  if (op.builder().type(left).shape.back() != inner) reject({"weights of ", weights, " do not fit ", op.shape()});
  give(op.builder().linear(op.name(), left, weights[weights.size() - (op.flag(1) ? 2 : 1)], false));
}

}  // namespace tenshot::nasbench::tflite
