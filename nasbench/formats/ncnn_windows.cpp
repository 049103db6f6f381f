// Layers of ncnn with windows: convolutions and pools.

#include <algorithm>
#include <cstdint>
#include <utility>

#include "nasbench/formats/ncnn_layer.h"
#include "nasbench/graph/limits.h"
#include "nasbench/support/error.h"

namespace tenshot::nasbench::ncnn {
namespace {

constexpr int same_upper = -233, same_lower = -234;  // for pad_left: as much as keeps the size
constexpr std::int64_t dropped = -233;

bool is_flat(const LayerReader& layer) { return layer.type().find("1D") != std::string::npos; }

/// A signal of channels and steps as an image of one row.
Source as_image(LayerReader& layer, const Source& source) {
  const Shape shape = layer.builder().type(source).shape;
  if (shape.size() == 4) return source;
  if (shape.size() != 3) throw FormatError("it takes an image or a signal, found " + format(shape));
  return layer.builder().reshape(layer.name() + "_image", source, {1, shape[1], 1, shape[2]});
}

Source as_signal(LayerReader& layer, const Source& source) {
  const Shape shape = layer.builder().type(source).shape;
  return layer.builder().reshape(layer.name() + "_signal", source, {1, shape[1], shape[3]});
}

/// Keys of a window's parameters: those of the height follow those of the width unless they are given.
struct WindowKeys {
  std::int64_t kernel, dilation, stride, pad_left, kernel_h, dilation_h, stride_h, pad_top, pad_right, pad_bottom;
};
constexpr WindowKeys convolution_keys = {1, 2, 3, 4, 11, 12, 13, 14, 15, 16};
constexpr WindowKeys pooling_keys = {1, -1, 2, 3, 11, -1, 12, 13, 14, 15};

WindowOptions window_of(const LayerReader& layer, const WindowKeys& keys) {
  WindowOptions window;
  window.kernel.width = layer.whole(keys.kernel, 0);
  window.dilation.width = layer.whole(keys.dilation, 1);
  window.stride.width = layer.whole(keys.stride, 1);
  window.padding.left = layer.whole(keys.pad_left, 0);
  if (is_flat(layer)) {
    window.padding.right = layer.whole(keys.pad_right, window.padding.left);
    return window;
  }
  window.kernel.height = layer.whole(keys.kernel_h, window.kernel.width);
  window.dilation.height = layer.whole(keys.dilation_h, window.dilation.width);
  window.stride.height = layer.whole(keys.stride_h, window.stride.width);
  window.padding.top = layer.whole(keys.pad_top, window.padding.left);
  window.padding.right = layer.whole(keys.pad_right, window.padding.left);
  window.padding.bottom = layer.whole(keys.pad_bottom, window.padding.top);
  return window;
}

void pad_to_same(WindowOptions& window, const Shape& image, bool more_before) {
  window.padding = {};
  require_window(window);
  window.padding = same_padding(image, window, more_before);
}

ConvolutionOptions convolution_options(const LayerReader& layer, const Shape& image) {
  ConvolutionOptions options;
  options.window = window_of(layer, convolution_keys);
  const int pad = options.window.padding.left;
  if (pad == same_upper || pad == same_lower) pad_to_same(options.window, image, pad == same_lower);
  require_window(options.window);
  options.groups = layer.type().find("DepthWise") == std::string::npos ? 1 : layer.whole(7, 1);
  options.bias = layer.whole(5, 0) != 0;
  return options;
}

/// `weights` numbers in the file for so many products of channels in and out.
void require_weights(std::int64_t weights, std::int64_t in, std::int64_t out, const ConvolutionOptions& options) {
  require_groups(options.groups, in, out);
  const double expected = static_cast<double>(in) * static_cast<double>(out) / options.groups *
                          options.window.kernel.height * options.window.kernel.width;
  if (weights == 0 || static_cast<double>(weights) == expected) return;
  throw FormatError(std::to_string(weights) + " weights do not fit " + std::to_string(in) + " channels in and " +
                    std::to_string(out) + " out");
}

}  // namespace

void convolution(LayerReader& layer) {
  const Source image = as_image(layer, layer.source());
  const Shape shape = layer.builder().type(image).shape;
  const ConvolutionOptions options = convolution_options(layer, shape);
  const int channels = layer.whole(0, 0);
  require_weights(layer.whole(6, 0), shape[1], channels, options);
  Source result = layer.builder().convolution(layer.name(), image, channels, options);
  if (is_flat(layer)) result = as_signal(layer, result);
  layer.give_activated(result);
}

/// Convolutions of volumes are no kind of ours: opaque, with ONNX's name and weights.
void volume_convolution(LayerReader& layer) {
  const Shape volume = layer.shape();
  if (volume.size() != 5) throw FormatError("it takes a volume, found " + format(volume));
  const WindowOptions plane = window_of(layer, convolution_keys);
  WindowOptions depth;  // as a window of one column
  depth.kernel.height = layer.whole(21, plane.kernel.width);
  depth.dilation.height = layer.whole(22, plane.dilation.width);
  depth.stride.height = layer.whole(23, plane.stride.width);
  depth.padding.top = layer.whole(24, plane.padding.left);
  depth.padding.bottom = layer.whole(17, depth.padding.top);
  require_window(plane);
  require_window(depth);
  const int units = layer.whole(0, 0), groups = layer.type() == "Convolution3D" ? 1 : layer.whole(7, 1);
  require_groups(groups, volume[1], units);
  const auto positions = [](std::int64_t length, int kernel, int stride, int dilation, int before, int behind) {
    return window_positions(length, kernel, stride, dilation, before, behind, false);
  };
  const Extent &k = plane.kernel, &s = plane.stride, &d = plane.dilation;
  const Padding& p = plane.padding;
  const Shape output = {1, units,
                        positions(volume[2], depth.kernel.height, depth.stride.height, depth.dilation.height,
                                  depth.padding.top, depth.padding.bottom),
                        positions(volume[3], k.height, s.height, d.height, p.top, p.bottom),
                        positions(volume[4], k.width, s.width, d.width, p.left, p.right)};
  require_tensor_size(output);
  NetworkNode node = layer.node(OperatorKind::opaque, output, "Conv");
  node.operation.constants = {{units, volume[1] / groups, depth.kernel.height, k.height, k.width}};
  if (layer.whole(5, 0) != 0) node.operation.constants.push_back({units});
  layer.give_activated(layer.builder().append(std::move(node)));
}

void deconvolution(LayerReader& layer) {
  const Source image = as_image(layer, layer.source());
  const Shape shape = layer.builder().type(image).shape;
  ConvolutionOptions options = convolution_options(layer, shape);
  const int channels = layer.whole(0, 0);
  require_weights(layer.whole(6, 0), shape[1], channels, options);
  Extent more;
  more.width = layer.whole(18, 0);
  more.height = is_flat(layer) ? 0 : layer.whole(19, more.width);
  if (layer.has(20)) {  // the size itself, whatever the padding is
    const WindowOptions& w = options.window;
    const auto surplus = [](std::int64_t wanted, std::int64_t in, int kernel, int stride, int dilation) {
      const std::int64_t given = (in - 1) * stride + std::int64_t{dilation} * (kernel - 1) + 1;
      return static_cast<int>(std::clamp<std::int64_t>(wanted - given, -(1 << 30), 1 << 30));
    };
    const int width = layer.whole(20, 0), height = layer.whole(21, width);
    more.width = surplus(width, shape[3], w.kernel.width, w.stride.width, w.dilation.width);
    if (!is_flat(layer)) more.height = surplus(height, shape[2], w.kernel.height, w.stride.height, w.dilation.height);
    options.window.padding = {};
  }
  Source result = layer.builder().transposed_convolution(layer.name(), image, channels, options, more);
  if (is_flat(layer)) result = as_signal(layer, result);
  layer.give_activated(result);
}

namespace {

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
  enum PadMode { full, valid, upper, lower };
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

}  // namespace tenshot::nasbench::ncnn
