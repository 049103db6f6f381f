#include "descriptor/compiled/layout.h"

#include <algorithm>

namespace tenshot::descriptor {
namespace {

using nasbench::Shape;

/// For each image, `rows` of `columns` numbers become `columns` of `rows` numbers.
void transpose(const float* from, std::int64_t images, std::int64_t rows, std::int64_t columns, float* to) {
  for (std::int64_t image = 0; image < images; ++image, from += rows * columns) {
    for (std::int64_t column = 0; column < columns; ++column) {
      for (std::int64_t row = 0; row < rows; ++row) *to++ = from[row * columns + column];
    }
  }
}

/// Which of `extent` taps, `dilation` apart from `first` on, lie within 0 to size.
struct Range {
  int first = 0, count = 0;
  bool operator==(const Range& other) const { return first == other.first && count == other.count; }
};
Range within(int first, int extent, int dilation, int size) {
  Range range;
  for (int tap = 0; tap < extent; ++tap) {
    const int place = first + tap * dilation;
    if (place < 0 || place >= size) continue;
    if (range.count++ == 0) range.first = tap;
  }
  return range;
}

}  // namespace

void to_channels_first(const Shape& shape, const float* from, float* to) {
  if (shape.size() == image_dimensions) return transpose(from, shape[0], shape[2] * shape[3], shape[1], to);
  std::copy_n(from, nasbench::element_count(shape), to);
}

void to_channels_last(const Shape& shape, const float* from, float* to) {
  if (shape.size() == image_dimensions) return transpose(from, shape[0], shape[1], shape[2] * shape[3], to);
  std::copy_n(from, nasbench::element_count(shape), to);
}

std::vector<Segment> Window::segments() const {
  std::vector<Range> of_column;
  for (int x = 0; x < out_width; ++x) {
    of_column.push_back(within(x * stride.width - padding.left, kernel.width, dilation.width, width));
  }
  std::vector<Segment> segments;
  for (int pixel = 0; pixel < pixels(); pixel += out_width) {
    const int image = pixel / (out_height * out_width), y = pixel / out_width % out_height;
    const int top = y * stride.height - padding.top;
    const Range rows = within(top, kernel.height, dilation.height, height);
    for (int x = 0; x < out_width; ++x) {
      const Range& columns = of_column[static_cast<std::size_t>(x)];
      if (x > 0 && columns == of_column[static_cast<std::size_t>(x) - 1]) {
        ++segments.back().count;
        continue;
      }
      const int left = x * stride.width - padding.left;
      const std::ptrdiff_t corner = (static_cast<std::ptrdiff_t>(image * height + top) * width + left) * channels;
      segments.push_back({pixel + x, 1, corner, rows.first, rows.count, columns.first, columns.count});
    }
  }
  return segments;
}

bool has_images(const ColdNetwork& network, const ColdLayer& layer) {
  const std::size_t out = shape_of(network, layer.output).size();
  return shape_of(network, layer.inputs[0]).size() == image_dimensions &&
         (out == image_dimensions || (!layer.has_weights() && out == 2));
}

Window window_of(const ColdNetwork& network, const ColdLayer& layer) {
  const Shape& in = shape_of(network, layer.inputs[0]);
  Shape out = shape_of(network, layer.output);
  if (out.size() == 2) out.insert(out.end(), {1, 1});
  const auto number = [](std::int64_t value) { return static_cast<int>(value); };
  Window window;
  window.images = number(in[0]);
  window.channels = number(in[1]);
  window.height = number(in[2]);
  window.width = number(in[3]);
  window.out_channels = number(out[1]);
  window.out_height = number(out[2]);
  window.out_width = number(out[3]);
  window.kernel = layer.kernel;
  window.stride = layer.stride;
  window.dilation = layer.dilation;
  window.padding = layer.padding;
  return window;
}

}  // namespace tenshot::descriptor
