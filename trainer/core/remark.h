#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "datasets/tables/quantity.h"

namespace tenshot::trainer {

/// What a predictor found out about its device, in one sentence.
struct Remark {
  std::string text;
  bool warns = false;  ///< it says what is suspicious

  friend bool operator==(const Remark& a, const Remark& b) { return a.text == b.text && a.warns == b.warns; }
};

/// As people read it on one line, and as files keep it: a warning begins with "Warning: ".
std::string in_words(const Remark& remark);

/// Appends to the key "explanation" of a predictor's card, in the words of its quantity (datasets::in_words_of).
void put_explanation(nlohmann::json& card, datasets::Quantity quantity, const std::vector<Remark>& remarks);

/// The inverse: a card keeps a sentence or a list of them; empty where there is none.
std::vector<Remark> explanation_of(const nlohmann::json& card);

}  // namespace tenshot::trainer
