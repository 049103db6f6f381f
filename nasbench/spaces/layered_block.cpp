#include "nasbench/spaces/layered_block.h"

#include <cmath>

#include "nasbench/spaces/layered_expansion.h"
#include "nasbench/support/error.h"
#include "nasbench/support/json_reader.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/text.h"

namespace tenshot::nasbench {

using nlohmann::json;

namespace {

constexpr std::size_t most_entries = 1'000'000;

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

bool is_name(std::string_view text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !text.empty() && letter(text.front()) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

double rounded_to_multiple(double channels, int multiple) {
  double rounded = std::max<double>(multiple, std::floor((channels + multiple / 2.0) / multiple) * multiple);
  if (rounded < 0.9 * channels) rounded += multiple;
  return rounded;
}

TemplateValue BlockBuilder::value_of(const json& value, const std::string& place, const TemplateValues& values) const {
  if (value.is_boolean()) return value.get<bool>() ? 1.0 : 0.0;
  if (value.is_number()) return value.get<double>();
  if (!value.is_string()) {
    throw FormatError(file + ": " + place + " is " + shown(value) +
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
        throw FormatError(file + ": " + place + ": '" + excerpt(factor.text) + "' in '" + excerpt(text) +
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
  Expansion expansion(*this, input);
  const Source last = expansion.append_list(operators, place, values, {});
  Block block = expansion.take(last);
  add_tensors(block, place);
  return block;
}

void BlockBuilder::add_tensors(const Block& block, const std::string& place) {
  for (const NamedTensor& made : block.named) {
    for (const NamedTensor& tensor : tensors) {
      if (tensor.name != made.name) continue;
      throw FormatError(file + ": " + place + ": '" + made.name + "' names another tensor too; rename one");
    }
  }
  tensors.insert(tensors.end(), block.named.begin(), block.named.end());
}

void BlockBuilder::count_entry(const std::string& place) const {
  if (++expanded <= most_entries) return;
  throw FormatError(file + ": " + place + ": its templates make over " + std::to_string(most_entries) +
                    " operators; use fewer, or less nested ones");
}

}  // namespace tenshot::nasbench
