#include "nasbench/spaces/layered_expansion.h"

#include <cmath>

#include "nasbench/support/json_reader.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/text.h"

namespace tenshot::nasbench {

using nlohmann::json;

namespace {

constexpr double most_elements = 1e13;       ///< of one tensor or of one operator's weights
constexpr double most_multiply_adds = 1e15;  ///< of one operator
constexpr std::int64_t most_image_channels = 1 << 24;
constexpr int deepest_nesting = 16;                                       ///< of lists and templates in each other
constexpr std::int64_t most_block_multiply_adds = 9'000'000'000'000'000;  ///< 1,000 blocks of which fit 64 bits

bool is_common(std::string_view key) {
  return is_one_of(key, {"kind", "when", "unless", "from", "as", "repeat", "comment"});
}

}  // namespace

std::string names_of(const TemplateValues& values) {
  std::vector<std::string> names;
  for (const auto& entry : values) names.push_back(entry.first);
  return names.empty() ? "none" : joined(names);
}

std::string format_extents(const Shape& shape) { return format(Shape(shape.begin() + 1, shape.end())); }

Source Expansion::append_list(const json& list, const std::string& place, const TemplateValues& values, Source input) {
  if (!list.is_array()) fail(place, "a list of operators", list);
  if (++depth_ > deepest_nesting) {
    refuse(place + " is nested in over " + std::to_string(deepest_nesting) +
           " lists and templates; does a template use itself?");
  }
  TemplateValues own = values;
  own["in"] = static_cast<double>(channels_of(shape(input)));
  Source last = input;
  for (std::size_t i = 0; i < list.size(); ++i) {
    own["channels"] = static_cast<double>(channels_of(shape(last)));
    last = append_entry(list[i], place + "[" + std::to_string(i) + "]", own, last);
  }
  --depth_;
  return last;
}

Source Expansion::append_template(const std::string& name, const std::string& place, const TemplateValues& values,
                                  Source input) {
  const auto found = builder_.templates.is_object() ? builder_.templates.find(name) : builder_.templates.end();
  if (!builder_.templates.is_object() || found == builder_.templates.end()) {
    std::vector<std::string> known;
    for (const auto& entry : builder_.templates.items()) known.push_back(entry.key());
    refuse(place + ": there is no template '" + excerpt(name) +
           "'; there are: " + (known.empty() ? "none" : joined(known)));
  }
  scopes_.emplace_back();
  const Source last = append_list(*found, "templates." + excerpt(name), values, input);
  scopes_.pop_back();
  return last;
}

Source Expansion::append_body(const json& body, const std::string& place, const TemplateValues& values, Source input) {
  if (const auto name = body.find("template"); name != body.end()) {
    return append_template(name->get<std::string>(), place, values, input);
  }
  scopes_.emplace_back();
  const Source last = append_list(body.at("operators"), place + ".operators", values, input);
  scopes_.pop_back();
  return last;
}

Block Expansion::take(Source output) {
  for (const auto& [name, sources] : scopes_.front()) {
    for (const Source& source : sources) block_.named.push_back({name, shape(source), source});
  }
  block_.output = output;
  block_.output_shape = shape(output);
  return std::move(block_);
}

const Shape& Expansion::shape(Source source) const {
  const auto number = static_cast<std::size_t>(source.output);
  if (source.node < 0) return number == 0 ? input_ : builder_.tensors[number - 1].shape;
  const BlockOperator& made = block_.operators[static_cast<std::size_t>(source.node)];
  return number == 0 ? made.specification.output : made.more_outputs[number - 1];
}

void Expansion::fail(const std::string& place, const std::string& expected, const json& found) const {
  refuse(place + " is " + shown(found) + ", expected " + expected);
}

double Expansion::number(const Entry& entry, const char* key, double otherwise) const {
  const json* value = entry.find(key);
  if (value == nullptr) return otherwise;
  return number_of(*value, entry.place + "." + key, entry.values);
}

double Expansion::number_of(const json& value, const std::string& place, const TemplateValues& values) const {
  const TemplateValue result = builder_.value_of(value, place, values);
  if (const double* number = std::get_if<double>(&result)) return *number;
  fail(place, "a number, or an expression such as \"in*6\" of the known values: " + names_of(values), value);
}

int Expansion::whole(const Entry& entry, const char* key, int otherwise, int least, int most) const {
  const double value = std::round(number(entry, key, otherwise));
  if (value >= least && value <= most) return static_cast<int>(value);
  refuse(entry.place + "." + key + " is " + shortest(value) + ", expected " + std::to_string(least) + " to " +
         std::to_string(most));
}

Extent Expansion::extent(const Entry& entry, const char* key, int least, Extent otherwise, int most) const {
  const json* value = entry.find(key);
  if (value == nullptr) return otherwise;
  const auto one = [&](const json& part) {
    const double number = std::round(number_of(part, entry.place + "." + key, entry.values));
    if (number >= least && number <= most) return static_cast<int>(number);
    fail(entry.place + "." + key, std::to_string(least) + " to " + std::to_string(most), part);
  };
  if (!value->is_array()) return {one(*value), one(*value)};
  if (value->size() != 2) fail(entry.place + "." + key, "a number, or [height, width]", *value);
  return {one((*value)[0]), one((*value)[1])};
}

std::string Expansion::text(const Entry& entry, const char* key) const {
  const json* value = entry.find(key);
  if (value == nullptr) return {};
  const TemplateValue result = builder_.value_of(*value, entry.place + "." + key, entry.values);
  if (const auto* name = std::get_if<std::string>(&result)) return *name;
  fail(entry.place + "." + key, "a name", *value);
}

void Expansion::require_keys(const Entry& entry, std::initializer_list<std::string_view> known) const {
  for (const auto& item : entry.object.items()) {
    const std::string& key = item.key();
    if (is_common(key) || is_one_of(key, known)) continue;
    refuse(entry.place + ": key '" + excerpt(key) + "' is unknown; this kind takes: " +
           (known.size() == 0 ? "none" : joined(known)) + "; and when, unless, from, as, repeat, comment");
  }
}

Source Expansion::append_entry(const json& object, const std::string& place, const TemplateValues& values,
                               Source input) {
  if (!object.is_object()) fail(place, "an operator such as {\"kind\": \"convolution\", \"kernel\": 3}", object);
  builder_.count_entry(place);
  const Entry entry{object, place, values};
  const json *name = entry.find("as"), *kind = entry.find("kind");
  Source last = input;
  std::vector<Source> given;
  if (stands(entry)) {
    const int repeat = whole(entry, "repeat", 1, 1, most_repeats);
    const json* from = entry.find("from");
    if (from != nullptr)
      last = kind != nullptr && *kind == "add" ? summed(tensors_of(*from, place + ".from"), place + ".from")
                                               : taken(*from, place);
    for (int copy = 0; copy < repeat; ++copy) {
      if (copy > 0) builder_.count_entry(place);
      if (last == input) {
        last = append_once(entry, last);
      } else {  // the entry takes another tensor than its list has there
        TemplateValues own = values;
        own["channels"] = static_cast<double>(channels_of(shape(last)));
        last = append_once({object, place, own}, last);
      }
      given.push_back(last);
    }
  } else {
    given.push_back(last);
  }
  const bool of_parts = name != nullptr && name->is_array() && kind != nullptr && *kind == "split";
  if (name != nullptr && !of_parts) give_name(*name, place, given);
  return last;
}

Source Expansion::append_once(const Entry& entry, Source input) {
  const std::string& place = entry.place;
  if (const json* name = entry.find("template")) {
    if (!name->is_string()) fail(place + ".template", "the name of a template", *name);
    TemplateValues inner = entry.values;
    for (const auto& item : entry.object.items()) {
      if (is_one_of(item.key(), {"template", "from", "as", "repeat", "comment"})) continue;
      inner[item.key()] = builder_.value_of(item.value(), place + "." + item.key(), entry.values);
    }
    return append_template(name->get<std::string>(), place, inner, input);
  }
  const json* kind = entry.find("kind");
  if (kind == nullptr || !kind->is_string())
    refuse(place + ": has neither a 'kind' nor a 'template', expected one such as " + "\"kind\": \"convolution\"");
  return append_kind(kind->get<std::string>(), entry, input);
}

Source Expansion::append_kind(const std::string& kind, const Entry& entry, Source input) {
  static const std::map<std::string, Append Expansion::*, std::less<>> kinds = {
      {"convolution", &Expansion::append_convolution},
      {"linear", &Expansion::append_linear},
      {"max_pool", &Expansion::append_pool},
      {"average_pool", &Expansion::append_pool},
      {"global_pool", &Expansion::append_global_pool},
      {"batch_norm", &Expansion::append_plain},
      {"activation", &Expansion::append_activation},
      {"softmax", &Expansion::append_plain},
      {"shuffle", &Expansion::append_shuffle},
      {"flatten", &Expansion::append_flatten},
      {"residual", &Expansion::append_residual},
      {"scale", &Expansion::append_scale},
      {"branches", &Expansion::append_branches},
      {"resize", &Expansion::append_resize},
      {"split", &Expansion::append_split},
      {"concatenate", &Expansion::append_joint},
      {"add", &Expansion::append_joint},
      {"transposed_convolution", &Expansion::append_transposed_convolution},
  };
  const auto found = kinds.find(kind);
  if (found != kinds.end()) return (this->*found->second)(entry, input);
  std::vector<std::string> known;
  for (const auto& row : kinds) known.push_back(row.first);
  refuse(entry.place + ".kind: there is no kind '" + excerpt(kind) + "'; there are: " + joined(known));
}

Source Expansion::push(const std::string& place, OperatorSpecification specification, std::vector<Source> inputs,
                       const Extent& padding) {
  for (const Source& input : inputs) specification.inputs.push_back(shape(input));
  require_countable(place, specification);
  block_.multiply_adds += multiply_adds(specification);
  if (block_.multiply_adds > most_block_multiply_adds)
    refuse(place + ": the operators up to it compute too much to count; make fewer, or smaller ones");
  block_.operators.push_back({std::move(specification), std::move(inputs), padding, {}, {}, place});
  return {static_cast<int>(block_.operators.size()) - 1, 0};
}

void Expansion::require_countable(const std::string& place, const OperatorSpecification& specification) const {
  double elements = 1;
  for (const std::int64_t extent : specification.output) elements *= static_cast<double>(extent);
  const bool weighted = specification.kind == OperatorKind::convolution ||
                        specification.kind == OperatorKind::transposed_convolution ||
                        specification.kind == OperatorKind::linear;
  const double weights = weighted ? static_cast<double>(channels_of(specification.inputs[0])) *
                                        static_cast<double>(channels_of(specification.output)) / specification.groups *
                                        specification.kernel.height * specification.kernel.width
                                  : 0;
  const double positions = elements / static_cast<double>(channels_of(specification.output));
  const bool few = specification.output.size() != 4 || specification.output[1] <= most_image_channels;
  if (few && elements <= most_elements && weights <= most_elements && weights * positions <= most_multiply_adds) return;
  refuse(place + ": makes a tensor of " + format_extents(specification.output) +
         ", too large to compute with; make the channels or the resolution smaller");
}

}  // namespace tenshot::nasbench
