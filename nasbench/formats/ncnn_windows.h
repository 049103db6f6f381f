#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "nasbench/formats/ncnn_layer.h"
#include "nasbench/graph/limits.h"
#include "nasbench/support/error.h"

namespace tenshot::nasbench::ncnn {

/// Whether the layer is of signals.
bool is_flat(const LayerReader& layer);
/// A signal of channels and steps as an image of one row.
Source as_image(LayerReader& layer, const Source& source);
/// An image of one row as a signal.
Source as_signal(LayerReader& layer, const Source& source);

/// A window along one axis, with zeros before and behind.
struct AxisWindow {
  int kernel, dilation, stride, before, behind;
};

/// Keys of its parameters. Those of height and depth follow those of the width unless they are given.
struct AxisKeys {
  std::int64_t kernel, dilation, stride, before, behind;
};
using WindowKeys = std::array<AxisKeys, 3>;  // of width, height and depth

/// The layer's window along width, height and depth.
std::array<AxisWindow, 3> axes_of(const LayerReader& layer, const WindowKeys& keys);
/// The layer's window on an image.
WindowOptions window_of(const LayerReader& layer, const WindowKeys& keys);
/// How many windows there are along an axis of that length.
std::int64_t positions(std::int64_t length, const AxisWindow& axis);
/// Gives the window the padding that keeps the image's size. An odd zero stands before or behind.
void pad_to_same(WindowOptions& window, const Shape& image, bool more_before);

/// `extent` of each dimension of a volume and of the window along it.
template <class Extent>
Shape volume_shape(const LayerReader& layer, std::int64_t channels, const WindowKeys& keys, const Extent& extent) {
  const Shape& volume = layer.shape();
  if (volume.size() != 5) throw FormatError("it takes a volume, found " + format(volume));
  Shape shape = {1, channels};
  for (std::size_t i = 2; i < volume.size(); ++i) {
    const AxisWindow axis = axes_of(layer, keys)[4 - i];
    require_window({{axis.kernel, 1}, {axis.stride, 1}, {axis.before, 0, axis.behind, 0}, {axis.dilation, 1}});
    shape.push_back(extent(volume[i], axis));
  }
  return shape;
}

}  // namespace tenshot::nasbench::ncnn
