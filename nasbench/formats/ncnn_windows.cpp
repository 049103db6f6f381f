// Layers of ncnn that move a window over an image, a signal or a volume.

#include <algorithm>

#include "nasbench/formats/ncnn_layer.h"
#include "nasbench/graph/limits.h"

namespace tenshot::nasbench::ncnn {
namespace {

/// Keys of a window's parameters along an axis. Height and depth follow the width unless they are given.
struct AxisKeys {
  std::int64_t kernel, dilation, stride, before, behind;
};
using WindowKeys = std::array<AxisKeys, 3>;  // of width, height and depth

constexpr WindowKeys convolution_keys = {{{1, 2, 3, 4, 15}, {11, 12, 13, 14, 16}, {21, 22, 23, 24, 17}}};
constexpr WindowKeys pooling_keys = {{{1, -1, 2, 3, 14}, {11, -1, 12, 13, 15}, {21, -1, 22, 23, 16}}};
constexpr int same_upper = -233, same_lower = -234;  // for pad_left: as much as keeps the size
constexpr std::int64_t dropped = -233;
enum PadMode { full, valid, upper, lower };

bool is_flat(const LayerReader& layer) { return layer.type().find("1D") != std::string::npos; }

/// The layer's input; a signal of channels and steps as an image of one row.
Source as_image(LayerReader& layer) {
  const Shape& shape = layer.shape();
  if (shape.size() == 4) return layer.source();
  if (shape.size() != 3) reject({"it takes an image or a signal, found ", shape});
  return layer.builder().reshape(layer.name() + "_image", layer.source(), {1, shape[1], 1, shape[2]});
}

Source as_signal_if_flat(LayerReader& layer, const Source& image) {
  if (!is_flat(layer)) return image;
  const Shape shape = layer.builder().type(image).shape;
  return layer.builder().reshape(layer.name() + "_signal", image, {1, shape[1], shape[3]});
}

std::array<AxisWindow, 3> axis_windows(const LayerReader& layer, const WindowKeys& keys) {
  std::array<AxisWindow, 3> axes = {};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const AxisWindow usual = i == 0 ? AxisWindow{0} : axes[0];  // no kernel is usual; height and depth follow the width
    const int before = layer.whole(keys[i].before, usual.before);
    axes[i] = {layer.whole(keys[i].kernel, usual.kernel), layer.whole(keys[i].stride, usual.stride),
               layer.whole(keys[i].dilation, usual.dilation), before, layer.whole(keys[i].behind, before)};
  }
  return axes;
}

WindowOptions window_of(const LayerReader& layer, const WindowKeys& keys) {
  auto [w, h, depth] = axis_windows(layer, keys);
  if (is_flat(layer)) h = {};
  return {
      {h.kernel, w.kernel}, {h.stride, w.stride}, {h.before, w.before, h.behind, w.behind}, {h.dilation, w.dilation}};
}

/// Gives the window the padding that keeps the image's size. An odd zero stands before or behind.
void pad_to_same(WindowOptions& window, const Shape& image, bool more_before) {
  window.padding = {};
  require_window(window);
  window.padding = same_padding(image, window, more_before);
}

/// `extent` of each dimension of a volume and of the window along it.
template <class Extent>
Shape volume_shape(const LayerReader& layer, std::int64_t channels, const WindowKeys& keys, const Extent& extent) {
  const Shape& volume = layer.shape();
  if (volume.size() != 5) reject({"it takes a volume, found ", volume});
  Shape shape = {1, channels};
  for (std::size_t i = 2; i < volume.size(); ++i) {
    const AxisWindow axis = axis_windows(layer, keys)[4 - i];
    require_window({{axis.kernel, 1}, {axis.stride, 1}, {axis.before, 0, axis.behind, 0}, {axis.dilation, 1}});
    shape.push_back(extent(volume[i], axis));
  }
  return shape;
}

int groups_of(const LayerReader& layer) {
  return layer.type().find("DepthWise") == std::string::npos ? 1 : layer.whole(7, 1);
}

/// The weights that a layer reads as its second input, as ONNX has them: channels out, in, height, width, or of a
/// transposed convolution in, out. Empty where they are its own.
Shape weights_read(const LayerReader& layer, std::int64_t key) {
  if (layer.whole(key, 0) == 0) return {};
  Shape weights = layer.shape(1);
  if (is_flat(layer)) weights.insert(weights.end() - 1, 1);
  if (weights.size() != 5) reject({"its second input has to be weights, found ", layer.shape(1)});
  weights.erase(weights.begin());
  return weights;
}

ConvolutionOptions convolution_options(const LayerReader& layer, const Shape& image, const Shape& weights) {
  ConvolutionOptions options;
  options.window = window_of(layer, convolution_keys);
  if (!weights.empty()) options.window.kernel = {static_cast<int>(weights[2]), static_cast<int>(weights[3])};
  const int pad = options.window.padding.left;
  if (pad == same_upper || pad == same_lower) pad_to_same(options.window, image, pad == same_lower);
  require_window(options.window);
  options.groups = groups_of(layer);
  options.bias = layer.whole(5, 0) != 0;
  return options;
}

/// `weights` numbers in the file for so many products of channels in and out.
void require_weights(std::int64_t weights, std::int64_t in, std::int64_t out, const ConvolutionOptions& options) {
  require_groups(options.groups, in, out);
  const double expected = static_cast<double>(in) * static_cast<double>(out) / options.groups *
                          options.window.kernel.height * options.window.kernel.width;
  if (weights == 0 || static_cast<double>(weights) == expected) return;
  reject({weights, " weights do not fit ", in, " channels in and ", out, " out"});
}

/// The shape of what `plain` makes of the image.
template <class Plain>
Shape shape_of(LayerReader& layer, const Source& image, const Plain& plain) {
  NetworkBuilder builder;
  const Source result = plain(builder, builder.input("image", layer.builder().type(image).shape));
  return builder.type(result).shape;
}

/// Gives what `plain` makes of the image; a convolution of ONNX's name where its weights are computed.
template <class Plain>
void give_convolved(LayerReader& layer, const Source& image, const Shape& weights, const char* name,
                    const Plain& plain) {
  if (weights.empty() || layer.is_constant(1)) {
    return layer.give_activated(as_signal_if_flat(layer, plain(layer.builder(), image)));
  }
  NetworkNode node = layer.node(OperatorKind::opaque, shape_of(layer, image, plain), name);
  node.operation.constants.clear();
  node.inputs = {image, layer.builder().reshape(layer.name() + "_weights", layer.source(1), weights)};
  if (layer.size() > 2 && !layer.is_constant(2)) node.inputs.push_back(layer.source(2));
  layer.give_activated(as_signal_if_flat(layer, layer.builder().append(std::move(node))));
}

Source global_pool(LayerReader& layer, const Source& image, bool maximum, bool keep_positions) {
  const Shape shape = layer.builder().type(image).shape;
  NetworkNode node = layer.node(OperatorKind::global_pool,
                                keep_positions ? Shape{1, shape[1], 1, 1} : Shape{1, shape[1]}, maximum ? "max" : "");
  node.inputs = {image};
  return layer.builder().append(std::move(node));
}

Source adaptive_pool(LayerReader& layer, const Source& image, bool maximum) {
  const Shape shape = layer.builder().type(image).shape;
  const int asked_w = layer.whole(8, 0), asked_h = is_flat(layer) ? 1 : layer.whole(18, asked_w);
  const std::int64_t w = asked_w == dropped ? shape[3] : asked_w, h = asked_h == dropped ? shape[2] : asked_h;
  if (w == 1 && h == 1) return global_pool(layer, image, maximum, true);
  if (w < 1 || h < 1) throw FormatError("it cannot give an image of that size");
  NetworkNode node = layer.node(maximum ? OperatorKind::max_pool : OperatorKind::average_pool, {1, shape[1], h, w});
  node.inputs = {image};
  if (w > shape[3] || h > shape[2]) {  // its windows move by less than a pixel, as no pool of ours does
    node.operation.kind = OperatorKind::opaque;
    node.operation.name = maximum ? "MaxPool" : "AveragePool";
    return layer.builder().append(std::move(node));
  }
  Extent &stride = node.operation.stride, &kernel = node.operation.kernel;
  stride = {static_cast<int>(shape[2] / h), static_cast<int>(shape[3] / w)};
  kernel = {static_cast<int>(shape[2] - (h - 1) * stride.height), static_cast<int>(shape[3] - (w - 1) * stride.width)};
  return layer.builder().append(std::move(node));
}

/// With "full" padding ncnn adds zeros behind until the last window fits.
void pad_behind(WindowOptions& window, const Shape& image) {
  const auto missing = [](std::int64_t length, const AxisWindow& axis) {
    const std::int64_t room = length + axis.before + axis.behind - axis.kernel;
    return room < 0 || room % axis.stride == 0 ? 0 : static_cast<int>(axis.stride - room % axis.stride);
  };
  const auto [rows, columns] = axes_of(window);
  window.padding.bottom += missing(image[2], rows);
  window.padding.right += missing(image[3], columns);
}

}  // namespace

void convolution(LayerReader& layer) {
  const bool of_vector = layer.shape().size() == 2 && layer.type() == "Convolution" && layer.whole(1, 0) == 1;
  if (of_vector && layer.whole(6, 0) != 0) return inner_product(layer);  // as ncnn does
  const Source image = as_image(layer);
  const Shape shape = layer.builder().type(image).shape, weights = weights_read(layer, 19);
  const ConvolutionOptions options = convolution_options(layer, shape, weights);
  const std::int64_t channels = weights.empty() ? layer.whole(0, 0) : weights[0];
  require_weights(weights.empty() ? layer.whole(6, 0) : element_count(weights), shape[1], channels, options);
  give_convolved(layer, image, weights, "Conv", [&](NetworkBuilder& builder, const Source& from) {
    return builder.convolution(layer.name(), from, channels, options);
  });
}

/// Inputs are the image, how far each weight is moved at each position, and perhaps how much it counts there.
void deformable_convolution(LayerReader& layer) {
  const Source image = as_image(layer);
  const ConvolutionOptions options = convolution_options(layer, layer.builder().type(image).shape, {});
  const std::int64_t in = layer.shape().at(1), units = layer.whole(0, 0);
  const auto plain = [&](NetworkBuilder& builder, const Source& from) {
    return builder.convolution(layer.name(), from, units, options);
  };
  NetworkNode node = layer.node(OperatorKind::opaque, shape_of(layer, image, plain), "DeformConv");
  node.operation.constants = {{units, in, options.window.kernel.height, options.window.kernel.width}};
  if (options.bias) node.operation.constants.push_back({units});
  layer.give_activated(layer.builder().append(std::move(node)));
}

/// The windows of an image as columns of a matrix; columns as windows that are added up.
void unfold(LayerReader& layer) {
  require_window(window_of(layer, convolution_keys));
  const auto [w, h, depth] = axis_windows(layer, convolution_keys);
  const Shape& from = layer.shape();
  const std::int64_t area = std::int64_t{h.kernel} * w.kernel;
  const bool folds = layer.type() == "Fold";
  require_tensor_size({from[1], area});
  if (folds ? from.size() != 3 || from[1] % area != 0 : from.size() != 4) reject({"its windows do not fit ", from});
  const int width = layer.whole(20, 0);
  if (folds) return layer.give_opaque("Col2Im", {1, from[1] / area, layer.whole(21, width), width});
  layer.give_opaque("Unfold", {1, from[1] * area, window_positions(from[2], h) * window_positions(from[3], w)});
}

/// Convolutions of volumes are no kind of ours: opaque, with ONNX's name and weights.
void volume_convolution(LayerReader& layer) {
  const bool transposed = layer.type().find("Deconvolution") == 0;
  if (layer.whole(transposed ? 28 : 19, 0) != 0) {
    throw FormatError("its weights are computed, which we read of images and signals alone");
  }
  const std::int64_t units = layer.whole(0, 0);
  Shape output = volume_shape(layer, units, convolution_keys, [&](std::int64_t length, const AxisWindow& axis) {
    return transposed ? stretched_length(length, axis) : window_positions(length, axis);
  });
  const int more = layer.whole(18, 0), fixed = layer.whole(25, 0);
  for (std::size_t i = 0; transposed && i < 3; ++i) {
    const auto key = static_cast<std::int64_t>(i);
    output[4 - i] = layer.has(25) ? layer.whole(25 + key, fixed) : output[4 - i] + layer.whole(18 + key, more);
  }
  const std::int64_t in = layer.shape()[1];
  const int groups = groups_of(layer);
  require_groups(groups, in, units);
  NetworkNode node = layer.node(OperatorKind::opaque, output, transposed ? "ConvTranspose" : "Conv");
  const auto [w, h, depth] = axis_windows(layer, convolution_keys);
  node.operation.constants = {
      {transposed ? in : units, (transposed ? units : in) / groups, depth.kernel, h.kernel, w.kernel}};
  if (layer.whole(5, 0) != 0) node.operation.constants.push_back({units});
  layer.give_activated(layer.builder().append(std::move(node)));
}

void deconvolution(LayerReader& layer) {
  const Source image = as_image(layer);
  const Shape shape = layer.builder().type(image).shape, weights = weights_read(layer, 28);
  ConvolutionOptions options = convolution_options(layer, shape, weights);
  const std::int64_t channels = weights.empty() ? layer.whole(0, 0) : weights[1] * options.groups;
  require_weights(weights.empty() ? layer.whole(6, 0) : element_count(weights), shape[1], channels, options);
  Extent more;
  more.width = layer.whole(18, 0);
  more.height = is_flat(layer) ? 0 : layer.whole(19, more.width);
  if (layer.has(20)) {  // the size itself, whatever the padding is
    const auto surplus = [](std::int64_t wanted, std::int64_t in, const AxisWindow& axis) {
      return static_cast<int>(std::clamp<std::int64_t>(wanted - stretched_length(in, axis), -(1 << 30), 1 << 30));
    };
    options.window.padding = {};
    const auto [rows, columns] = axes_of(options.window);
    const int width = layer.whole(20, 0), height = layer.whole(21, width);
    more.width = surplus(width, shape[3], columns);
    if (!is_flat(layer)) more.height = surplus(height, shape[2], rows);
  }
  give_convolved(layer, image, weights, "ConvTranspose", [&](NetworkBuilder& builder, const Source& from) {
    return builder.transposed_convolution(layer.name(), from, channels, options, more);
  });
}

void pooling(LayerReader& layer) {
  const Source image = as_image(layer);
  const Shape shape = layer.builder().type(image).shape;
  const bool maximum = layer.whole(0, 0) == 0;
  if (layer.whole(4, 0) != 0) return layer.give(global_pool(layer, image, maximum, false));
  if (layer.whole(7, 0) != 0) return layer.give(as_signal_if_flat(layer, adaptive_pool(layer, image, maximum)));
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
      const auto [rows, columns] = axes_of(w);
      return std::pair(window_positions(shape[2], rows, ceil), window_positions(shape[3], columns, ceil));
    };
    if (positions(given, true) == positions(options.window, false)) {
      options.ceil_mode = !(given.padding == options.window.padding);
      options.window = given;
    }
  }
  const Source pooled = maximum ? layer.builder().max_pool(layer.name(), image, options)
                                : layer.builder().average_pool(layer.name(), image, options);
  layer.give(as_signal_if_flat(layer, pooled));
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
      return window_positions(length + (mode == full ? axis.stride - 1 : 0), axis);
    });
  }
  for (std::size_t i = 2; adapts && i < std::min<std::size_t>(shape.size(), 5); ++i) {
    if (sizes[i - 2] != dropped) shape[i] = sizes[i - 2];
  }
  layer.give_opaque(maximum ? "MaxPool" : "AveragePool", shape);
}

}  // namespace tenshot::nasbench::ncnn
