#include "nasbench/spaces/layered_block.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "nasbench/support/error.h"
#include "nasbench/support/json_reader.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/text.h"

namespace tenshot::nasbench {
namespace {

using nlohmann::json;

constexpr int most_channels = 1 << 20;
constexpr int widest_window = 1 << 10;
constexpr double most_elements = 1e13;       ///< of one tensor or of one operator's weights
constexpr double most_multiply_adds = 1e15;  ///< of one operator
constexpr int deepest_nesting = 16;          ///< of lists and templates in each other
constexpr std::size_t most_entries = 1'000'000;

constexpr std::array<std::string_view, 8> activations = {"relu", "relu6",   "hard_swish", "hard_sigmoid",
                                                         "silu", "sigmoid", "gelu",       "tanh"};

bool is_name(std::string_view text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !text.empty() && letter(text.front()) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

/// The known names, for messages.
std::string names_of(const TemplateValues& values) {
  std::vector<std::string> names;
  for (const auto& entry : values) names.push_back(entry.first);
  return names.empty() ? "none" : joined(names);
}

Shape shape_of(std::int64_t channels, std::int64_t height, std::int64_t width) { return {1, channels, height, width}; }

std::int64_t channels_of(const Shape& shape) { return shape.size() == 4 ? shape[1] : shape.back(); }

std::string format_shape(const Shape& shape) {
  std::vector<std::string> extents;
  for (std::size_t i = 1; i < shape.size(); ++i) extents.push_back(std::to_string(shape[i]));
  return joined(extents, "x");
}

/// The factors of "a*b/c", each with what joins it to those before.
struct Factor {
  char join = '*';
  std::string_view text;
};

std::vector<Factor> factors_of(std::string_view text) {
  std::vector<Factor> factors;
  char join = '*';
  while (true) {
    const std::size_t end = text.find_first_of("*/");
    factors.push_back({join, trimmed(text.substr(0, end))});
    if (end == std::string_view::npos) return factors;
    join = text[end];
    text.remove_prefix(end + 1);
  }
}

/// The MobileNets' rounding of channels: to the nearest multiple, but never below nine tenths.
double rounded_to_multiple(double channels, int multiple) {
  double rounded = std::max<double>(multiple, std::floor((channels + multiple / 2.0) / multiple) * multiple);
  if (rounded < 0.9 * channels) rounded += multiple;
  return rounded;
}

/// Fills one block.
class Expansion {
 public:
  Expansion(const BlockBuilder& builder, const json& templates, const std::string& file, std::size_t& expanded,
            Shape input)
      : builder_(builder), templates_(templates), file_(file), expanded_(expanded), input_(std::move(input)) {}

  /// Appends the operators of a list that takes the tensor `input`; the index of what they give.
  int append_list(const json& list, const std::string& place, const TemplateValues& values, int input) {
    if (!list.is_array()) fail(place, "a list of operators", list);
    if (++depth_ > deepest_nesting) {
      throw FormatError(file_ + ": " + place + " is nested in over " + std::to_string(deepest_nesting) +
                        " lists and templates; does a template use itself?");
    }
    TemplateValues own = values;
    own["in"] = static_cast<double>(channels_of(shape(input)));
    int last = input;
    for (std::size_t i = 0; i < list.size(); ++i) {
      own["channels"] = static_cast<double>(channels_of(shape(last)));
      last = append_entry(list[i], place + "[" + std::to_string(i) + "]", own, last);
    }
    --depth_;
    return last;
  }

  int append_template(const std::string& name, const std::string& place, const TemplateValues& values, int input) {
    const auto found = templates_.is_object() ? templates_.find(name) : templates_.end();
    if (!templates_.is_object() || found == templates_.end()) {
      std::vector<std::string> known;
      for (const auto& entry : templates_.items()) known.push_back(entry.key());
      throw FormatError(file_ + ": " + place + ": there is no template '" + excerpt(name) +
                        "'; there are: " + (known.empty() ? "none" : joined(known)));
    }
    return append_list(*found, "templates." + excerpt(name), values, input);
  }

  Block take(int output) {
    block_.output_index = output;
    block_.output = shape(output);
    return std::move(block_);
  }

 private:
  const Shape& shape(int index) const {
    return index == Block::input_index ? input_
                                       : block_.operators[static_cast<std::size_t>(index)].specification.output;
  }

  [[noreturn]] void fail(const std::string& place, const std::string& expected, const json& found) const {
    throw FormatError(file_ + ": " + place + " is " + shown(found) + ", expected " + expected);
  }

  /// One entry of a list, with what its values stand for.
  struct Entry {
    const json& object;
    const std::string& place;
    const TemplateValues& values;

    const json* find(const char* key) const {
      const auto found = object.find(key);
      return found == object.end() ? nullptr : &*found;
    }
  };

  double number(const Entry& entry, const char* key, double otherwise) const {
    const json* value = entry.find(key);
    if (value == nullptr) return otherwise;
    return number_of(*value, entry.place + "." + key, entry.values);
  }

  double number_of(const json& value, const std::string& place, const TemplateValues& values) const {
    const TemplateValue result = builder_.value_of(value, place, values);
    if (const double* number = std::get_if<double>(&result)) return *number;
    fail(place, "a number, or an expression such as \"in*6\" of the known values: " + names_of(values), value);
  }

  int whole(const Entry& entry, const char* key, int otherwise, int least, int most) const {
    const double value = std::round(number(entry, key, otherwise));
    if (value >= least && value <= most) return static_cast<int>(value);
    throw FormatError(file_ + ": " + entry.place + "." + key + " is " + shortest(value) + ", expected " +
                      std::to_string(least) + " to " + std::to_string(most));
  }

  Extent extent(const Entry& entry, const char* key, int least, Extent otherwise) const {
    const json* value = entry.find(key);
    if (value == nullptr) return otherwise;
    const auto one = [&](const json& part) {
      const double number = std::round(number_of(part, entry.place + "." + key, entry.values));
      if (number >= least && number <= widest_window) return static_cast<int>(number);
      fail(entry.place + "." + key, std::to_string(least) + " to " + std::to_string(widest_window), part);
    };
    if (!value->is_array()) return {one(*value), one(*value)};
    if (value->size() != 2) fail(entry.place + "." + key, "a number, or [height, width]", *value);
    return {one((*value)[0]), one((*value)[1])};
  }

  bool flag(const Entry& entry, const char* key) const { return number(entry, key, 0) != 0; }

  std::string text(const Entry& entry, const char* key) const {
    const json* value = entry.find(key);
    if (value == nullptr) return {};
    const TemplateValue result = builder_.value_of(*value, entry.place + "." + key, entry.values);
    if (const auto* name = std::get_if<std::string>(&result)) return *name;
    fail(entry.place + "." + key, "a name", *value);
  }

  /// Whether "when" and "unless" let the entry stand.
  bool stands(const Entry& entry) const { return number(entry, "when", 1) != 0 && number(entry, "unless", 0) == 0; }

  void require_keys(const Entry& entry, std::initializer_list<std::string_view> known) const {
    for (const auto& item : entry.object.items()) {
      const std::string& key = item.key();
      if (key == "kind" || key == "when" || key == "unless" || key == "comment") continue;
      if (std::find(known.begin(), known.end(), key) != known.end()) continue;
      throw FormatError(file_ + ": " + entry.place + ": key '" + excerpt(key) + "' is unknown; this kind takes: " +
                        (known.size() == 0 ? "none" : joined(known)) + "; and when, unless, comment");
    }
  }

  int append_entry(const json& object, const std::string& place, const TemplateValues& values, int input) {
    if (!object.is_object()) fail(place, "an operator such as {\"kind\": \"convolution\", \"kernel\": 3}", object);
    if (++expanded_ > most_entries) {
      throw FormatError(file_ + ": " + place + ": its templates make over " + std::to_string(most_entries) +
                        " operators; use fewer, or less nested ones");
    }
    const Entry entry{object, place, values};
    if (!stands(entry)) return input;
    if (const json* name = entry.find("template")) {
      if (!name->is_string()) fail(place + ".template", "the name of a template", *name);
      TemplateValues inner = values;
      for (const auto& item : object.items()) {
        if (item.key() == "template" || item.key() == "comment") continue;
        inner[item.key()] = builder_.value_of(item.value(), place + "." + item.key(), values);
      }
      return append_template(name->get<std::string>(), place, inner, input);
    }
    const json* kind = entry.find("kind");
    if (kind == nullptr || !kind->is_string()) {
      throw FormatError(file_ + ": " + place + ": has neither a 'kind' nor a 'template', expected one such as " +
                        "\"kind\": \"convolution\"");
    }
    return append_kind(kind->get<std::string>(), entry, input);
  }

  int append_kind(const std::string& kind, const Entry& entry, int input) {
    using Append = int (Expansion::*)(const Entry&, int);
    static const std::map<std::string, Append, std::less<>> kinds = {
        {"convolution", &Expansion::append_convolution}, {"linear", &Expansion::append_linear},
        {"max_pool", &Expansion::append_pool},           {"average_pool", &Expansion::append_pool},
        {"global_pool", &Expansion::append_global_pool}, {"batch_norm", &Expansion::append_batch_norm},
        {"activation", &Expansion::append_activation},   {"softmax", &Expansion::append_softmax},
        {"shuffle", &Expansion::append_shuffle},         {"flatten", &Expansion::append_flatten},
        {"residual", &Expansion::append_residual},       {"scale", &Expansion::append_scale},
        {"branches", &Expansion::append_branches},
    };
    const auto found = kinds.find(kind);
    if (found != kinds.end()) return (this->*found->second)(entry, input);
    std::vector<std::string> known;
    for (const auto& row : kinds) known.push_back(row.first);
    throw FormatError(file_ + ": " + entry.place + ".kind: there is no kind '" + excerpt(kind) +
                      "'; there are: " + joined(known));
  }

  int push(const Entry& entry, OperatorSpecification specification, std::vector<int> inputs,
           const Extent& padding = {0, 0}) {
    for (const int input : inputs) specification.inputs.push_back(shape(input));
    require_countable(entry, specification);
    block_.multiply_adds += multiply_adds(specification);
    block_.operators.push_back({std::move(specification), std::move(inputs), padding});
    return static_cast<int>(block_.operators.size()) - 1;
  }

  /// What would not fit 64 bits is refused before anything counts it.
  void require_countable(const Entry& entry, const OperatorSpecification& specification) const {
    double elements = 1;
    for (const std::int64_t extent : specification.output) elements *= static_cast<double>(extent);
    const bool weighted = specification.kind == OperatorKind::convolution || specification.kind == OperatorKind::linear;
    const double weights = weighted
                               ? static_cast<double>(channels_of(specification.inputs[0])) *
                                     static_cast<double>(channels_of(specification.output)) / specification.groups *
                                     specification.kernel.height * specification.kernel.width
                               : 0;
    const double positions = elements / static_cast<double>(channels_of(specification.output));
    if (elements <= most_elements && weights <= most_elements && weights * positions <= most_multiply_adds) return;
    throw FormatError(file_ + ": " + entry.place + ": makes a tensor of " + format_shape(specification.output) +
                      ", too large to compute with; make the channels or the resolution smaller");
  }

  void require_image(const Entry& entry, int input) const {
    if (shape(input).size() == 4) return;
    throw FormatError(file_ + ": " + entry.place + ": takes an image, and a flat tensor of " +
                      format_shape(shape(input)) + " stands before it");
  }

  /// Output shape of a window on the tensor `input`.
  Shape windowed(const Entry& entry, int input, std::int64_t channels, const OperatorSpecification& window,
                 const Extent& padding) const {
    const auto positions = [](std::int64_t length, int kernel, int stride, int dilation, int pad) {
      const std::int64_t room = length + 2 * pad - (std::int64_t{dilation} * (kernel - 1) + 1);
      return room < 0 ? 0 : room / stride + 1;
    };
    const Shape& from = shape(input);
    const Shape result =
        shape_of(channels,
                 positions(from[2], window.kernel.height, window.stride.height, window.dilation.height, padding.height),
                 positions(from[3], window.kernel.width, window.stride.width, window.dilation.width, padding.width));
    if (result[2] > 0 && result[3] > 0) return result;
    throw FormatError(file_ + ": " + entry.place + ": its window leaves nothing of a tensor of " + format_shape(from));
  }

  /// The window of convolutions and pools: as much padding as keeps the size at stride 1 where the kernel is odd.
  Extent window(const Entry& entry, OperatorSpecification& specification) const {
    specification.kernel = extent(entry, "kernel", 1, {1, 1});
    specification.stride = extent(entry, "stride", 1, {1, 1});
    specification.dilation = extent(entry, "dilation", 1, {1, 1});
    const auto same = [](int kernel, int dilation) { return kernel % 2 == 1 ? dilation * (kernel - 1) / 2 : 0; };
    return extent(entry, "padding", 0,
                  {same(specification.kernel.height, specification.dilation.height),
                   same(specification.kernel.width, specification.dilation.width)});
  }

  int append_convolution(const Entry& entry, int input) {
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

  int channel_count(const Entry& entry, int otherwise) const {
    double channels = number(entry, "channels", otherwise);
    if (entry.find("multiple_of") != nullptr) {
      channels = rounded_to_multiple(channels, whole(entry, "multiple_of", 1, 1, most_channels));
    }
    channels = std::round(channels);
    if (channels >= 1 && channels <= most_channels) return static_cast<int>(channels);
    throw FormatError(file_ + ": " + entry.place + ".channels is " + shortest(channels) + ", expected 1 to " +
                      std::to_string(most_channels));
  }

  int push_elementwise(const Entry& entry, OperatorKind kind, std::string name, int input) {
    OperatorSpecification specification;
    specification.kind = kind;
    specification.name = std::move(name);
    specification.output = shape(input);
    return push(entry, std::move(specification), {input});
  }

  int append_optional_activation(const Entry& entry, int input) {
    const std::string activation = text(entry, "activation");
    if (activation.empty() || activation == "none") return input;
    return push_activation(entry, activation, "activation", input);
  }

  int push_activation(const Entry& entry, const std::string& name, const char* key, int input) {
    if (std::find(activations.begin(), activations.end(), name) == activations.end()) {
      throw FormatError(file_ + ": " + entry.place + "." + key + ": there is no activation '" + excerpt(name) +
                        "'; there are: none, " + joined(activations));
    }
    return push_elementwise(entry, OperatorKind::activation, name, input);
  }

  int append_activation(const Entry& entry, int input) {
    require_keys(entry, {"name"});
    const std::string name = text(entry, "name");
    return name == "none" ? input : push_activation(entry, name, "name", input);
  }

  int append_batch_norm(const Entry& entry, int input) {
    require_keys(entry, {});
    return push_elementwise(entry, OperatorKind::batch_norm, "", input);
  }

  int append_softmax(const Entry& entry, int input) {
    require_keys(entry, {});
    return push_elementwise(entry, OperatorKind::softmax, "", input);
  }

  int append_pool(const Entry& entry, int input) {
    require_keys(entry, {"kernel", "stride", "dilation", "padding"});
    require_image(entry, input);
    OperatorSpecification specification;
    specification.kind = operator_kind(entry.object.at("kind").get<std::string>());
    const Extent padding = window(entry, specification);
    specification.output = windowed(entry, input, channels_of(shape(input)), specification, padding);
    return push(entry, std::move(specification), {input}, padding);
  }

  int append_global_pool(const Entry& entry, int input) {
    require_keys(entry, {});
    require_image(entry, input);
    OperatorSpecification specification;
    specification.kind = OperatorKind::global_pool;
    specification.output = shape_of(channels_of(shape(input)), 1, 1);
    return push(entry, std::move(specification), {input});
  }

  /// A shuffle of one group moves nothing, and is left out.
  int append_shuffle(const Entry& entry, int input) {
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

  int append_flatten(const Entry& entry, int input) {
    require_keys(entry, {});
    if (shape(input).size() == 2) return input;
    OperatorSpecification specification;
    specification.kind = OperatorKind::reshape;
    specification.output = {1, element_count(shape(input))};
    return push(entry, std::move(specification), {input});
  }

  int append_linear(const Entry& entry, int input) {
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

  const json& list_of(const Entry& entry) const {
    const json* list = entry.find("operators");
    if (list == nullptr) {
      throw FormatError(file_ + ": " + entry.place + ": has no 'operators', expected a list of operators");
    }
    return *list;
  }

  int push_joint(const Entry& entry, OperatorKind kind, const Shape& output, std::vector<int> inputs) {
    OperatorSpecification specification;
    specification.kind = kind;
    specification.output = output;
    return push(entry, std::move(specification), std::move(inputs));
  }

  /// Adds the input to what the operators give, where both have the same shape.
  int append_residual(const Entry& entry, int input) {
    require_keys(entry, {"operators"});
    const int last = append_list(list_of(entry), entry.place + ".operators", entry.values, input);
    if (last == input || shape(last) != shape(input)) return last;
    return push_joint(entry, OperatorKind::add, shape(last), {last, input});
  }

  /// Multiplies the input by what the operators give for each channel: squeeze-and-excitation.
  int append_scale(const Entry& entry, int input) {
    require_keys(entry, {"operators"});
    require_image(entry, input);
    const int factors = append_list(list_of(entry), entry.place + ".operators", entry.values, input);
    const Shape expected = shape_of(channels_of(shape(input)), 1, 1);
    if (shape(factors) != expected && shape(factors) != shape(input)) {
      throw FormatError(file_ + ": " + entry.place + ": its operators give " + format_shape(shape(factors)) +
                        ", expected " + format_shape(expected) + ", a factor for each channel");
    }
    return push_joint(entry, OperatorKind::multiply, shape(input), {input, factors});
  }

  int append_branches(const Entry& entry, int input) {
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
                          format_shape(shape(ends[i])) + ", which does not fit " + format_shape(shape(ends[0])) +
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

  const BlockBuilder& builder_;
  const json& templates_;
  const std::string& file_;
  std::size_t& expanded_;
  const Shape input_;
  Block block_;
  int depth_ = 0;
};

}  // namespace

TemplateValue BlockBuilder::value_of(const json& value, const std::string& place, const TemplateValues& values) const {
  if (value.is_boolean()) return value.get<bool>() ? 1.0 : 0.0;
  if (value.is_number()) return value.get<double>();
  if (!value.is_string()) {
    throw FormatError(file_ + ": " + place + " is " + shown(value) +
                      ", expected a number, a name, or an expression such as \"in*6\"");
  }
  const auto& text = value.get_ref<const std::string&>();
  const std::vector<Factor> factors = factors_of(text);
  double product = 1;
  for (const Factor& factor : factors) {
    double number = 0;
    if (const auto parsed = parse_number(factor.text); parsed && std::isfinite(*parsed)) {
      number = *parsed;
    } else {
      const auto known = values.find(factor.text);
      if (known == values.end() && factors.size() == 1 && is_name(factor.text)) return std::string(factor.text);
      if (known != values.end() && factors.size() == 1) return known->second;
      const double* found = known == values.end() ? nullptr : std::get_if<double>(&known->second);
      if (found == nullptr) {
        throw FormatError(file_ + ": " + place + ": '" + excerpt(factor.text) + "' in '" + excerpt(text) +
                          "' is no number; known are: " + names_of(values));
      }
      number = *found;
    }
    product = factor.join == '*' ? product * number : product / number;
  }
  return product;
}

Block BlockBuilder::build(const json& operators, const std::string& place, const Shape& input,
                          const TemplateValues& values) {
  Expansion expansion(*this, templates_, file_, expanded_, input);
  return expansion.take(expansion.append_list(operators, place, values, Block::input_index));
}

Block BlockBuilder::build_template(std::string_view name, const std::string& place, const Shape& input,
                                   const TemplateValues& values) {
  Expansion expansion(*this, templates_, file_, expanded_, input);
  return expansion.take(expansion.append_template(std::string(name), place, values, Block::input_index));
}

}  // namespace tenshot::nasbench
