#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "nasbench/spaces/search_space.h"

namespace tenshot::trainer {

/// How the strings of a space are read without the space: a string is parts joined by the space's separator, and each
/// part decides some of the decisions. Every spelling of every part, and the encoding that it stands for.
struct PartVocabulary {
  std::vector<std::vector<std::string>> spellings;  ///< [part][option]
  std::vector<float> encodings;                     ///< one row a spelling, parts in order
};

PartVocabulary part_vocabulary(const nasbench::SearchSpace& space);

/// The key "strings" of a predictor's document: "separator"; "columns" of the one-hot encoding; "parts": for each part
/// of a string the columns that each spelling sets to one; "ordinals", where known: what a column adds to an ordinal.
nlohmann::json strings_document(const nasbench::SearchSpace& space);

}  // namespace tenshot::trainer
