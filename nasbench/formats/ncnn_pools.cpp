#include <algorithm>
#include <utility>

#include "nasbench/formats/ncnn_windows.h"

namespace tenshot::nasbench::ncnn {
namespace {

constexpr std::int64_t dropped = -233;
enum PadMode { full, valid, upper, lower };
constexpr WindowKeys pooling_keys = {{{1, -1, 2, 3, 14}, {11, -1, 12, 13, 15}, {21, -1, 22, 23, 16}}};

Source global_pool(LayerReader& layer, const Source& image, bool maximum, bool keep_positions) {
  const Shape shape = layer.builder().type(image).shape;
  NetworkNode node = layer.node(OperatorKind::global_pool,
                                keep_positions ? Shape{1, shape[1], 1, 1} : Shape{1, shape[1]}, maximum ? "max" : "");
  node.inputs = {image};
  return layer.builder().append(std::move(node));
}

/// Windows of equal size that cover the image, as near as they can be.
Source adaptive_pool(LayerReader& layer, const Source& image, bool maximum) {
  const Shape shape = layer.builder().type(image).shape;
  const int asked_w = layer.whole(8, 0), asked_h = is_flat(layer) ? 1 : layer.whole(18, asked_w);
  const std::int64_t w = asked_w == dropped ? shape[3] : asked_w, h = asked_h == dropped ? shape[2] : asked_h;
  if (w == 1 && h == 1) return global_pool(layer, image, maximum, true);
  if (w < 1 || h < 1 || w > shape[3] || h > shape[2]) throw FormatError("it cannot give an image of that size");
  NetworkNode node = layer.node(maximum ? OperatorKind::max_pool : OperatorKind::average_pool, {1, shape[1], h, w});
  const auto stride = [](std::int64_t in, std::int64_t out) { return static_cast<int>(in / out); };
  const auto kernel = [&](std::int64_t in, std::int64_t out) {
    return static_cast<int>(in - (out - 1) * stride(in, out));
  };
  node.inputs = {image};
  node.operation.stride = {stride(shape[2], h), stride(shape[3], w)};
  node.operation.kernel = {kernel(shape[2], h), kernel(shape[3], w)};
  return layer.builder().append(std::move(node));
}

/// With "full" padding ncnn adds zeros behind until the last window fits.
void pad_behind(WindowOptions& window, const Shape& image) {
  const auto missing = [](std::int64_t length, int kernel, int stride, int zeros) {
    const std::int64_t room = length + zeros - kernel;
    return room < 0 || room % stride == 0 ? 0 : static_cast<int>(stride - room % stride);
  };
  window.padding.bottom +=
      missing(image[2], window.kernel.height, window.stride.height, window.padding.top + window.padding.bottom);
  window.padding.right +=
      missing(image[3], window.kernel.width, window.stride.width, window.padding.left + window.padding.right);
}

}  // namespace

void pooling(LayerReader& layer) {
  const Source image = as_image(layer, layer.source());
  const Shape shape = layer.builder().type(image).shape;
  const bool maximum = layer.whole(0, 0) == 0;
  const auto give = [&](const Source& result) { layer.give(is_flat(layer) ? as_signal(layer, result) : result); };
  if (layer.whole(4, 0) != 0) return layer.give(global_pool(layer, image, maximum, false));
  if (layer.whole(7, 0) != 0) return give(adaptive_pool(layer, image, maximum));
  PoolOptions options;
  options.window = window_of(layer, pooling_keys);
  options.count_padding = layer.whole(6, 0) != 0;
  const int mode = layer.whole(5, full);
  if (mode == upper || mode == lower) pad_to_same(options.window, shape, mode == lower);
  require_window(options.window);
  if (mode == full) {
    const WindowOptions given = options.window;
    pad_behind(options.window, shape);
    // Where the rule of other runtimes gives the same positions, it says the same without zeros.
    const auto positions = [&](const WindowOptions& w, bool ceil) {
      return std::pair(
          window_positions(shape[2], w.kernel.height, w.stride.height, 1, w.padding.top, w.padding.bottom, ceil),
          window_positions(shape[3], w.kernel.width, w.stride.width, 1, w.padding.left, w.padding.right, ceil));
    };
    if (positions(given, true) == positions(options.window, false)) {
      options.ceil_mode = !(given.padding == options.window.padding);
      options.window = given;
    }
  }
  give(maximum ? layer.builder().max_pool(layer.name(), image, options)
               : layer.builder().average_pool(layer.name(), image, options));
}

/// Statistics of each channel, the mean and perhaps the deviation, or the parts of a pyramid of 1, 4, 16 and so on.
void statistics(LayerReader& layer) {
  const int levels = layer.type() == "SPP" ? std::clamp(layer.whole(1, 1), 1, 16) : 0;
  std::int64_t parts = levels > 0 ? 0 : layer.whole(0, 0) != 0 ? 2 : 1;
  for (int level = 0; level < levels; ++level) parts += std::int64_t{1} << 2 * level;
  layer.give_opaque(layer.type(), {1, layer.shape().at(1) * parts});
}

/// As of ONNX, pools of volumes are no kind of ours.
void volume_pooling(LayerReader& layer) {
  const bool maximum = layer.whole(0, 0) == 0, adapts = layer.whole(7, 0) != 0;
  if (layer.whole(4, 0) != 0) return layer.give(global_pool(layer, layer.source(), maximum, false));
  const int mode = layer.whole(5, full), width = layer.whole(8, 0);
  Shape shape = layer.shape();
  const std::array<int, 3> sizes = {layer.whole(28, width), layer.whole(18, width), width};
  if (!adapts) {
    shape = volume_shape(layer, shape.at(1), pooling_keys, [&](std::int64_t length, const AxisWindow& axis) {
      if (mode > valid) return (length + axis.stride - 1) / axis.stride;
      return positions(length + (mode == full ? axis.stride - 1 : 0), axis);
    });
  }
  for (std::size_t i = 2; adapts && i < std::min<std::size_t>(shape.size(), 5); ++i) {
    if (sizes[i - 2] != dropped) shape[i] = sizes[i - 2];
  }
  layer.give_opaque(maximum ? "MaxPool" : "AveragePool", shape);
}

}  // namespace tenshot::nasbench::ncnn
