#include <algorithm>
#include <cmath>
#include <utility>

#include "descriptor/compiled/kernel_makers.h"
#include "descriptor/compiled/layout.h"

namespace tenshot::descriptor {
namespace {

using nasbench::Shape;

std::size_t count_of(const Shape& shape) { return static_cast<std::size_t>(nasbench::element_count(shape)); }

class Activation : public CompiledKernel {
 public:
  Activation(std::size_t count, CompiledActivation activation, const MachineCode& code)
      : count_(count), activation_(std::move(activation)), code_(code) {}

  void execute(const Arguments& arguments) const override {
    std::copy_n(arguments.inputs[0], count_, arguments.output);
    activation_.apply_alone(code_, arguments.output, count_);
  }

 private:
  std::size_t count_;
  CompiledActivation activation_;
  const MachineCode& code_;
};

/// Sums or products of a whole tensor with another one, of which some dimensions may repeat.
class Pair : public CompiledKernel {
 public:
  Pair(const Shape& whole, const Shape& other, bool multiplies, std::size_t first, CompiledActivation activation,
       const MachineCode& code)
      : whole_(lying(whole)),
        other_(lying(other)),
        first_(first),
        activation_(std::move(activation)),
        code_(code),
        combine_(multiplies ? code.multiply : code.add) {}

  void execute(const Arguments& arguments) const override {
    const std::size_t count = count_of(whole_);
    const float *whole = arguments.inputs[first_], *other = arguments.inputs[1 - first_];
    if (whole_ == other_) {
      combine_(whole, other, false, arguments.output, count);
    } else {
      const bool one = other_.back() != whole_.back();
      const auto row = static_cast<std::size_t>(whole_.back());
      for (std::size_t at = 0; at < count; at += row) {
        combine_(whole + at, other + other_row(at / row), one, arguments.output + at, row);
      }
    }
    activation_.apply_alone(code_, arguments.output, count);
  }

 private:
  /// Where the other tensor's row lies that meets row number `row` of the whole one.
  std::size_t other_row(std::size_t row) const {
    std::size_t place = 0, step = static_cast<std::size_t>(other_.back());
    for (std::size_t i = whole_.size() - 1; i-- > 0;) {
      const auto extent = static_cast<std::size_t>(whole_[i]);
      if (other_[i] != 1) place += row % extent * step;
      row /= extent;
      step *= static_cast<std::size_t>(other_[i]);
    }
    return place;
  }

  Shape whole_, other_;
  std::size_t first_;  ///< which input is the whole tensor
  CompiledActivation activation_;
  const MachineCode& code_;
  void (*combine_)(const float*, const float*, bool, float*, std::size_t);
};

class Softmax : public CompiledKernel {
 public:
  explicit Softmax(const AxisView& view) : view_(view) {}

  void execute(const Arguments& arguments) const override {
    for (std::int64_t outer = 0; outer < view_.outer; ++outer) {
      for (std::int64_t inner = 0; inner < view_.inner; ++inner) {
        const std::int64_t first = outer * view_.extent * view_.inner + inner;
        of_row(arguments.inputs[0] + first, arguments.output + first);
      }
    }
  }

 private:
  void of_row(const float* input, float* output) const {
    const std::int64_t end = view_.extent * view_.inner;
    float greatest = input[0], sum = 0;
    for (std::int64_t i = 0; i < end; i += view_.inner) greatest = std::max(greatest, input[i]);
    for (std::int64_t i = 0; i < end; i += view_.inner) sum += output[i] = std::exp(input[i] - greatest);
    for (std::int64_t i = 0; i < end; i += view_.inner) output[i] /= sum;
  }

  AxisView view_;
};

std::unique_ptr<CompiledKernel> pair_of(const ColdNetwork& network, const ColdLayer& layer,
                                        const CompiledActivation& activation, const MachineCode& code) {
  const Shape &a = shape_of(network, layer.inputs[0]), &b = shape_of(network, layer.inputs[1]);
  const Shape& out = shape_of(network, layer.output);
  if (a.size() != b.size() || (a != out && b != out)) return nullptr;
  const std::size_t first = a == out ? 0 : 1;
  const Shape& other = first == 0 ? b : a;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (other[i] != out[i] && other[i] != 1) return nullptr;
  }
  return std::make_unique<Pair>(out, other, layer.kind == ColdKind::multiply, first, activation, code);
}

class Concatenation : public CompiledKernel {
 public:
  explicit Concatenation(std::vector<AxisView> parts) : parts_(std::move(parts)) {}

  void execute(const Arguments& arguments) const override {
    float* target = arguments.output;
    for (std::int64_t outer = 0; outer < parts_[0].outer; ++outer) {
      for (std::size_t i = 0; i < parts_.size(); ++i) {
        const std::int64_t count = parts_[i].extent * parts_[i].inner;
        target = std::copy_n(arguments.inputs[i] + outer * count, count, target);
      }
    }
  }

 private:
  std::vector<AxisView> parts_;
};

class Slice : public CompiledKernel {
 public:
  Slice(const AxisView& whole, const AxisView& part, std::int64_t start) : whole_(whole), part_(part), start_(start) {}

  void execute(const Arguments& arguments) const override {
    const std::int64_t count = part_.extent * part_.inner, row = whole_.extent * whole_.inner;
    for (std::int64_t outer = 0; outer < whole_.outer; ++outer) {
      std::copy_n(arguments.inputs[0] + outer * row + start_ * whole_.inner, count, arguments.output + outer * count);
    }
  }

 private:
  AxisView whole_, part_;
  std::int64_t start_;
};

/// Channel c of group g becomes channel c · groups + g.
class Shuffle : public CompiledKernel {
 public:
  Shuffle(std::int64_t pixels, std::int64_t channels, std::int64_t groups)
      : pixels_(pixels), groups_(groups), of_group_(channels / groups) {}

  void execute(const Arguments& arguments) const override {
    const float* source = arguments.inputs[0];
    float* target = arguments.output;
    for (std::int64_t pixel = 0; pixel < pixels_; ++pixel, source += groups_ * of_group_) {
      if (groups_ == 2) {
        for (std::int64_t channel = 0; channel < of_group_; ++channel, target += 2) {
          target[0] = source[channel];
          target[1] = source[of_group_ + channel];
        }
        continue;
      }
      for (std::int64_t channel = 0; channel < of_group_; ++channel) {
        for (std::int64_t group = 0; group < groups_; ++group) *target++ = source[group * of_group_ + channel];
      }
    }
  }

 private:
  std::int64_t pixels_, groups_, of_group_;
};

/// Numbers keep their order row by row, so that only images change.
class Reshape : public CompiledKernel {
 public:
  explicit Reshape(Shape shape) : shape_(std::move(shape)) {}

  void execute(const Arguments& arguments) const override {
    to_channels_first(shape_, arguments.inputs[0], arguments.output);
  }

 private:
  Shape shape_;
};

bool is_image(const Shape& shape) { return shape.size() == 4 && shape[2] * shape[3] > 1 && shape[1] > 1; }

class Pool : public CompiledKernel {
 public:
  Pool(const Window& window, std::vector<Segment> segments, bool greatest, bool counts_padding, const MachineCode& code)
      : window_(window),
        segments_(std::move(segments)),
        greatest_(greatest),
        counts_padding_(counts_padding),
        code_(code) {}

  std::size_t scratch_bytes() const override { return static_cast<std::size_t>(window_.taps()) * sizeof(float*); }

  void execute(const Arguments& arguments) const override {
    auto** taps = reinterpret_cast<const float**>(arguments.scratch);
    PoolTask task;
    task.taps = taps;
    task.step = window_.step();
    task.channels = window_.channels;
    task.greatest = greatest_;
    for (const Segment& segment : segments_) {
      task.count = 0;
      window_.each_tap(segment, [&](int, std::ptrdiff_t place) { taps[task.count++] = arguments.inputs[0] + place; });
      task.scale = 1.0F / static_cast<float>(counts_padding_ ? window_.taps() : task.count);
      task.pixels = segment.count;
      task.output = arguments.output + static_cast<std::ptrdiff_t>(segment.pixel) * window_.channels;
      code_.pool(task);
    }
  }

 private:
  Window window_;
  std::vector<Segment> segments_;
  bool greatest_, counts_padding_;
  const MachineCode& code_;
};

}  // namespace

std::unique_ptr<CompiledKernel> compiled_elements(const ColdNetwork& network, const ColdLayer& layer,
                                                  const MachineCode& code) {
  const std::optional<CompiledActivation> activation = compiled_activation(layer.activation);
  if (!activation) return nullptr;
  const Shape& out = shape_of(network, layer.output);
  switch (layer.kind) {
    case ColdKind::activation: return std::make_unique<Activation>(count_of(out), *activation, code);
    case ColdKind::add:
    case ColdKind::multiply: return pair_of(network, layer, *activation, code);
    case ColdKind::softmax:
      if (!layer.activation.name.empty()) return nullptr;
      return std::make_unique<Softmax>(view_from(out, layer.axis));
    default: return nullptr;
  }
}

std::unique_ptr<CompiledKernel> compiled_copy(const ColdNetwork& network, const ColdLayer& layer, const MachineCode&) {
  const Shape &in = shape_of(network, layer.inputs[0]), &out = shape_of(network, layer.output);
  if (!layer.activation.name.empty()) return nullptr;
  std::vector<AxisView> parts;
  switch (layer.kind) {
    case ColdKind::concatenate:
      for (const int input : layer.inputs) parts.push_back(view_from(shape_of(network, input), layer.axis));
      return std::make_unique<Concatenation>(std::move(parts));
    case ColdKind::slice:
      return std::make_unique<Slice>(view_from(in, layer.axis), view_from(out, layer.axis), layer.start);
    case ColdKind::shuffle:
      if (in.size() != 4) return nullptr;
      return std::make_unique<Shuffle>(in[0] * in[2] * in[3], in[1], layer.groups);
    case ColdKind::reshape:
      if (is_image(out)) return nullptr;
      return std::make_unique<Reshape>(in);
    default: return nullptr;
  }
}

std::unique_ptr<CompiledKernel> compiled_pool(const ColdNetwork& network, const ColdLayer& layer,
                                              const MachineCode& code) {
  const bool greatest = layer.kind == ColdKind::max_pool;
  if ((!greatest && layer.kind != ColdKind::average_pool) || !has_images(network, layer)) return nullptr;
  if (!layer.activation.name.empty()) return nullptr;
  const Window window = window_of(network, layer);
  std::vector<Segment> segments = window.segments();
  for (const Segment& segment : segments) {
    if (segment.rows * segment.columns == 0) return nullptr;  // a window outside the image
  }
  return std::make_unique<Pool>(window, std::move(segments), greatest, layer.count_padding, code);
}

}  // namespace tenshot::descriptor
