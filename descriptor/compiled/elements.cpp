#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "descriptor/compiled/kernel_makers.h"
#include "descriptor/compiled/layout.h"

namespace tenshot::descriptor {
namespace {

using nasbench::Shape;
using Arguments = CompiledKernel::Arguments;

std::size_t count_of(const Shape& shape) { return static_cast<std::size_t>(nasbench::element_count(shape)); }

/// Dimensions in the order that a tensor lies in: an image channels last, all else row by row.
Shape lying(const Shape& shape) {
  if (shape.size() != image_dimensions) return shape;
  return {shape[0], shape[2], shape[3], shape[1]};
}

/// A tensor seen from one of its dimensions: what repeats before it, its own extent, and what lies behind it.
struct AxisView {
  std::int64_t outer = 1, extent = 1, inner = 1;
};

AxisView view_from(const Shape& shape, int axis) {
  constexpr std::array<std::size_t, image_dimensions> place_in_image = {0, 3, 1, 2};
  const Shape order = lying(shape);
  auto place = static_cast<std::size_t>(axis);
  if (shape.size() == image_dimensions) place = place_in_image.at(place);
  AxisView view;
  for (std::size_t i = 0; i < order.size(); ++i) {
    std::int64_t& part = i < place ? view.outer : i == place ? view.extent : view.inner;
    part *= order[i];
  }
  return view;
}

CompiledKernel activation_of(std::size_t count, const CompiledActivation& activation, const MachineCode& code) {
  return {[=, &code](const Arguments& arguments) {
    std::copy_n(arguments.inputs[0], count, arguments.output);
    activation.apply_alone(code, arguments.output, count);
  }};
}

/// Where the row of `other` lies that meets row number `row` of `whole`; some of its dimensions may repeat.
std::size_t other_row(const Shape& whole, const Shape& other, std::size_t row) {
  std::size_t place = 0, step = static_cast<std::size_t>(other.back());
  for (std::size_t i = whole.size() - 1; i-- > 0;) {
    const auto extent = static_cast<std::size_t>(whole[i]);
    if (other[i] != 1) place += row % extent * step;
    row /= extent;
    step *= static_cast<std::size_t>(other[i]);
  }
  return place;
}

/// Sums or products of a whole tensor with another one, of which some dimensions may repeat.
std::optional<CompiledKernel> pair_of(const ColdNetwork& network, const ColdLayer& layer,
                                      const CompiledActivation& activation, const MachineCode& code) {
  const Shape &a = shape_of(network, layer.inputs[0]), &b = shape_of(network, layer.inputs[1]);
  const Shape& out = shape_of(network, layer.output);
  if (a.size() != b.size() || (a != out && b != out)) return std::nullopt;
  const std::size_t first = a == out ? 0 : 1;  // which input is the whole tensor
  const Shape& smaller = first == 0 ? b : a;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (smaller[i] != out[i] && smaller[i] != 1) return std::nullopt;
  }
  const auto combine = layer.kind == ColdKind::multiply ? code.multiply : code.add;
  return CompiledKernel{[=, &code, whole = lying(out), other = lying(smaller)](const Arguments& arguments) {
    const std::size_t count = count_of(whole);
    const float *numbers = arguments.inputs[first], *others = arguments.inputs[1 - first];
    if (whole == other) {
      combine(numbers, others, false, arguments.output, count);
    } else {
      const bool one = other.back() != whole.back();
      const auto row = static_cast<std::size_t>(whole.back());
      for (std::size_t at = 0; at < count; at += row) {
        combine(numbers + at, others + other_row(whole, other, at / row), one, arguments.output + at, row);
      }
    }
    activation.apply_alone(code, arguments.output, count);
  }};
}

/// The softmax of one row, whose numbers lie `view.inner` apart.
void softmax_of_row(const AxisView& view, const float* input, float* output) {
  const std::int64_t end = view.extent * view.inner;
  float greatest = input[0], sum = 0;
  for (std::int64_t i = 0; i < end; i += view.inner) greatest = std::max(greatest, input[i]);
  for (std::int64_t i = 0; i < end; i += view.inner) sum += output[i] = std::exp(input[i] - greatest);
  for (std::int64_t i = 0; i < end; i += view.inner) output[i] /= sum;
}

CompiledKernel softmax_of(const AxisView& view) {
  return {[=](const Arguments& arguments) {
    for (std::int64_t outer = 0; outer < view.outer; ++outer) {
      for (std::int64_t inner = 0; inner < view.inner; ++inner) {
        const std::int64_t first = outer * view.extent * view.inner + inner;
        softmax_of_row(view, arguments.inputs[0] + first, arguments.output + first);
      }
    }
  }};
}

CompiledKernel concatenation_of(const ColdNetwork& network, const ColdLayer& layer) {
  std::vector<AxisView> parts;
  for (const int input : layer.inputs) parts.push_back(view_from(shape_of(network, input), layer.axis));
  return {[parts = std::move(parts)](const Arguments& arguments) {
    float* target = arguments.output;
    for (std::int64_t outer = 0; outer < parts[0].outer; ++outer) {
      for (std::size_t i = 0; i < parts.size(); ++i) {
        const std::int64_t count = parts[i].extent * parts[i].inner;
        target = std::copy_n(arguments.inputs[i] + outer * count, count, target);
      }
    }
  }};
}

CompiledKernel slice_of(const AxisView& whole, const AxisView& part, std::int64_t start) {
  return {[=](const Arguments& arguments) {
    const std::int64_t count = part.extent * part.inner, row = whole.extent * whole.inner;
    for (std::int64_t outer = 0; outer < whole.outer; ++outer) {
      std::copy_n(arguments.inputs[0] + outer * row + start * whole.inner, count, arguments.output + outer * count);
    }
  }};
}

/// Channel c of group g becomes channel c · groups + g.
CompiledKernel shuffle_of(std::int64_t pixels, std::int64_t channels, std::int64_t groups) {
  return {[=, of_group = channels / groups](const Arguments& arguments) {
    const float* source = arguments.inputs[0];
    float* target = arguments.output;
    for (std::int64_t pixel = 0; pixel < pixels; ++pixel, source += groups * of_group) {
      if (groups == 2) {
        for (std::int64_t channel = 0; channel < of_group; ++channel, target += 2) {
          target[0] = source[channel];
          target[1] = source[of_group + channel];
        }
        continue;
      }
      for (std::int64_t channel = 0; channel < of_group; ++channel) {
        for (std::int64_t group = 0; group < groups; ++group) *target++ = source[group * of_group + channel];
      }
    }
  }};
}

bool is_image(const Shape& shape) { return shape.size() == 4 && shape[2] * shape[3] > 1 && shape[1] > 1; }

}  // namespace

std::optional<CompiledKernel> compiled_elements(const ColdNetwork& network, const ColdLayer& layer,
                                                const MachineCode& code) {
  const std::optional<CompiledActivation> activation = compiled_activation(layer.activation);
  if (!activation) return std::nullopt;
  const Shape& out = shape_of(network, layer.output);
  switch (layer.kind) {
    case ColdKind::activation: return activation_of(count_of(out), *activation, code);
    case ColdKind::add:
    case ColdKind::multiply: return pair_of(network, layer, *activation, code);
    case ColdKind::softmax:
      if (!layer.activation.name.empty()) return std::nullopt;
      return softmax_of(view_from(out, layer.axis));
    default: return std::nullopt;
  }
}

std::optional<CompiledKernel> compiled_copy(const ColdNetwork& network, const ColdLayer& layer, const MachineCode&) {
  const Shape &in = shape_of(network, layer.inputs[0]), &out = shape_of(network, layer.output);
  if (!layer.activation.name.empty()) return std::nullopt;
  switch (layer.kind) {
    case ColdKind::concatenate: return concatenation_of(network, layer);
    case ColdKind::slice: return slice_of(view_from(in, layer.axis), view_from(out, layer.axis), layer.start);
    case ColdKind::shuffle:
      if (in.size() != 4) return std::nullopt;
      return shuffle_of(in[0] * in[2] * in[3], in[1], layer.groups);
    case ColdKind::reshape:
      if (is_image(out)) return std::nullopt;
      // Numbers keep their order row by row, so that only images change.
      return CompiledKernel{
          [in](const Arguments& arguments) { to_channels_first(in, arguments.inputs[0], arguments.output); }};
    default: return std::nullopt;
  }
}

std::optional<CompiledKernel> compiled_pool(const ColdNetwork& network, const ColdLayer& layer,
                                            const MachineCode& code) {
  const bool greatest = layer.kind == ColdKind::max_pool;
  if ((!greatest && layer.kind != ColdKind::average_pool) || !has_images(network, layer)) return std::nullopt;
  if (!layer.activation.name.empty()) return std::nullopt;
  const Window window = window_of(network, layer);
  std::vector<Segment> segments = window.segments();
  for (const Segment& segment : segments) {
    if (segment.rows * segment.columns == 0) return std::nullopt;  // a window outside the image
  }
  const bool counts_padding = layer.count_padding;
  auto execute = [=, &code, segments = std::move(segments)](const Arguments& arguments) {
    auto** taps = reinterpret_cast<const float**>(arguments.scratch);
    PoolTask task;
    task.taps = taps;
    task.step = window.step();
    task.channels = window.channels;
    task.greatest = greatest;
    for (const Segment& segment : segments) {
      task.count = 0;
      window.each_tap(segment, [&](int, std::ptrdiff_t place) { taps[task.count++] = arguments.inputs[0] + place; });
      task.scale = 1.0F / static_cast<float>(counts_padding ? window.taps() : task.count);
      task.pixels = segment.count;
      task.output = arguments.output + static_cast<std::ptrdiff_t>(segment.pixel) * window.channels;
      code.pool(task);
    }
  };
  return CompiledKernel{std::move(execute), static_cast<std::size_t>(window.taps()) * sizeof(float*)};
}

}  // namespace tenshot::descriptor
