#include "nasbench/spaces/layered_expansion.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "nasbench/support/error.h"
#include "nasbench/support/json_reader.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/text.h"

namespace tenshot::nasbench {

using nlohmann::json;

namespace {

constexpr double most_elements = 1e13;       ///< of one tensor or of one operator's weights
constexpr double most_multiply_adds = 1e15;  ///< of one operator
constexpr int deepest_nesting = 16;          ///< of lists and templates in each other
constexpr std::size_t most_entries = 1'000'000;

}  // namespace

std::string names_of(const TemplateValues& values) {
  std::vector<std::string> names;
  for (const auto& entry : values) names.push_back(entry.first);
  return names.empty() ? "none" : joined(names);
}

std::string format_extents(const Shape& shape) {
  std::vector<std::string> extents;
  for (std::size_t i = 1; i < shape.size(); ++i) extents.push_back(std::to_string(shape[i]));
  return joined(extents, "x");
}

int Expansion::append_list(const json& list, const std::string& place, const TemplateValues& values, int input) {
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

int Expansion::append_template(const std::string& name, const std::string& place, const TemplateValues& values,
                               int input) {
  const auto found = templates_.is_object() ? templates_.find(name) : templates_.end();
  if (!templates_.is_object() || found == templates_.end()) {
    std::vector<std::string> known;
    for (const auto& entry : templates_.items()) known.push_back(entry.key());
    throw FormatError(file_ + ": " + place + ": there is no template '" + excerpt(name) +
                      "'; there are: " + (known.empty() ? "none" : joined(known)));
  }
  return append_list(*found, "templates." + excerpt(name), values, input);
}

Block Expansion::take(int output) {
  block_.output_index = output;
  block_.output = shape(output);
  return std::move(block_);
}

const Shape& Expansion::shape(int index) const {
  return index == Block::input_index ? input_ : block_.operators[static_cast<std::size_t>(index)].specification.output;
}

void Expansion::fail(const std::string& place, const std::string& expected, const json& found) const {
  throw FormatError(file_ + ": " + place + " is " + shown(found) + ", expected " + expected);
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
  throw FormatError(file_ + ": " + entry.place + "." + key + " is " + shortest(value) + ", expected " +
                    std::to_string(least) + " to " + std::to_string(most));
}

Extent Expansion::extent(const Entry& entry, const char* key, int least, Extent otherwise) const {
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
    if (key == "kind" || key == "when" || key == "unless" || key == "comment") continue;
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    throw FormatError(file_ + ": " + entry.place + ": key '" + excerpt(key) + "' is unknown; this kind takes: " +
                      (known.size() == 0 ? "none" : joined(known)) + "; and when, unless, comment");
  }
}

int Expansion::append_entry(const json& object, const std::string& place, const TemplateValues& values, int input) {
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

int Expansion::append_kind(const std::string& kind, const Entry& entry, int input) {
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

int Expansion::push(const Entry& entry, OperatorSpecification specification, std::vector<int> inputs,
                    const Extent& padding) {
  for (const int input : inputs) specification.inputs.push_back(shape(input));
  require_countable(entry, specification);
  block_.multiply_adds += multiply_adds(specification);
  block_.operators.push_back({std::move(specification), std::move(inputs), padding});
  return static_cast<int>(block_.operators.size()) - 1;
}

void Expansion::require_countable(const Entry& entry, const OperatorSpecification& specification) const {
  double elements = 1;
  for (const std::int64_t extent : specification.output) elements *= static_cast<double>(extent);
  const bool weighted = specification.kind == OperatorKind::convolution || specification.kind == OperatorKind::linear;
  const double weights = weighted ? static_cast<double>(channels_of(specification.inputs[0])) *
                                        static_cast<double>(channels_of(specification.output)) / specification.groups *
                                        specification.kernel.height * specification.kernel.width
                                  : 0;
  const double positions = elements / static_cast<double>(channels_of(specification.output));
  if (elements <= most_elements && weights <= most_elements && weights * positions <= most_multiply_adds) return;
  throw FormatError(file_ + ": " + entry.place + ": makes a tensor of " + format_extents(specification.output) +
                    ", too large to compute with; make the channels or the resolution smaller");
}

}  // namespace tenshot::nasbench
