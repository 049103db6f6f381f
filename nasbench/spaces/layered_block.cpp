#include "nasbench/spaces/layered_block.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "nasbench/spaces/layered_expansion.h"
#include "nasbench/support/error.h"
#include "nasbench/support/json_reader.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/text.h"

namespace tenshot::nasbench {

using nlohmann::json;

namespace {

bool is_name(std::string_view text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !text.empty() && letter(text.front()) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
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
