#include "nasbench/graph/operator_specification.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "nasbench/graph/operator_products.h"
#include "nasbench/support/error.h"
#include "nasbench/support/text.h"
#include "nasbench/support/words.h"

namespace tenshot::nasbench {
namespace {

const std::vector<std::string>& kind_names() {
  static const auto names = words_of<std::vector<std::string>>(
      "convolution transposed_convolution linear matrix_product max_pool average_pool global_pool activation add "
      "multiply elementwise concatenate split shuffle pad resize reshape transpose batch_norm layer_norm group_norm "
      "softmax reduce opaque");
  return names;
}

constexpr std::array<std::string_view, 10> type_names = {"float32", "float16", "bfloat16", "float64", "int8",
                                                         "uint8",   "int32",   "int64",    "boolean", "int16"};

std::string format(const Extent& extent) { return std::to_string(extent.height) + "x" + std::to_string(extent.width); }

auto key(const OperatorSpecification& s) {
  return std::tie(s.kind, s.name, s.kernel.height, s.kernel.width, s.stride.height, s.stride.width, s.dilation.height,
                  s.dilation.width, s.groups, s.bias, s.inputs, s.output, s.type, s.weight_bits, s.constants);
}

std::int64_t weight_count(const OperatorSpecification& s) {
  if (s.inputs.empty()) return 0;
  const std::int64_t in = channel_count(s, s.inputs[0]), out = channel_count(s, s.output);
  switch (s.kind) {
    case OperatorKind::convolution:
    case OperatorKind::transposed_convolution: return in / s.groups * out * s.kernel.height * s.kernel.width;
    case OperatorKind::linear: return in * out;
    default: return 0;
  }
}

}  // namespace

std::string format(const Shape& shape) {
  std::vector<std::string> dimensions;
  for (const std::int64_t dimension : shape) dimensions.push_back(std::to_string(dimension));
  return dimensions.empty() ? "scalar" : joined(dimensions, "x");
}

std::int64_t element_count(const Shape& shape) {
  std::int64_t count = 1;
  for (const std::int64_t dimension : shape) count *= dimension;
  return count;
}

std::string_view name(ElementType type) { return type_names[static_cast<std::size_t>(type)]; }

int byte_size(ElementType type) {
  constexpr std::array<int, 10> sizes = {4, 2, 2, 8, 1, 1, 4, 8, 1, 2};
  return sizes[static_cast<std::size_t>(type)];
}

std::string_view name(OperatorKind kind) { return kind_names()[static_cast<std::size_t>(kind)]; }

OperatorKind operator_kind(std::string_view name) {
  const std::vector<std::string>& names = kind_names();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<OperatorKind>(found - names.begin());
  throw InputError("there is no kind of operator '" + std::string(name) + "'; there are: " + joined(names));
}

bool operator==(const OperatorSpecification& a, const OperatorSpecification& b) { return key(a) == key(b); }

std::int64_t channel_count(const OperatorSpecification& s, const Shape& shape) {
  if (shape.empty()) return 1;
  switch (s.kind) {
    case OperatorKind::linear:
    case OperatorKind::matrix_product:
    case OperatorKind::layer_norm: return shape.back();
    case OperatorKind::convolution:
    case OperatorKind::transposed_convolution:
    case OperatorKind::max_pool:
    case OperatorKind::average_pool:
    case OperatorKind::global_pool:
    case OperatorKind::batch_norm:
    case OperatorKind::group_norm: return shape.size() >= 2 ? shape[1] : shape[0];
    default: return shape.size() >= 4 ? shape[1] : shape.back();
  }
}

std::int64_t multiply_adds(const OperatorSpecification& s) {
  if (s.inputs.empty()) return 0;
  const std::int64_t in = channel_count(s, s.inputs[0]);
  const std::int64_t window = std::int64_t{s.kernel.height} * s.kernel.width;
  switch (s.kind) {
    case OperatorKind::convolution: return element_count(s.output) * (in / s.groups) * window;
    case OperatorKind::transposed_convolution:
      return element_count(s.inputs[0]) * (channel_count(s, s.output) / s.groups) * window;
    case OperatorKind::linear:
    case OperatorKind::matrix_product: return s.inputs[0].empty() ? 0 : element_count(s.output) * s.inputs[0].back();
    case OperatorKind::opaque: return opaque_multiply_adds(s);
    default: return 0;
  }
}

std::int64_t parameter_count(const OperatorSpecification& s) {
  std::int64_t constants = 0;
  for (const Shape& constant : s.constants) constants += element_count(constant);
  switch (s.kind) {
    case OperatorKind::convolution:
    case OperatorKind::transposed_convolution:
    case OperatorKind::linear: return weight_count(s) + (s.bias ? channel_count(s, s.output) : 0);
    case OperatorKind::batch_norm:
    case OperatorKind::layer_norm:
    case OperatorKind::group_norm: return 2 * channel_count(s, s.output);
    default: return constants;
  }
}

std::int64_t input_bytes(const OperatorSpecification& s) {
  std::int64_t elements = 0;
  for (const Shape& input : s.inputs) elements += element_count(input);
  return elements * byte_size(s.type);
}

std::int64_t output_bytes(const OperatorSpecification& s) { return element_count(s.output) * byte_size(s.type); }

std::int64_t weight_bytes(const OperatorSpecification& s) {
  const int bits = s.weight_bits > 0 ? s.weight_bits : 8 * byte_size(s.type);
  return (parameter_count(s) * bits + 7) / 8;
}

std::int64_t read_bytes(const OperatorSpecification& s, std::int64_t stored) {
  const auto named = [&s](const char* word) { return s.name.find(word) != std::string::npos; };
  const bool looks_up = s.kind == OperatorKind::opaque && (named("Gather") || named("Embed")),
             takes_element = s.kind == OperatorKind::split && s.name == "slice" && !s.inputs.empty() &&
                             s.output.size() < s.inputs[0].size();
  const int bits = s.weight_bits > 0 ? s.weight_bits : 8 * byte_size(s.type);
  return looks_up || takes_element ? std::min(stored, (element_count(s.output) * bits + 7) / 8) : stored;
}

std::string format(const OperatorSpecification& s) {
  const Extent one;
  std::string text(name(s.kind));
  if (!s.name.empty()) text += " " + s.name;
  if (s.kernel != one) text += " " + format(s.kernel);
  if (s.stride != one) text += " stride " + format(s.stride);
  if (s.dilation != one) text += " dilation " + format(s.dilation);
  if (s.groups != 1) text += " groups " + std::to_string(s.groups);
  if (s.bias) text += " bias";
  std::vector<std::string> inputs;
  for (const Shape& input : s.inputs) inputs.push_back(format(input));
  text += " " + joined(inputs, " ") + " -> " + format(s.output);
  for (const Shape& constant : s.constants) text += " constant " + format(constant);
  if (s.weight_bits > 0) text += " weights of " + std::to_string(s.weight_bits) + " bits";
  return text + " " + std::string(name(s.type));
}

}  // namespace tenshot::nasbench
