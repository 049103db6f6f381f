#include <algorithm>
#include <cstring>
#include <utility>

#include "descriptor/compiled/kernel_makers.h"
#include "descriptor/compiled/layout.h"

namespace tenshot::descriptor {
namespace {

using Arguments = CompiledKernel::Arguments;

int rounded_up(int value, int step) { return (value + step - 1) / step * step; }

/// The pieces of input that a convolution's pixels are made of, for some pixels at a time, which stay in fast caches.
/// Where channels are few, a piece is a row of the window, in one place but at the image's sides; else a tap.
class Pieces {
 public:
  Pieces(const Window& window, int groups) : window_(window), segments_(window.segments()) {
    constexpr int few_channels = 64;
    joins_ = groups == 1 && window.channels < few_channels && window.kernel.width > 1 && window.dilation.width == 1;
    constexpr std::size_t fast_bytes = 256U << 10;
    const std::size_t pixel_bytes =
        static_cast<std::size_t>(window.stride.height) * static_cast<std::size_t>(window.step()) * sizeof(float) +
        static_cast<std::size_t>(of_pixel()) * sizeof(float*);
    const std::size_t wanted = std::clamp<std::size_t>(fast_bytes / pixel_bytes, 1, most_pixels);
    std::size_t pixels = 0, copied = 0;
    for (std::size_t i = 0; i < segments_.size(); ++i) {
      if (pixels >= wanted) {
        chunk_ends_.push_back(i);
        pixels = copied = 0;
      }
      pixels += static_cast<std::size_t>(segments_[i].count);
      if (is_copied(segments_[i])) copied += static_cast<std::size_t>(segments_[i].count);
      pixels_ = std::max(pixels_, pixels);
      copied_ = std::max(copied_, copied);
    }
    chunk_ends_.push_back(segments_.size());
  }

  /// Pieces of a pixel, and numbers of a piece.
  int of_pixel() const { return joins_ ? window_.kernel.height : window_.taps(); }
  int depth() const { return joins_ ? window_.kernel.width * window_.channels : window_.channels; }
  std::size_t chunks() const { return chunk_ends_.size(); }
  int first_pixel(std::size_t chunk) const { return segments_[begin(chunk)].pixel; }
  int pixels(std::size_t chunk) const {
    const Segment& last = segments_[chunk_ends_[chunk] - 1];
    return last.pixel + last.count - first_pixel(chunk);
  }
  std::size_t scratch_bytes() const {
    return zeros_bytes() + pointer_bytes() + copied_ * static_cast<std::size_t>(of_pixel() * depth()) * sizeof(float);
  }

  void clear(char* scratch) const { std::memset(scratch, 0, zeros_bytes()); }

  /// Pointers to the pieces of the pixels of a chunk.
  const float* const* find(const float* input, std::size_t chunk, char* scratch) const {
    const auto* zeros = reinterpret_cast<const float*>(scratch);
    auto** const pointers = reinterpret_cast<const float**>(scratch + zeros_bytes());
    auto* copies = reinterpret_cast<float*>(scratch + zeros_bytes() + pointer_bytes());
    const float** target = pointers;
    for (std::size_t i = begin(chunk); i < chunk_ends_[chunk]; ++i) {
      const Segment& segment = segments_[i];
      for (int pixel = 0; pixel < segment.count; ++pixel, target += of_pixel()) {
        const std::ptrdiff_t shift = pixel * window_.step();
        if (segment.rows * segment.columns < window_.taps()) std::fill(target, target + of_pixel(), zeros);
        if (joins_) {
          copies = join(segment, input, segment.corner + shift, target, copies);
        } else {
          window_.each_tap(segment, [&](int tap, std::ptrdiff_t place) { target[tap] = input + (place + shift); });
        }
      }
    }
    return pointers;
  }

 private:
  std::size_t begin(std::size_t chunk) const { return chunk == 0 ? 0 : chunk_ends_[chunk - 1]; }
  bool is_copied(const Segment& segment) const { return joins_ && segment.columns < window_.kernel.width; }

  float* join(const Segment& segment, const float* input, std::ptrdiff_t corner, const float** target,
              float* copies) const {
    for (int i = segment.first_row; i < segment.first_row + segment.rows; ++i) {
      if (!is_copied(segment)) {
        target[i] = input + (corner + window_.tap(i, 0));
        continue;
      }
      const int before = segment.first_column * window_.channels, count = segment.columns * window_.channels;
      std::fill(copies, copies + depth(), 0.0F);
      std::copy_n(input + (corner + window_.tap(i, segment.first_column)), count, copies + before);
      target[i] = copies;
      copies += depth();
    }
    return copies;
  }

  std::size_t zeros_bytes() const { return aligned(static_cast<std::size_t>(depth()) * sizeof(float)); }
  std::size_t pointer_bytes() const { return aligned(pixels_ * static_cast<std::size_t>(of_pixel()) * sizeof(float*)); }

  static constexpr std::size_t most_pixels = 1024;
  Window window_;
  std::vector<Segment> segments_;
  bool joins_ = false;
  std::vector<std::size_t> chunk_ends_;  ///< where each chunk ends in segments_
  std::size_t pixels_ = 0, copied_ = 0;  ///< the most of a chunk
};

struct Convolution {
  Window window;
  CompiledActivation activation;
};

struct Group {
  int channels, columns;
  std::size_t weights;  ///< as the product wants them, in whole blocks of columns
};

/// From filters × channels × taps to groups × blocks of filters × taps × channels × filters of a block.
void pack(const Group& group, int groups, int taps, int step, const float* raw, float* ready) {
  const auto [channels, columns, weights] = group;
  for (int g = 0; g < groups; ++g) {
    for (int block = 0; block < columns; block += step) {
      const int some = std::min(step, columns - block);
      const float* filters =
          raw + (static_cast<std::ptrdiff_t>(g) * columns + block) * channels * static_cast<std::ptrdiff_t>(taps);
      for (int tap = 0; tap < taps; ++tap) {
        for (int channel = 0; channel < channels; ++channel, ready += step) {
          const float* weight = filters + static_cast<std::ptrdiff_t>(channel) * taps + tap;
          const std::ptrdiff_t filter = static_cast<std::ptrdiff_t>(channels) * taps;
          for (int column = 0; column < some; ++column) ready[column] = weight[column * filter];
          std::fill(ready + some, ready + step, 0.0F);
        }
      }
    }
  }
}

void convolve(const Pieces& pieces, const Group& group, int groups, const Convolution& convolution,
              const MachineCode& code, const Arguments& arguments) {
  pieces.clear(arguments.scratch);
  ProductTask task;
  task.taps = pieces.of_pixel();
  task.depth = groups == 1 ? pieces.depth() : group.channels;
  task.columns = group.columns;
  task.stride = convolution.window.out_channels;
  task.low = convolution.activation.low;
  task.high = convolution.activation.high;
  for (std::size_t chunk = 0; chunk < pieces.chunks(); ++chunk) {
    task.rows = pieces.pixels(chunk);
    task.pieces = pieces.find(arguments.inputs[0], chunk, arguments.scratch);
    float* output = arguments.output + static_cast<std::ptrdiff_t>(pieces.first_pixel(chunk)) * task.stride;
    for (std::ptrdiff_t g = 0; g < groups; ++g) {
      task.offset = g * group.channels;
      task.weights = arguments.weights + static_cast<std::size_t>(g) * group.weights;
      task.bias = arguments.bias + g * group.columns;
      task.output = output + g * group.columns;
      code.product(task);
    }
    convolution.activation.apply(code, output,
                                 static_cast<std::size_t>(task.rows) * static_cast<std::size_t>(task.stride));
  }
}

void convolve_depthwise(const std::vector<Segment>& segments, const Convolution& convolution, const MachineCode& code,
                        const Arguments& arguments) {
  const auto& [window, activation] = convolution;
  auto** taps = reinterpret_cast<const float**>(arguments.scratch);
  const float** weights = taps + window.taps();
  DepthwiseTask task;
  task.taps = taps;
  task.weights = weights;
  task.step = window.step();
  task.channels = window.channels;
  task.bias = arguments.bias;
  task.low = activation.low;
  task.high = activation.high;
  for (const Segment& segment : segments) {
    task.count = 0;
    window.each_tap(segment, [&](int tap, std::ptrdiff_t place) {
      taps[task.count] = arguments.inputs[0] + place;
      weights[task.count++] = arguments.weights + static_cast<std::ptrdiff_t>(tap) * task.channels;
    });
    task.pixels = segment.count;
    task.output = arguments.output + static_cast<std::ptrdiff_t>(segment.pixel) * task.channels;
    code.depthwise(task);
    activation.apply(code, task.output,
                     static_cast<std::size_t>(task.pixels) * static_cast<std::size_t>(task.channels));
  }
}

/// The convolution of a layer that is depthwise, or is not; nothing for any other layer.
std::optional<Convolution> convolution_of(const ColdNetwork& network, const ColdLayer& layer, bool depthwise) {
  if (layer.kind != ColdKind::convolution || !has_images(network, layer)) return std::nullopt;
  const std::optional<CompiledActivation> activation = compiled_activation(layer.activation);
  const Window window = window_of(network, layer);
  const bool is_depthwise =
      layer.groups == window.channels && window.channels == window.out_channels && window.channels > 1;
  if (!activation || is_depthwise != depthwise) return std::nullopt;
  return Convolution{window, *activation};
}

}  // namespace

std::optional<CompiledKernel> indirect_convolution(const ColdNetwork& network, const ColdLayer& layer,
                                                   const MachineCode& code) {
  const auto found = convolution_of(network, layer, false);
  if (!found) return std::nullopt;
  const int groups = layer.groups, taps = found->window.taps(), step = code.column_step;
  const int channels = found->window.channels / groups, columns = found->window.out_channels / groups;
  const auto rows = static_cast<std::size_t>(taps) * static_cast<std::size_t>(channels);
  const Group group{channels, columns, static_cast<std::size_t>(rounded_up(columns, step)) * rows};
  Pieces pieces(found->window, groups);
  const std::size_t scratch_bytes = pieces.scratch_bytes();
  return CompiledKernel{[=, &code, pieces = std::move(pieces)](const Arguments& arguments) {
                          convolve(pieces, group, groups, *found, code, arguments);
                        },
                        scratch_bytes,
                        [=](const float* raw, float* ready) { pack(group, groups, taps, step, raw, ready); },
                        static_cast<std::size_t>(groups) * group.weights * sizeof(float)};
}

std::optional<CompiledKernel> depthwise_convolution(const ColdNetwork& network, const ColdLayer& layer,
                                                    const MachineCode& code) {
  const auto found = convolution_of(network, layer, true);
  if (!found) return std::nullopt;
  const int taps = found->window.taps(), channels = found->window.channels;
  CompiledKernel kernel{[=, &code, segments = found->window.segments()](const Arguments& arguments) {
                          convolve_depthwise(segments, *found, code, arguments);
                        },
                        2 * static_cast<std::size_t>(taps) * sizeof(float*)};
  if (taps == 1) return kernel;
  kernel.weight_bytes = static_cast<std::size_t>(taps) * static_cast<std::size_t>(channels) * sizeof(float);
  kernel.transform = [=](const float* raw, float* ready) {  // from channels × taps to taps × channels
    for (int tap = 0; tap < taps; ++tap) {
      for (int channel = 0; channel < channels; ++channel) {
        *ready++ = raw[static_cast<std::ptrdiff_t>(channel) * taps + tap];
      }
    }
  };
  return kernel;
}

std::optional<CompiledKernel> rows_of_weights(const ColdNetwork& network, const ColdLayer& layer,
                                              const MachineCode& code) {
  if (!layer.has_weights()) return std::nullopt;
  const std::optional<CompiledActivation> activation = compiled_activation(layer.activation);
  const nasbench::Shape weights = weight_shape(network, layer);
  const auto columns = static_cast<int>(weights[0]), depth = static_cast<int>(weights[1]);
  const auto numbers = nasbench::element_count(shape_of(network, layer.inputs[0]));
  const auto results = nasbench::element_count(shape_of(network, layer.output));
  const auto rows = static_cast<int>(results / columns);
  const bool is_product = layer.kind == ColdKind::linear ||
                          (layer.groups == 1 && layer.kernel.height == 1 && layer.kernel.width == 1 && rows == 1);
  if (!activation || !is_product || numbers != static_cast<std::int64_t>(rows) * depth) return std::nullopt;
  return CompiledKernel{[=, &code](const Arguments& arguments) {
    for (std::ptrdiff_t row = 0; row < rows; ++row) {
      float* output = arguments.output + row * columns;
      code.dot({arguments.inputs[0] + row * depth, arguments.weights, arguments.bias, depth, columns, output,
                activation->low, activation->high});
      activation->apply(code, output, static_cast<std::size_t>(columns));
    }
  }};
}

}  // namespace tenshot::descriptor
