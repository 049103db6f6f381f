#include <algorithm>
#include <cstring>
#include <utility>

#include "descriptor/compiled/kernel_makers.h"
#include "descriptor/compiled/layout.h"

namespace tenshot::descriptor {
namespace {

constexpr std::size_t alignment = 64;

std::size_t aligned(std::size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

int rounded_up(int value, int step) { return (value + step - 1) / step * step; }

/// The pieces of input that a convolution's pixels are made of, for some pixels at a time, which stay in fast caches.
/// Where channels are few, a piece is a row of the window, which lies in one place but at the sides of the image; else
/// it is a tap.
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

  /// Prepares `scratch` for the calls of `find`.
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

  /// Returns where the next copies go.
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

class IndirectConvolution : public CompiledKernel {
 public:
  IndirectConvolution(const Window& window, int groups, CompiledActivation activation, const MachineCode& code)
      : window_(window), groups_(groups), activation_(std::move(activation)), code_(code), pieces_(window, groups) {}

  bool transforms() const override { return true; }
  std::size_t weight_bytes() const override { return static_cast<std::size_t>(groups_) * of_group() * sizeof(float); }
  std::size_t scratch_bytes() const override { return pieces_.scratch_bytes(); }

  /// From filters × channels × taps to groups × blocks of filters × taps × channels × filters of a block.
  void transform(const float* raw, float* ready) const override {
    const int channels = group_channels(), columns = group_columns(), step = code_.column_step, taps = window_.taps();
    for (int group = 0; group < groups_; ++group) {
      for (int block = 0; block < columns; block += step) {
        const int some = std::min(step, columns - block);
        const float* filters =
            raw + (static_cast<std::ptrdiff_t>(group) * columns + block) * channels * static_cast<std::ptrdiff_t>(taps);
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

  void execute(const Arguments& arguments) const override {
    pieces_.clear(arguments.scratch);
    ProductTask task;
    task.taps = pieces_.of_pixel();
    task.depth = groups_ == 1 ? pieces_.depth() : group_channels();
    task.columns = group_columns();
    task.stride = window_.out_channels;
    task.low = activation_.low;
    task.high = activation_.high;
    for (std::size_t chunk = 0; chunk < pieces_.chunks(); ++chunk) {
      task.rows = pieces_.pixels(chunk);
      task.pieces = pieces_.find(arguments.inputs[0], chunk, arguments.scratch);
      float* output = arguments.output + static_cast<std::ptrdiff_t>(pieces_.first_pixel(chunk)) * task.stride;
      for (int group = 0; group < groups_; ++group) {
        task.offset = static_cast<std::ptrdiff_t>(group) * group_channels();
        task.weights = arguments.weights + static_cast<std::size_t>(group) * of_group();
        task.bias = arguments.bias + static_cast<std::ptrdiff_t>(group) * group_columns();
        task.output = output + static_cast<std::ptrdiff_t>(group) * group_columns();
        code_.product(task);
      }
      activation_.apply(code_, output, static_cast<std::size_t>(task.rows) * static_cast<std::size_t>(task.stride));
    }
  }

 private:
  int group_channels() const { return window_.channels / groups_; }
  int group_columns() const { return window_.out_channels / groups_; }
  std::size_t of_group() const {
    return static_cast<std::size_t>(rounded_up(group_columns(), code_.column_step)) *
           static_cast<std::size_t>(window_.taps()) * static_cast<std::size_t>(group_channels());
  }

  Window window_;
  int groups_;
  CompiledActivation activation_;
  const MachineCode& code_;
  Pieces pieces_;
};

class DepthwiseConvolution : public CompiledKernel {
 public:
  DepthwiseConvolution(const Window& window, CompiledActivation activation, const MachineCode& code)
      : window_(window), activation_(std::move(activation)), code_(code), segments_(window.segments()) {}

  bool transforms() const override { return window_.taps() > 1; }
  std::size_t weight_bytes() const override {
    return static_cast<std::size_t>(window_.taps()) * static_cast<std::size_t>(window_.channels) * sizeof(float);
  }
  std::size_t scratch_bytes() const override { return 2 * static_cast<std::size_t>(window_.taps()) * sizeof(float*); }

  /// From channels × taps to taps × channels.
  void transform(const float* raw, float* ready) const override {
    for (int tap = 0; tap < window_.taps(); ++tap) {
      for (int channel = 0; channel < window_.channels; ++channel) {
        *ready++ = raw[static_cast<std::ptrdiff_t>(channel) * window_.taps() + tap];
      }
    }
  }

  void execute(const Arguments& arguments) const override {
    auto** taps = reinterpret_cast<const float**>(arguments.scratch);
    const float** weights = taps + window_.taps();
    DepthwiseTask task;
    task.taps = taps;
    task.weights = weights;
    task.step = window_.step();
    task.channels = window_.channels;
    task.bias = arguments.bias;
    task.low = activation_.low;
    task.high = activation_.high;
    for (const Segment& segment : segments_) {
      task.count = 0;
      window_.each_tap(segment, [&](int tap, std::ptrdiff_t place) {
        taps[task.count] = arguments.inputs[0] + place;
        weights[task.count++] = arguments.weights + static_cast<std::ptrdiff_t>(tap) * window_.channels;
      });
      task.pixels = segment.count;
      task.output = arguments.output + static_cast<std::ptrdiff_t>(segment.pixel) * window_.channels;
      code_.depthwise(task);
      activation_.apply(code_, task.output,
                        static_cast<std::size_t>(task.pixels) * static_cast<std::size_t>(window_.channels));
    }
  }

 private:
  Window window_;
  CompiledActivation activation_;
  const MachineCode& code_;
  std::vector<Segment> segments_;
};

class RowsOfWeights : public CompiledKernel {
 public:
  RowsOfWeights(int rows, int depth, int columns, CompiledActivation activation, const MachineCode& code)
      : rows_(rows), depth_(depth), columns_(columns), activation_(std::move(activation)), code_(code) {}

  void execute(const Arguments& arguments) const override {
    for (int row = 0; row < rows_; ++row) {
      float* output = arguments.output + static_cast<std::ptrdiff_t>(row) * columns_;
      code_.dot({arguments.inputs[0] + static_cast<std::ptrdiff_t>(row) * depth_, arguments.weights, arguments.bias,
                 depth_, columns_, output, activation_.low, activation_.high});
      activation_.apply(code_, output, static_cast<std::size_t>(columns_));
    }
  }

 private:
  int rows_, depth_, columns_;
  CompiledActivation activation_;
  const MachineCode& code_;
};

/// The window and the activation of a convolution that is depthwise, or is not; nothing for any other layer.
std::optional<std::pair<Window, CompiledActivation>> convolution_of(const ColdNetwork& network, const ColdLayer& layer,
                                                                    bool depthwise) {
  if (layer.kind != ColdKind::convolution || !has_images(network, layer)) return std::nullopt;
  const std::optional<CompiledActivation> activation = compiled_activation(layer.activation);
  const Window window = window_of(network, layer);
  const bool is_depthwise =
      layer.groups == window.channels && window.channels == window.out_channels && window.channels > 1;
  if (!activation || is_depthwise != depthwise) return std::nullopt;
  return std::pair(window, *activation);
}

}  // namespace

std::unique_ptr<CompiledKernel> indirect_convolution(const ColdNetwork& network, const ColdLayer& layer,
                                                     const MachineCode& code) {
  const auto found = convolution_of(network, layer, false);
  return found ? std::make_unique<IndirectConvolution>(found->first, layer.groups, found->second, code) : nullptr;
}

std::unique_ptr<CompiledKernel> depthwise_convolution(const ColdNetwork& network, const ColdLayer& layer,
                                                      const MachineCode& code) {
  const auto found = convolution_of(network, layer, true);
  return found ? std::make_unique<DepthwiseConvolution>(found->first, found->second, code) : nullptr;
}

std::unique_ptr<CompiledKernel> rows_of_weights(const ColdNetwork& network, const ColdLayer& layer,
                                                const MachineCode& code) {
  if (!layer.has_weights()) return nullptr;
  const std::optional<CompiledActivation> activation = compiled_activation(layer.activation);
  const nasbench::Shape weights = weight_shape(network, layer);
  const auto columns = static_cast<int>(weights[0]), depth = static_cast<int>(weights[1]);
  const auto numbers = nasbench::element_count(shape_of(network, layer.inputs[0]));
  const auto results = nasbench::element_count(shape_of(network, layer.output));
  const auto rows = static_cast<int>(results / columns);
  const bool is_product = layer.kind == ColdKind::linear ||
                          (layer.groups == 1 && layer.kernel.height == 1 && layer.kernel.width == 1 && rows == 1);
  if (!activation || !is_product || numbers != static_cast<std::int64_t>(rows) * depth) return nullptr;
  return std::make_unique<RowsOfWeights>(rows, depth, columns, *activation, code);
}

}  // namespace tenshot::descriptor
