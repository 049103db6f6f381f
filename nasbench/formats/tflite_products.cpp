// Operators of TensorFlow Lite with windows or products.

#include <algorithm>
#include <utility>

#include "nasbench/formats/tflite_operation.h"
#include "nasbench/graph/limits.h"
#include "nasbench/support/error.h"

namespace tenshot::nasbench::tflite {
namespace {

constexpr int same = 0;  // Padding

/// Numbers of the options of a window in the schema.
struct WindowOptionNumbers {
  int padding, stride_w, stride_h, activation, dilation_w, dilation_h;
};
constexpr WindowOptionNumbers convolution_numbers = {0, 1, 2, 3, 4, 5};
constexpr WindowOptionNumbers depthwise_numbers = {0, 1, 2, 4, 5, 6};
constexpr int no_option = 1000;  // beyond every table: it has its default

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
  throw FormatError("it takes an image of four dimensions, found " + format(op.shape(input)));
}

/// The sizes of weights of four dimensions. Throws FormatError of others, and where they are computed.
const Shape& weights_of(const Operation& op, std::size_t input) {
  const Shape& weights = op.shape(input);
  if (!op.is_constant(input)) throw FormatError("its weights are computed");
  if (weights.size() != 4) throw FormatError("its weights have the shape " + format(weights));
  return weights;
}

Extent extent(std::int64_t height, std::int64_t width) {
  constexpr std::int64_t most = 1 << 16;
  return {static_cast<int>(std::clamp<std::int64_t>(height, 0, most + 1)),
          static_cast<int>(std::clamp<std::int64_t>(width, 0, most + 1))};
}

}  // namespace

/// Weights are units × height × width × channels; of depthwise ones 1 × height × width × units.
void convolution(Operation& op) {
  require_image(op);
  const bool depthwise = op.code() == code::depthwise_conv_2d;
  if (!depthwise && op.is_computed(1)) return opaque(op);
  const WindowOptionNumbers& numbers = depthwise ? depthwise_numbers : convolution_numbers;
  const Shape& weights = weights_of(op, 1);
  const std::int64_t channels = op.shape()[1], units = weights[depthwise ? 3 : 0];
  if (!depthwise && (weights[3] < 1 || channels % weights[3] != 0)) {
    throw FormatError("weights of " + format(weights) + " do not fit " + std::to_string(channels) + " channels");
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
  if (wanted.size() != 4) throw FormatError("its output has the shape " + format(wanted));
  options.window.stride =
      custom ? extent(wanted[2] / image[2], wanted[3] / image[3]) : Extent{op.whole(2), op.whole(1)};
  options.bias = op.has(custom ? 2 : 3);
  require_window(options.window);
  if (weights[3] != image[1]) {
    throw FormatError("weights of " + format(weights) + " do not fit " + std::to_string(image[1]) + " channels");
  }
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
  if (weights.size() != 5) throw FormatError("its weights have the shape " + format(weights));
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

static Source swapped(Operation& op, const Source& source, const char* part) {
  return op.builder().swap_last(op.name() + part, source);
}

/// Weights are units × inputs; the input is a matrix of so many columns, whatever its shape is.
void fully_connected(Operation& op) {
  Source x = op.source();
  const Shape& weights = op.shape(1);
  if (weights.size() != 2) throw FormatError("its weights have the shape " + format(weights));
  const std::int64_t in = weights[1], units = weights[0], all = element_count(op.shape());
  if (op.shape().empty() || in < 1 || units < 1 || all % in != 0) {
    throw FormatError("weights of " + format(weights) + " do not fit an input of " + format(op.shape()));
  }
  const bool as_it_is = op.shape().back() == in && (op.shape().size() == 2 || op.flag(2));
  if (!as_it_is) x = op.builder().reshape(op.name() + "_rows", x, {all / in, in});
  const Source result = op.is_constant(1)
                            ? op.builder().linear(op.name(), x, units, op.has(2))
                            : op.builder().matrix_product(op.name(), x, swapped(op, op.source(1), "_transposed"));
  if (op.builder().type(result).shape == op.output().shape) return op.give_activated(result, op.small(0));
  const Shape wanted = op.output().shape;
  if (element_count(wanted) != element_count(op.builder().type(result).shape)) {
    throw FormatError("its output of " + format(wanted) + " is not what it computes");
  }
  op.give_activated(op.builder().reshape(op.name() + "_shape", result, wanted), op.small(0));
}

void matrix_product(Operation& op) {
  const bool several = op.is_constant(1) && op.shape(1).size() > 2 &&
                       element_count(op.shape(1)) > op.shape(1).back() * op.shape(1)[op.shape(1).size() - 2];
  if (op.is_constant(0) || several) return opaque(op);
  if (op.shape().empty()) throw FormatError("it multiplies a scalar");
  const Source left = op.flag(0) ? swapped(op, op.source(0), "_left") : op.source(0);
  if (op.is_computed(1)) {
    const Source right = op.flag(1) ? swapped(op, op.source(1), "_right") : op.source(1);
    return op.give(op.builder().matrix_product(op.name(), left, right));
  }
  const Shape& weights = op.shape(1);
  if (weights.size() < 2) throw FormatError("its weights have the shape " + format(weights));
  const std::int64_t inner = weights[weights.size() - (op.flag(1) ? 1 : 2)];
  if (op.builder().type(left).shape.back() != inner) {
    throw FormatError("weights of " + format(weights) + " do not fit " + format(op.shape()));
  }
  op.give(op.builder().linear(op.name(), left, weights[weights.size() - (op.flag(1) ? 2 : 1)], false));
}

}  // namespace tenshot::nasbench::tflite
