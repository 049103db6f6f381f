#include "trainer/core/remark.h"

#include <nlohmann/json.hpp>
#include <string_view>

namespace tenshot::trainer {
namespace {

constexpr std::string_view warning_mark = "Warning: ";

Remark remark_of(const std::string& line) {
  if (line.rfind(warning_mark, 0) != 0) return {line, false};
  return {line.substr(warning_mark.size()), true};
}

}  // namespace

std::string in_words(const Remark& remark) { return (remark.warns ? std::string(warning_mark) : "") + remark.text; }

void put_explanation(nlohmann::json& card, datasets::Quantity quantity, const std::vector<Remark>& remarks) {
  nlohmann::json& lines = card["explanation"];
  if (lines.is_null()) lines = nlohmann::json::array();
  for (const Remark& remark : remarks) lines.push_back(datasets::in_words_of(quantity, in_words(remark)));
}

std::vector<Remark> explanation_of(const nlohmann::json& card) {
  const auto found = card.find("explanation");
  if (found == card.end()) return {};
  if (found->is_string()) return {remark_of(found->get<std::string>())};
  std::vector<Remark> remarks;
  if (!found->is_array()) return remarks;
  for (const nlohmann::json& line : *found) remarks.push_back(remark_of(line.get<std::string>()));
  return remarks;
}

}  // namespace tenshot::trainer
