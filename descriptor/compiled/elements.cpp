#include <algorithm>
#include <cmath>
#include <utility>

#include "descriptor/compiled/activation.h"
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

}  // namespace tenshot::descriptor
