#pragma once

#include <cstddef>
#include <vector>

#include "descriptor/cold/cold_network.h"
#include "nasbench/graph/operator_specification.h"

namespace tenshot::descriptor {

constexpr std::size_t image_dimensions = 4;

/// What memory of kernels lies at a multiple of, bytes.
constexpr std::size_t alignment = 64;
inline std::size_t aligned(std::size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

/// Copies a tensor that lies as it does between layers, row by row, channels first, and the other way round. Only
/// images lie otherwise: channels last.
void to_channels_first(const nasbench::Shape& shape, const float* from, float* to);
void to_channels_last(const nasbench::Shape& shape, const float* from, float* to);

/// Output pixels side by side in a row of the image, whose windows see the same part of the kernel within the image.
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

  /// Calls `visit(tap, place)` for each tap that a segment's pixels see: number, and place in the input for the first.
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
