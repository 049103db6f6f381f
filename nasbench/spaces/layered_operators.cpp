#include <array>
#include <cmath>

#include "nasbench/graph/network_builder.h"
#include "nasbench/spaces/layered_expansion.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/text.h"

namespace tenshot::nasbench {

namespace {

constexpr std::array<std::string_view, 8> activations = {"relu", "relu6",   "hard_swish", "hard_sigmoid",
                                                         "silu", "sigmoid", "gelu",       "tanh"};

Shape shape_of(std::int64_t channels, std::int64_t height, std::int64_t width) { return {1, channels, height, width}; }

WindowOptions window_of(const OperatorSpecification& s, const Extent& padding) {
  return {s.kernel, s.stride, {padding.height, padding.width, padding.height, padding.width}, s.dilation};
}

}  // namespace

void Expansion::require_image(const Entry& entry, Source input) const {
  if (shape(input).size() == 4) return;
  refuse(entry.place + ": takes an image, and a flat tensor of " + format_extents(shape(input)) + " stands before it");
}

Shape Expansion::windowed(const Entry& entry, Source input, std::int64_t channels, const OperatorSpecification& window,
                          const Extent& padding) const {
  const auto [rows, columns] = axes_of(window_of(window, padding));
  const Shape& from = shape(input);
  const Shape result = shape_of(channels, window_positions(from[2], rows), window_positions(from[3], columns));
  if (result[2] > 0 && result[3] > 0) return result;
  refuse(entry.place + ": its window leaves nothing of a tensor of " + format_extents(from));
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

int Expansion::read_convolution(const Entry& entry, Source input, OperatorSpecification& specification) const {
  require_image(entry, input);
  const auto in = static_cast<int>(channels_of(shape(input)));
  const int channels = channel_count(entry, in);
  const bool depthwise = flag(entry, "depthwise");
  specification.groups = depthwise ? in : whole(entry, "groups", 1, 1, largest_channel_count);
  if (in % specification.groups != 0 || channels % specification.groups != 0) {
    refuse(entry.place + ": " + std::to_string(specification.groups) + " groups do not divide " + std::to_string(in) +
           " input and " + std::to_string(channels) + " output channels");
  }
  specification.bias = flag(entry, "bias");
  return channels;
}

Source Expansion::append_convolution(const Entry& entry, Source input) {
  require_keys(entry, {"channels", "scaled", "multiple_of", "kernel", "stride", "dilation", "padding", "groups",
                       "depthwise", "bias", "batch_norm", "activation"});
  OperatorSpecification specification;
  specification.kind = OperatorKind::convolution;
  const int channels = read_convolution(entry, input, specification);
  const Extent padding = window(entry, specification);
  specification.output = windowed(entry, input, channels, specification, padding);
  return append_norm_and_activation(entry, push(entry.place, std::move(specification), {input}, padding));
}

Source Expansion::append_transposed_convolution(const Entry& entry, Source input) {
  require_keys(entry, {"channels", "scaled", "multiple_of", "kernel", "stride", "dilation", "padding", "output_padding",
                       "groups", "depthwise", "bias", "batch_norm", "activation"});
  OperatorSpecification specification;
  specification.kind = OperatorKind::transposed_convolution;
  const int channels = read_convolution(entry, input, specification);
  const Extent padding = window(entry, specification), more = extent(entry, "output_padding", 0, {0, 0});
  const auto [rows, columns] = axes_of(window_of(specification, padding));
  const Shape& from = shape(input);
  specification.output = shape_of(channels, stretched_length(from[2], rows) + more.height,
                                  stretched_length(from[3], columns) + more.width);
  if (specification.output[2] < 1 || specification.output[3] < 1)
    refuse(entry.place + ": its padding leaves nothing of a tensor of " + format_extents(from));
  return append_norm_and_activation(entry, push(entry.place, std::move(specification), {input}, padding));
}

Source Expansion::append_norm_and_activation(const Entry& entry, Source input) {
  if (flag(entry, "batch_norm")) input = push_plain(entry.place, OperatorKind::batch_norm, shape(input), {input});
  return append_optional_activation(entry, input);
}

double Expansion::channels_of_value(const Entry& entry, const nlohmann::json& value, const std::string& place) const {
  const double channels = number_of(value, place, entry.values);
  const WidthScale* width = builder_.width;
  if (width == nullptr || !value.is_number() || number(entry, "scaled", 1) == 0) return channels;
  return rounded_to_multiple(channels * width->multiplier, width->multiple_of);
}

int Expansion::channel_count(const Entry& entry, int otherwise) const {
  const nlohmann::json* value = entry.find("channels");
  double channels = value == nullptr ? otherwise : channels_of_value(entry, *value, entry.place + ".channels");
  if (entry.find("multiple_of") != nullptr) {
    channels = rounded_to_multiple(channels, whole(entry, "multiple_of", 1, 1, largest_channel_count));
  }
  channels = std::round(channels);
  if (channels >= 1 && channels <= largest_channel_count) return static_cast<int>(channels);
  refuse(entry.place + ".channels is " + shortest(channels) + ", expected 1 to " +
         std::to_string(largest_channel_count));
}

Source Expansion::append_optional_activation(const Entry& entry, Source input) {
  const std::string activation = text(entry, "activation");
  if (activation.empty() || activation == "none") return input;
  return push_activation(entry, activation, "activation", input);
}

Source Expansion::push_activation(const Entry& entry, const std::string& name, const char* key, Source input) {
  if (std::find(activations.begin(), activations.end(), name) == activations.end()) {
    refuse(entry.place + "." + key + ": there is no activation '" + excerpt(name) + "'; there are: none, " +
           joined(activations));
  }
  const Source added = push_plain(entry.place, OperatorKind::activation, shape(input), {input});
  block_.operators.back().specification.name = name;
  return added;
}

Source Expansion::append_activation(const Entry& entry, Source input) {
  require_keys(entry, {"name"});
  const std::string name = text(entry, "name");
  return name == "none" ? input : push_activation(entry, name, "name", input);
}

Source Expansion::append_plain(const Entry& entry, Source input) {
  require_keys(entry, {});
  const OperatorKind kind = *entry.find("kind") == "softmax" ? OperatorKind::softmax : OperatorKind::batch_norm;
  return push_plain(entry.place, kind, shape(input), {input});
}

Source Expansion::append_pool(const Entry& entry, Source input) {
  require_keys(entry, {"kernel", "stride", "dilation", "padding"});
  require_image(entry, input);
  OperatorSpecification specification;
  specification.kind = operator_kind(entry.object.at("kind").get<std::string>());
  const Extent padding = window(entry, specification);
  specification.output = windowed(entry, input, channels_of(shape(input)), specification, padding);
  return push(entry.place, std::move(specification), {input}, padding);
}

Source Expansion::append_global_pool(const Entry& entry, Source input) {
  require_keys(entry, {});
  require_image(entry, input);
  return push_plain(entry.place, OperatorKind::global_pool, shape_of(channels_of(shape(input)), 1, 1), {input});
}

Source Expansion::append_shuffle(const Entry& entry, Source input) {
  require_keys(entry, {"groups"});
  require_image(entry, input);
  const int groups = whole(entry, "groups", 1, 1, largest_channel_count);
  if (groups == 1) return input;
  if (channels_of(shape(input)) % groups != 0) {
    refuse(entry.place + ": " + std::to_string(groups) + " groups do not divide " +
           std::to_string(channels_of(shape(input))) + " channels");
  }
  const Source added = push_plain(entry.place, OperatorKind::shuffle, shape(input), {input});
  block_.operators.back().specification.groups = groups;
  return added;
}

Source Expansion::flat(const Entry& entry, Source input) {
  if (shape(input).size() == 2) return input;
  return push_plain(entry.place, OperatorKind::reshape, {1, element_count(shape(input))}, {input});
}

Source Expansion::append_flatten(const Entry& entry, Source input) {
  require_keys(entry, {});
  return flat(entry, input);
}

Source Expansion::append_linear(const Entry& entry, Source input) {
  require_keys(entry, {"channels", "scaled", "multiple_of", "bias", "activation"});
  if (input.node >= 0 && input.node + 1 == static_cast<int>(block_.operators.size()) && !has_name(input) &&
      block_.operators.back().specification.kind == OperatorKind::global_pool) {
    block_.operators.back().specification.output = {1, channels_of(shape(input))};  // it need not be flattened again
  }
  input = flat(entry, input);
  OperatorSpecification specification;
  specification.kind = OperatorKind::linear;
  specification.bias = entry.find("bias") == nullptr || flag(entry, "bias");
  specification.output = {
      1, channel_count(entry, static_cast<int>(std::min<std::int64_t>(shape(input).back(), largest_channel_count)))};
  return append_optional_activation(entry, push(entry.place, std::move(specification), {input}));
}

Source Expansion::append_residual(const Entry& entry, Source input) {
  require_keys(entry, {"operators"});
  const Source last = append_list(list_of(entry), entry.place + ".operators", entry.values, input);
  if (last == input || shape(last) != shape(input)) return last;
  return push_plain(entry.place, OperatorKind::add, shape(last), {last, input});
}

Source Expansion::append_scale(const Entry& entry, Source input) {
  require_keys(entry, {"operators"});
  require_image(entry, input);
  const Source factors = append_list(list_of(entry), entry.place + ".operators", entry.values, input);
  const Shape expected = shape_of(channels_of(shape(input)), 1, 1);
  if (shape(factors) != expected && shape(factors) != shape(input)) {
    refuse(entry.place + ": its operators give " + format_extents(shape(factors)) + ", expected " +
           format_extents(expected) + ", a factor for each channel");
  }
  return push_plain(entry.place, OperatorKind::multiply, shape(input), {input, factors});
}

Source Expansion::append_branches(const Entry& entry, Source input) {
  require_keys(entry, {"operators", "join"});
  const nlohmann::json& lists = list_of(entry);
  if (!lists.is_array() || lists.empty()) fail(entry.place + ".operators", "a list of lists of operators", lists);
  const std::string join = text(entry, "join");
  if (join != "add" && join != "concatenate")
    refuse(entry.place + ".join is '" + excerpt(join) + "', expected add or concatenate");
  std::vector<Taken> ends;
  for (std::size_t i = 0; i < lists.size(); ++i) {
    const std::string place = entry.place + ".operators[" + std::to_string(i) + "]";
    ends.push_back({"branch " + std::to_string(i), append_list(lists[i], place, entry.values, input)});
  }
  return join == "add" ? summed(ends, entry.place) : joined_channels(ends, entry.place);
}

}  // namespace tenshot::nasbench
