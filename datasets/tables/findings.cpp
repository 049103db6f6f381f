#include "datasets/tables/findings.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

namespace tenshot::datasets {
namespace {

/// Bytes of the UTF-8 character at the start of `text`; 0 where there is none.
std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  const std::size_t length = lead < 0x80   ? 1
                             : lead < 0xC2 ? 0
                             : lead < 0xE0 ? 2
                             : lead < 0xF0 ? 3
                             : lead < 0xF5 ? 4
                                           : 0;
  if (length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  const bool overlong = (lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xF0 && byte(1) < 0x90);
  const bool surrogate = lead == 0xED && byte(1) > 0x9F;
  const bool beyond_unicode = lead == 0xF4 && byte(1) > 0x8F;
  return overlong || surrogate || beyond_unicode ? 0 : length;
}

std::string_view says(Problem problem) {
  switch (problem) {
    case Problem::missing:
      return "is a missing value";
    case Problem::not_a_number:
      return "is not a number";
    case Problem::zero:
      return "is zero";
    case Problem::negative:
      return "is negative";
    case Problem::not_finite:
      return "is not finite";
    case Problem::duplicate:
      return "stood in an earlier row";
    case Problem::unknown_architecture:
      return "is no architecture of this space";
    case Problem::field_count:
      break;
  }
  return "is a wrong number of fields";
}

}  // namespace

std::string_view name(Problem problem) {
  constexpr std::array<std::string_view, 8> names = {
      "missing", "not a number", "zero", "negative", "not finite", "duplicate", "unknown architecture", "field count"};
  return names[static_cast<std::size_t>(problem)];
}

std::string excerpt(std::string_view text, std::size_t most) {
  std::string result;
  for (std::size_t characters = 0; !text.empty(); ++characters) {
    if (characters == most) return result + "…";
    const std::size_t length = character_length(text);
    const auto lead = static_cast<unsigned char>(text.front());
    const bool printable = length > 0 && lead >= 0x20 && lead != 0x7F;
    result += printable ? text.substr(0, length) : std::string_view("?");
    text.remove_prefix(length > 0 ? length : 1);
  }
  return result;
}

std::string Finding::message() const {
  std::string text = file + ":" + std::to_string(line) + ": ";
  if (!column.empty()) text += "column " + column + ": ";
  if (problem == Problem::missing && value.empty()) {
    text += "no value";
  } else if (problem == Problem::field_count) {
    text += "the row has " + value;
  } else {
    text.append("'").append(value).append("' ").append(says(problem));
  }
  return text + "; left out";
}

void Findings::add(Finding finding) {
  ++counts_[finding.problem];
  ++total_;
  if (first_.size() == kept) return;
  finding.value = excerpt(finding.value);
  first_.push_back(std::move(finding));
}

void Findings::add(const Findings& others) {
  for (const auto& [problem, count] : others.counts_) counts_[problem] += count;
  total_ += others.total_;
  for (const Finding& finding : others.first_) {
    if (first_.size() == kept) break;
    first_.push_back(finding);
  }
}

std::size_t Findings::count(Problem problem) const {
  const auto found = counts_.find(problem);
  return found == counts_.end() ? 0 : found->second;
}

std::string Findings::summary() const {
  if (empty()) return {};
  std::string text = std::to_string(total_) + (total_ == 1 ? " entry left out: " : " entries left out: ");
  std::string_view separator;
  for (const auto& [problem, count] : counts_) {
    text.append(separator).append(std::to_string(count)).append(" ").append(name(problem));
    separator = ", ";
  }
  return text;
}

std::string to_text(const Findings& findings, std::size_t shown) {
  if (findings.empty()) return {};
  std::string text = findings.summary() + "\n";
  shown = std::min(shown, findings.first().size());
  for (std::size_t i = 0; i < shown; ++i) text += "  " + findings.first()[i].message() + "\n";
  if (findings.total() > shown) text += "  and " + std::to_string(findings.total() - shown) + " more\n";
  return text;
}

nlohmann::json to_json(const Findings& findings) {
  nlohmann::json counts = nlohmann::json::object();
  for (const auto& [problem, count] : findings.counts()) counts[std::string(name(problem))] = count;
  nlohmann::json first = nlohmann::json::array();
  for (const Finding& finding : findings.first()) {
    first.push_back({{"problem", name(finding.problem)},
                     {"file", excerpt(finding.file, std::string::npos)},
                     {"line", finding.line},
                     {"column", finding.column},
                     {"value", finding.value}});
  }
  return {{"total", findings.total()}, {"counts", std::move(counts)}, {"first", std::move(first)}};
}

}  // namespace tenshot::datasets
