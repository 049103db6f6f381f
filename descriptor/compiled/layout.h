#pragma once

#include <array>
#include <cstdint>

#include "descriptor/cold/cold_network.h"
#include "nasbench/graph/operator_specification.h"

namespace tenshot::descriptor {

inline const nasbench::Shape& shape_of(const ColdNetwork& network, int tensor) {
  return network.tensors[static_cast<std::size_t>(tensor)];
}

/// Dimensions in the order that a tensor lies in: an image channels last, all else row by row.
inline nasbench::Shape lying(const nasbench::Shape& shape) {
  constexpr std::size_t image_dimensions = 4;
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
  constexpr std::size_t image_dimensions = 4;
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

}  // namespace tenshot::descriptor
