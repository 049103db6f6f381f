#include "datasets/tables/findings.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

namespace tenshot::datasets {
namespace {

struct Words {
  std::string_view name, says;
};

/// In the order of Problem.
constexpr std::array<Words, 8> words = {{{"missing", "is a missing value"},
                                         {"not a number", "is not a number"},
                                         {"zero", "is zero"},
                                         {"negative", "is negative"},
                                         {"not finite", "is not finite"},
                                         {"duplicate", "stood in an earlier row"},
                                         {"unknown architecture", "is no architecture of this space"},
                                         {"field count", "is a wrong number of fields"}}};

const Words& words_of(Problem problem) { return words[static_cast<std::size_t>(problem)]; }

}  // namespace

std::string_view name(Problem problem) { return words_of(problem).name; }

std::string Finding::message() const {
  std::string text = file + ":" + std::to_string(line) + ": ";
  if (!column.empty()) text += "column " + column + ": ";
  if (problem == Problem::missing && value.empty()) {
    text += "no value";
  } else if (problem == Problem::field_count) {
    text += "the row has " + value;
  } else {
    text.append("'").append(value).append("' ").append(words_of(problem).says);
    const bool has_comma = problem == Problem::not_a_number && value.find(',') != std::string::npos;
    text += has_comma ? ": decimals are written with a point" : "";
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

std::string Findings::summary() const {
  if (empty()) return {};
  std::vector<std::string> kinds;
  for (const auto& [problem, count] : counts_)
    kinds.push_back(std::to_string(count) + " " + std::string(name(problem)));
  return std::to_string(total_) + (total_ == 1 ? " entry left out: " : " entries left out: ") + joined(kinds);
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
