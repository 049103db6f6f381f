#pragma once

#include <string>
#include <vector>

namespace tenshot::cli {

/// Edits (a letter added, left out, replaced, or swapped with its neighbour) that turn one word into the other: the
/// optimal string alignment distance.
std::size_t edit_distance(const std::string& a, const std::string& b);

/// "; did you mean 'predict'?" for the known word that is nearest to `word`, or nothing when none is near: more than a
/// third of its letters differ.
std::string suggestion(const std::string& word, const std::vector<std::string>& known);

}  // namespace tenshot::cli
