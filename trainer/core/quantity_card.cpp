#include "trainer/core/quantity_card.h"

#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "nasbench/support/error.h"

namespace tenshot::trainer {
namespace {

constexpr std::string_view warning_mark = "Warning: ";

Remark remark_of(const std::string& line) {
  if (line.rfind(warning_mark, 0) != 0) return {line, false};
  return {line.substr(warning_mark.size()), true};
}

nlohmann::json with_renamed_keys(Quantity quantity, nlohmann::json value) {
  if (value.is_array()) {
    for (nlohmann::json& entry : value) entry = with_renamed_keys(quantity, std::move(entry));
  }
  if (!value.is_object()) return value;
  nlohmann::json renamed = nlohmann::json::object();
  for (auto& [key, entry] : value.items()) {
    const bool has_unit = key.find("_ms") != std::string::npos;
    renamed[has_unit ? datasets::in_words_of(quantity, key) : key] = with_renamed_keys(quantity, std::move(entry));
  }
  return renamed;
}

}  // namespace

void put_quantity(nlohmann::json& card, Quantity quantity) {
  if (quantity == Quantity::latency) return;
  card["quantity"] = datasets::name(quantity);
  card["unit"] = datasets::unit(quantity);
}

Quantity get_quantity(const nlohmann::json& card) {
  const auto found = card.find("quantity");
  if (found == card.end()) return Quantity::latency;
  try {
    return datasets::quantity_named(found->is_string() ? found->get<std::string>() : found->dump());
  } catch (const InputError& error) {
    throw FormatError(std::string("its card: ") + error.what());
  }
}

Quantity adapted_quantity(const datasets::Pool& pool, std::optional<Quantity> asked) {
  const Quantity held = pool.quantity();
  if (!asked || *asked == held || held == Quantity::latency) return asked.value_or(held);
  throw InputError(
      "the checkpoint is of " + std::string(datasets::name(held)) + ", asked for " +
      std::string(datasets::name(*asked)) +
      ": quantities are not mixed; take a checkpoint of the same quantity, or one of latencies as a prior");
}

void require_quantity(std::optional<Quantity> asked, const Predictor& predictor, const std::string& file) {
  if (!asked || *asked == predictor.quantity()) return;
  throw InputError(file + ": predicts " + std::string(name(predictor.quantity())) + ", asked for " +
                   std::string(name(*asked)));
}

nlohmann::json document_of(Quantity quantity, nlohmann::json document) {
  if (quantity == Quantity::latency) return document;
  document = with_renamed_keys(quantity, std::move(document));
  put_quantity(document, quantity);
  if (document.contains("computes")) {
    document["computes"] = datasets::in_words_of(quantity, document["computes"].get<std::string>());
  }
  return document;
}

std::string in_words(const Remark& remark) { return (remark.warns ? std::string(warning_mark) : "") + remark.text; }

void put_explanation(nlohmann::json& card, Quantity quantity, const std::vector<Remark>& remarks) {
  nlohmann::json& lines = card["explanation"];
  if (lines.is_null()) lines = nlohmann::json::array();
  for (const Remark& remark : remarks) lines.push_back(datasets::in_words_of(quantity, in_words(remark)));
}

std::vector<Remark> explanation_of(const nlohmann::json& card) {
  const auto found = card.find("explanation");
  if (found == card.end()) return {};
  if (found->is_string()) return {remark_of(found->get<std::string>())};
  std::vector<Remark> remarks;
  for (const nlohmann::json& line : *found) remarks.push_back(remark_of(line.get<std::string>()));
  return remarks;
}

}  // namespace tenshot::trainer
