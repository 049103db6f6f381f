#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "descriptor/cold/cold_network.h"
#include "nasbench/graph/operator_specification.h"

namespace tenshot::descriptor {

constexpr std::size_t image_dimensions = 4;

inline const nasbench::Shape& shape_of(const ColdNetwork& network, int tensor) {
  return network.tensors[static_cast<std::size_t>(tensor)];
}

/// Dimensions in the order that a tensor lies in: an image channels last, all else row by row.
inline nasbench::Shape lying(const nasbench::Shape& shape) {
  if (shape.size() != image_dimensions) return shape;
  return {shape[0], shape[2], shape[3], shape[1]};
}

/// Where a dimension stands in that order.
inline std::size_t lying_axis(const nasbench::Shape& shape, int axis) {
  constexpr std::array<std::size_t, 4> of_image = {0, 3, 1, 2};
  const auto place = static_cast<std::size_t>(axis);
  return shape.size() == of_image.size() ? of_image.at(place) : place;
}

/// A tensor seen from one of its dimensions: what repeats before it, its own extent, and what lies behind it.
struct AxisView {
  std::int64_t outer = 1, extent = 1, inner = 1;
};

inline AxisView view_from(const nasbench::Shape& shape, int axis) {
  const nasbench::Shape order = lying(shape);
  const std::size_t place = lying_axis(shape, axis);
  AxisView view;
  for (std::size_t i = 0; i < order.size(); ++i) {
    std::int64_t& part = i < place ? view.outer : i == place ? view.extent : view.inner;
    part *= order[i];
  }
  return view;
}

/// An image's pixels and channels; all else is one channel of many pixels.
struct PixelsAndChannels {
  std::int64_t images = 1, pixels = 1, channels = 1;
};

inline PixelsAndChannels pixels_and_channels(const nasbench::Shape& shape) {
  if (shape.size() != image_dimensions) return {1, nasbench::element_count(shape), 1};
  return {shape[0], shape[2] * shape[3], shape[1]};
}

/// For each image, `rows` of `columns` numbers become `columns` of `rows` numbers.
inline void transpose(const float* from, std::int64_t images, std::int64_t rows, std::int64_t columns, float* to) {
  for (std::int64_t image = 0; image < images; ++image, from += rows * columns) {
    for (std::int64_t column = 0; column < columns; ++column) {
      for (std::int64_t row = 0; row < rows; ++row) *to++ = from[row * columns + column];
    }
  }
}

/// Copies a tensor that lies as it does between layers, row by row, channels first. Only images lie otherwise.
inline void to_channels_first(const nasbench::Shape& shape, const float* from, float* to) {
  const PixelsAndChannels size = pixels_and_channels(shape);
  transpose(from, size.images, size.pixels, size.channels, to);
}

/// The other way round.
inline void to_channels_last(const nasbench::Shape& shape, const float* from, float* to) {
  const PixelsAndChannels size = pixels_and_channels(shape);
  transpose(from, size.images, size.channels, size.pixels, to);
}

/// Output pixels side by side in one row of the image, whose windows see the same part of the kernel: all of it, or
/// what lies within the image.
struct Segment {
  int pixel = 0, count = 0;     ///< the first one, and how many
  std::ptrdiff_t corner = 0;    ///< where the first pixel's window begins in the input; it may lie before the image
  int first_row = 0, rows = 0;  ///< rows of the kernel within the image
  int first_column = 0, columns = 0;
};

/// How the pixels of a layer's output see its input image; both lie channels last.
struct Window {
  int images = 0, channels = 0, height = 0, width = 0;  ///< sizes of the input
  int out_channels = 0, out_height = 0, out_width = 0;
  nasbench::Extent kernel, stride, dilation;
  nasbench::Padding padding;

  int taps() const { return kernel.height * kernel.width; }
  int pixels() const { return images * out_height * out_width; }
  /// From one pixel of a segment to the next, in the input.
  std::ptrdiff_t step() const { return static_cast<std::ptrdiff_t>(stride.width) * channels; }
  /// Where a tap lies, from a window's corner.
  std::ptrdiff_t tap(int row, int column) const {
    return (static_cast<std::ptrdiff_t>(row) * dilation.height * width + column * dilation.width) * channels;
  }

  /// Calls `visit(tap, place)` for each tap that a segment's pixels see: its number, and where it lies in the input for
  /// the first pixel.
  template <class Visit>
  void each_tap(const Segment& segment, const Visit& visit) const {
    for (int i = segment.first_row; i < segment.first_row + segment.rows; ++i) {
      for (int j = segment.first_column; j < segment.first_column + segment.columns; ++j) {
        visit(i * kernel.width + j, segment.corner + tap(i, j));
      }
    }
  }

  /// All pixels, in order.
  std::vector<Segment> segments() const;
};

/// The window of a convolution or a pool with images before it. A pool that writes rows has one output pixel.
Window window_of(const ColdNetwork& network, const ColdLayer& layer);

/// Whether a layer reads and writes images, so that it has a window.
bool has_images(const ColdNetwork& network, const ColdLayer& layer);

}  // namespace tenshot::descriptor
