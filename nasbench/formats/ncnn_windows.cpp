#include "nasbench/formats/ncnn_windows.h"

#include <algorithm>
#include <utility>

namespace tenshot::nasbench::ncnn {

bool is_flat(const LayerReader& layer) { return layer.type().find("1D") != std::string::npos; }

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

std::array<AxisWindow, 3> axes_of(const LayerReader& layer, const WindowKeys& keys) {
  std::array<AxisWindow, 3> axes = {};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const AxisWindow usual = i == 0 ? AxisWindow{0, 1, 1, 0, 0} : axes[0];
    const int before = layer.whole(keys[i].before, usual.before);
    axes[i] = {layer.whole(keys[i].kernel, usual.kernel), layer.whole(keys[i].dilation, usual.dilation),
               layer.whole(keys[i].stride, usual.stride), before, layer.whole(keys[i].behind, before)};
  }
  return axes;
}

WindowOptions window_of(const LayerReader& layer, const WindowKeys& keys) {
  auto [w, h, depth] = axes_of(layer, keys);
  if (is_flat(layer)) h = {1, 1, 1, 0, 0};
  return {
      {h.kernel, w.kernel}, {h.stride, w.stride}, {h.before, w.before, h.behind, w.behind}, {h.dilation, w.dilation}};
}

std::int64_t positions(std::int64_t length, const AxisWindow& axis) {
  return window_positions(length, axis.kernel, axis.stride, axis.dilation, axis.before, axis.behind, false);
}

void pad_to_same(WindowOptions& window, const Shape& image, bool more_before) {
  window.padding = {};
  require_window(window);
  window.padding = same_padding(image, window, more_before);
}

namespace {

constexpr WindowKeys convolution_keys = {{{1, 2, 3, 4, 15}, {11, 12, 13, 14, 16}, {21, 22, 23, 24, 17}}};
constexpr int same_upper = -233, same_lower = -234;  // for pad_left: as much as keeps the size

/// The weights that a layer reads as its second input, as ONNX has them: channels out, in, height, width, or of a
/// transposed convolution in, out. Empty where they are its own.
Shape weights_read(const LayerReader& layer, std::int64_t key) {
  if (layer.whole(key, 0) == 0) return {};
  Shape weights = layer.shape(1);
  if (is_flat(layer)) weights.insert(weights.end() - 1, 1);
  if (weights.size() != 5) throw FormatError("its second input has to be weights, found " + format(layer.shape(1)));
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

/// The shape of what `plain` makes of the image.
template <class Plain>
Shape shape_of(LayerReader& layer, const Source& image, const Plain& plain) {
  NetworkBuilder builder;
  const Source result = plain(builder, builder.input("image", layer.builder().type(image).shape));
  return builder.type(result).shape;
}

/// What `plain` makes of the image; a convolution of ONNX's name where its weights are computed.
template <class Plain>
Source convolved(LayerReader& layer, const Source& image, const Shape& weights, const char* name, const Plain& plain) {
  if (weights.empty() || layer.is_constant(1)) return plain(layer.builder(), image);
  NetworkNode node = layer.node(OperatorKind::opaque, shape_of(layer, image, plain), name);
  node.operation.constants.clear();
  node.inputs = {image, layer.builder().reshape(layer.name() + "_weights", layer.source(1), weights)};
  if (layer.size() > 2 && !layer.is_constant(2)) node.inputs.push_back(layer.source(2));
  return layer.builder().append(std::move(node));
}

}  // namespace

void convolution(LayerReader& layer) {
  const Source image = as_image(layer, layer.source());
  const Shape shape = layer.builder().type(image).shape, weights = weights_read(layer, 19);
  const ConvolutionOptions options = convolution_options(layer, shape, weights);
  const std::int64_t channels = weights.empty() ? layer.whole(0, 0) : weights[0];
  require_weights(weights.empty() ? layer.whole(6, 0) : element_count(weights), shape[1], channels, options);
  Source result = convolved(layer, image, weights, "Conv", [&](NetworkBuilder& builder, const Source& from) {
    return builder.convolution(layer.name(), from, channels, options);
  });
  if (is_flat(layer)) result = as_signal(layer, result);
  layer.give_activated(result);
}

/// Inputs are the image, how far each weight is moved at each position, and perhaps how much it counts there.
void deformable_convolution(LayerReader& layer) {
  const Source image = as_image(layer, layer.source());
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
  const auto [w, h, depth] = axes_of(layer, convolution_keys);
  const Shape& from = layer.shape();
  const std::int64_t area = std::int64_t{h.kernel} * w.kernel;
  const bool folds = layer.type() == "Fold";
  require_tensor_size({from[1], area});
  if (folds ? from.size() != 3 || from[1] % area != 0 : from.size() != 4) {
    throw FormatError("its windows do not fit " + format(from));
  }
  const int width = layer.whole(20, 0);
  if (folds) return layer.give_opaque("Col2Im", {1, from[1] / area, layer.whole(21, width), width});
  layer.give_opaque("Unfold", {1, from[1] * area, positions(from[2], h) * positions(from[3], w)});
}

/// Convolutions of volumes are no kind of ours: opaque, with ONNX's name and weights.
void volume_convolution(LayerReader& layer) {
  const bool transposed = layer.type().find("Deconvolution") == 0;
  if (layer.whole(transposed ? 28 : 19, 0) != 0) {
    throw FormatError("its weights are computed, which we read of images and signals alone");
  }
  const std::int64_t units = layer.whole(0, 0);
  const auto stretched = [](std::int64_t length, const AxisWindow& a) {
    return stretched_length(length, a.kernel, a.stride, a.dilation, std::int64_t{a.before} + a.behind);
  };
  Shape output = transposed ? volume_shape(layer, units, convolution_keys, stretched)
                            : volume_shape(layer, units, convolution_keys, positions);
  const int more = layer.whole(18, 0), fixed = layer.whole(25, 0);
  for (std::size_t i = 0; transposed && i < 3; ++i) {
    const auto key = static_cast<std::int64_t>(i);
    output[4 - i] = layer.has(25) ? layer.whole(25 + key, fixed) : output[4 - i] + layer.whole(18 + key, more);
  }
  require_tensor_size(output);
  const std::int64_t in = layer.shape()[1];
  const int groups = layer.type().find("DepthWise") == std::string::npos ? 1 : layer.whole(7, 1);
  require_groups(groups, in, units);
  NetworkNode node = layer.node(OperatorKind::opaque, output, transposed ? "ConvTranspose" : "Conv");
  const auto [w, h, depth] = axes_of(layer, convolution_keys);
  node.operation.constants = {
      {transposed ? in : units, (transposed ? units : in) / groups, depth.kernel, h.kernel, w.kernel}};
  if (layer.whole(5, 0) != 0) node.operation.constants.push_back({units});
  layer.give_activated(layer.builder().append(std::move(node)));
}

void deconvolution(LayerReader& layer) {
  const Source image = as_image(layer, layer.source());
  const Shape shape = layer.builder().type(image).shape, weights = weights_read(layer, 28);
  ConvolutionOptions options = convolution_options(layer, shape, weights);
  const std::int64_t channels = weights.empty() ? layer.whole(0, 0) : weights[1] * options.groups;
  require_weights(weights.empty() ? layer.whole(6, 0) : element_count(weights), shape[1], channels, options);
  Extent more;
  more.width = layer.whole(18, 0);
  more.height = is_flat(layer) ? 0 : layer.whole(19, more.width);
  if (layer.has(20)) {  // the size itself, whatever the padding is
    const WindowOptions& w = options.window;
    const auto surplus = [](std::int64_t wanted, std::int64_t in, int kernel, int stride, int dilation) {
      const std::int64_t given = stretched_length(in, kernel, stride, dilation, 0);
      return static_cast<int>(std::clamp<std::int64_t>(wanted - given, -(1 << 30), 1 << 30));
    };
    const int width = layer.whole(20, 0), height = layer.whole(21, width);
    more.width = surplus(width, shape[3], w.kernel.width, w.stride.width, w.dilation.width);
    if (!is_flat(layer)) more.height = surplus(height, shape[2], w.kernel.height, w.stride.height, w.dilation.height);
    options.window.padding = {};
  }
  Source result = convolved(layer, image, weights, "ConvTranspose", [&](NetworkBuilder& builder, const Source& from) {
    return builder.transposed_convolution(layer.name(), from, channels, options, more);
  });
  if (is_flat(layer)) result = as_signal(layer, result);
  layer.give_activated(result);
}

}  // namespace tenshot::nasbench::ncnn
