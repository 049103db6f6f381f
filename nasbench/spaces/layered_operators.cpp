#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <set>

#include "nasbench/spaces/layered_expansion.h"
#include "nasbench/support/error.h"
#include "nasbench/support/json_reader.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/text.h"

namespace tenshot::nasbench {

using nlohmann::json;

namespace {

constexpr int most_channels = 1 << 20;
constexpr std::array<std::string_view, 8> activations = {"relu", "relu6",   "hard_swish", "hard_sigmoid",
                                                         "silu", "sigmoid", "gelu",       "tanh"};

Shape shape_of(std::int64_t channels, std::int64_t height, std::int64_t width) { return {1, channels, height, width}; }

/// The MobileNets' rounding of channels: to the nearest multiple, but never below nine tenths.
double rounded_to_multiple(double channels, int multiple) {
  double rounded = std::max<double>(multiple, std::floor((channels + multiple / 2.0) / multiple) * multiple);
  if (rounded < 0.9 * channels) rounded += multiple;
  return rounded;
}

}  // namespace

void Expansion::require_image(const Entry& entry, int input) const {
  if (shape(input).size() == 4) return;
  throw FormatError(file_ + ": " + entry.place + ": takes an image, and a flat tensor of " +
                    format_extents(shape(input)) + " stands before it");
}

Shape Expansion::windowed(const Entry& entry, int input, std::int64_t channels, const OperatorSpecification& window,
                          const Extent& padding) const {
  const auto positions = [](std::int64_t length, int kernel, int stride, int dilation, int pad) {
    const std::int64_t room = length + 2 * pad - (std::int64_t{dilation} * (kernel - 1) + 1);
    return room < 0 ? 0 : room / stride + 1;
  };
  const Shape& from = shape(input);
  const Shape result = shape_of(
      channels, positions(from[2], window.kernel.height, window.stride.height, window.dilation.height, padding.height),
      positions(from[3], window.kernel.width, window.stride.width, window.dilation.width, padding.width));
  if (result[2] > 0 && result[3] > 0) return result;
  throw FormatError(file_ + ": " + entry.place + ": its window leaves nothing of a tensor of " + format_extents(from));
}

Extent Expansion::window(const Entry& entry, OperatorSpecification& specification) const {
  specification.kernel = extent(entry, "kernel", 1, {1, 1});
  specification.stride = extent(entry, "stride", 1, {1, 1});
  specification.dilation = extent(entry, "dilation", 1, {1, 1});
  const auto same = [](int kernel, int dilation) { return kernel % 2 == 1 ? dilation * (kernel - 1) / 2 : 0; };
  return extent(entry, "padding", 0,
                {same(specification.kernel.height, specification.dilation.height),
                 same(specification.kernel.width, specification.dilation.width)});
}

int Expansion::append_convolution(const Entry& entry, int input) {
  require_keys(entry, {"channels", "multiple_of", "kernel", "stride", "dilation", "padding", "groups", "depthwise",
                       "bias", "batch_norm", "activation"});
  require_image(entry, input);
  OperatorSpecification specification;
  specification.kind = OperatorKind::convolution;
  const Extent padding = window(entry, specification);
  const auto in = static_cast<int>(channels_of(shape(input)));
  const int channels = channel_count(entry, in);
  const bool depthwise = flag(entry, "depthwise");
  specification.groups = depthwise ? in : whole(entry, "groups", 1, 1, most_channels);
  if (in % specification.groups != 0 || channels % specification.groups != 0) {
    throw FormatError(file_ + ": " + entry.place + ": " + std::to_string(specification.groups) +
                      " groups do not divide " + std::to_string(in) + " input and " + std::to_string(channels) +
                      " output channels");
  }
  specification.bias = flag(entry, "bias");
  specification.output = windowed(entry, input, channels, specification, padding);
  int last = push(entry, std::move(specification), {input}, padding);
  if (flag(entry, "batch_norm")) last = push_elementwise(entry, OperatorKind::batch_norm, "", last);
  return append_optional_activation(entry, last);
}

int Expansion::channel_count(const Entry& entry, int otherwise) const {
  double channels = number(entry, "channels", otherwise);
  if (entry.find("multiple_of") != nullptr) {
    channels = rounded_to_multiple(channels, whole(entry, "multiple_of", 1, 1, most_channels));
  }
  channels = std::round(channels);
  if (channels >= 1 && channels <= most_channels) return static_cast<int>(channels);
  throw FormatError(file_ + ": " + entry.place + ".channels is " + shortest(channels) + ", expected 1 to " +
                    std::to_string(most_channels));
}

int Expansion::push_elementwise(const Entry& entry, OperatorKind kind, std::string name, int input) {
  OperatorSpecification specification;
  specification.kind = kind;
  specification.name = std::move(name);
  specification.output = shape(input);
  return push(entry, std::move(specification), {input});
}

int Expansion::append_optional_activation(const Entry& entry, int input) {
  const std::string activation = text(entry, "activation");
  if (activation.empty() || activation == "none") return input;
  return push_activation(entry, activation, "activation", input);
}

int Expansion::push_activation(const Entry& entry, const std::string& name, const char* key, int input) {
  if (std::find(activations.begin(), activations.end(), name) == activations.end()) {
    throw FormatError(file_ + ": " + entry.place + "." + key + ": there is no activation '" + excerpt(name) +
                      "'; there are: none, " + joined(activations));
  }
  return push_elementwise(entry, OperatorKind::activation, name, input);
}

int Expansion::append_activation(const Entry& entry, int input) {
  require_keys(entry, {"name"});
  const std::string name = text(entry, "name");
  return name == "none" ? input : push_activation(entry, name, "name", input);
}

int Expansion::append_batch_norm(const Entry& entry, int input) {
  require_keys(entry, {});
  return push_elementwise(entry, OperatorKind::batch_norm, "", input);
}

int Expansion::append_softmax(const Entry& entry, int input) {
  require_keys(entry, {});
  return push_elementwise(entry, OperatorKind::softmax, "", input);
}

int Expansion::append_pool(const Entry& entry, int input) {
  require_keys(entry, {"kernel", "stride", "dilation", "padding"});
  require_image(entry, input);
  OperatorSpecification specification;
  specification.kind = operator_kind(entry.object.at("kind").get<std::string>());
  const Extent padding = window(entry, specification);
  specification.output = windowed(entry, input, channels_of(shape(input)), specification, padding);
  return push(entry, std::move(specification), {input}, padding);
}

int Expansion::append_global_pool(const Entry& entry, int input) {
  require_keys(entry, {});
  require_image(entry, input);
  OperatorSpecification specification;
  specification.kind = OperatorKind::global_pool;
  specification.output = shape_of(channels_of(shape(input)), 1, 1);
  return push(entry, std::move(specification), {input});
}

int Expansion::append_shuffle(const Entry& entry, int input) {
  require_keys(entry, {"groups"});
  require_image(entry, input);
  const int groups = whole(entry, "groups", 1, 1, most_channels);
  if (groups == 1) return input;
  if (channels_of(shape(input)) % groups != 0) {
    throw FormatError(file_ + ": " + entry.place + ": " + std::to_string(groups) + " groups do not divide " +
                      std::to_string(channels_of(shape(input))) + " channels");
  }
  OperatorSpecification specification;
  specification.kind = OperatorKind::shuffle;
  specification.groups = groups;
  specification.output = shape(input);
  return push(entry, std::move(specification), {input});
}

int Expansion::append_flatten(const Entry& entry, int input) {
  require_keys(entry, {});
  if (shape(input).size() == 2) return input;
  OperatorSpecification specification;
  specification.kind = OperatorKind::reshape;
  specification.output = {1, element_count(shape(input))};
  return push(entry, std::move(specification), {input});
}

int Expansion::append_linear(const Entry& entry, int input) {
  require_keys(entry, {"channels", "multiple_of", "bias", "activation"});
  if (input + 1 == static_cast<int>(block_.operators.size()) && input >= 0 &&
      block_.operators.back().specification.kind == OperatorKind::global_pool) {
    block_.operators.back().specification.output = {1, channels_of(shape(input))};  // it need not be flattened again
  }
  if (shape(input).size() == 4) {
    OperatorSpecification flat;
    flat.kind = OperatorKind::reshape;
    flat.output = {1, element_count(shape(input))};
    input = push(entry, std::move(flat), {input});
  }
  OperatorSpecification specification;
  specification.kind = OperatorKind::linear;
  specification.bias = entry.find("bias") == nullptr || flag(entry, "bias");
  specification.output = {
      1, channel_count(entry, static_cast<int>(std::min<std::int64_t>(shape(input).back(), most_channels)))};
  return append_optional_activation(entry, push(entry, std::move(specification), {input}));
}

int Expansion::push_joint(const Entry& entry, OperatorKind kind, const Shape& output, std::vector<int> inputs) {
  OperatorSpecification specification;
  specification.kind = kind;
  specification.output = output;
  return push(entry, std::move(specification), std::move(inputs));
}

int Expansion::append_residual(const Entry& entry, int input) {
  require_keys(entry, {"operators"});
  const int last = append_list(list_of(entry), entry.place + ".operators", entry.values, input);
  if (last == input || shape(last) != shape(input)) return last;
  return push_joint(entry, OperatorKind::add, shape(last), {last, input});
}

int Expansion::append_scale(const Entry& entry, int input) {
  require_keys(entry, {"operators"});
  require_image(entry, input);
  const int factors = append_list(list_of(entry), entry.place + ".operators", entry.values, input);
  const Shape expected = shape_of(channels_of(shape(input)), 1, 1);
  if (shape(factors) != expected && shape(factors) != shape(input)) {
    throw FormatError(file_ + ": " + entry.place + ": its operators give " + format_extents(shape(factors)) +
                      ", expected " + format_extents(expected) + ", a factor for each channel");
  }
  return push_joint(entry, OperatorKind::multiply, shape(input), {input, factors});
}

int Expansion::append_branches(const Entry& entry, int input) {
  require_keys(entry, {"operators", "join"});
  const json& lists = list_of(entry);
  if (!lists.is_array() || lists.empty()) fail(entry.place + ".operators", "a list of lists of operators", lists);
  const std::string join = text(entry, "join");
  if (join != "add" && join != "concatenate") {
    throw FormatError(file_ + ": " + entry.place + ".join is '" + excerpt(join) + "', expected add or concatenate");
  }
  std::vector<int> ends;
  for (std::size_t i = 0; i < lists.size(); ++i) {
    ends.push_back(append_list(lists[i], entry.place + ".operators[" + std::to_string(i) + "]", entry.values, input));
  }
  Shape output = shape(ends[0]);
  for (std::size_t i = 1; i < ends.size(); ++i) {
    Shape other = shape(ends[i]);
    const std::int64_t channels = channels_of(other);
    if (join == "concatenate" && other.size() == output.size()) other[1] = output[1];
    if (other != output) {
      throw FormatError(file_ + ": " + entry.place + ": branch " + std::to_string(i) + " gives " +
                        format_extents(shape(ends[i])) + ", which does not fit " + format_extents(shape(ends[0])) +
                        " of branch 0");
    }
    if (join == "concatenate") output[1] += channels;
  }
  if (ends.size() == 1) return ends[0];
  if (join == "concatenate") return push_joint(entry, OperatorKind::concatenate, output, ends);
  int sum = ends[0];
  for (std::size_t i = 1; i < ends.size(); ++i) sum = push_joint(entry, OperatorKind::add, output, {sum, ends[i]});
  return sum;
}

}  // namespace tenshot::nasbench
