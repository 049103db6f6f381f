#include "trainer/core/options.h"

#include <algorithm>

#include "nasbench/support/numbers.h"

namespace tenshot::trainer {
namespace {

constexpr double unbounded = 1e15;  ///< what is larger is not worth a word
constexpr std::size_t longest_list = 1000;

}  // namespace

std::vector<std::string> names_of(const std::vector<OptionText>& options) {
  std::vector<std::string> names;
  for (const OptionText& option : options) names.push_back(option.name);
  return names;
}

BadOption::BadOption(const std::vector<std::string>& path_of_option, const std::string& what_it_should_be)
    : InputError(joined(path_of_option, ".") + " must be " + what_it_should_be),
      path(path_of_option),
      expected(what_it_should_be) {}

std::string Allowed::expected(Type type) const {
  if (type.of == Type::flag) return "true or false";
  if (type.of == Type::text)
    return type.list ? "a list of texts" : texts_.empty() ? "a text" : "one of: " + joined(texts_);
  const bool whole = type.of == Type::whole;
  const auto text = [&](double v) { return whole ? std::to_string(static_cast<std::int64_t>(v)) : shortest(v); };
  std::string words = type.list ? "a list of " : zero_ ? "0, or a " : "a ";
  words += std::string(whole ? "whole " : "") + (type.list ? "numbers" : "number");
  if (range_.most >= unbounded) return words + " of " + text(range_.least) + " or more";
  return words + " from " + text(range_.least) + " to " + text(range_.most);
}

void Allowed::require(const nlohmann::json& json, Type type) const {
  if (type.list) {
    const bool empty = json.empty() && type.of != Type::text;
    if (!json.is_array() || empty || json.size() > longest_list) throw BadOption({}, expected(type));
    for (std::size_t i = 0; i < json.size(); ++i) {
      const Type entry{type.of, false};
      try {
        require(json[i], entry);
      } catch (const BadOption& bad) {
        throw BadOption({std::to_string(i)}, bad.expected);
      }
    }
    return;
  }
  const auto value = json.is_number() ? json.get<double>() : std::nan("");
  const bool in_range = (value >= range_.least && value <= range_.most) || (zero_ && value == 0);
  const bool allowed = type.of == Type::flag ? json.is_boolean()
                       : type.of == Type::text
                           ? json.is_string() && (texts_.empty() || std::count(texts_.begin(), texts_.end(), json) > 0)
                           : in_range && (type.of == Type::number || json.is_number_integer());
  if (!allowed) throw BadOption({}, expected(type));
}

void fail_at(JsonField field, const BadOption& bad) {
  for (const std::string& step : bad.path) {
    const auto next = field.json().is_array() ? std::optional(field.list()[std::stoul(step)]) : field.find(step);
    if (!next) break;
    field = *next;
  }
  field.fail(bad.expected);
}

}  // namespace tenshot::trainer
