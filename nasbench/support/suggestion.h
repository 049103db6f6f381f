#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tenshot {

/// Edits (a letter added, left out, replaced, or swapped with its neighbour) that turn one word into the other: the
/// optimal string alignment distance.
std::size_t edit_distance(const std::string& a, const std::string& b);

/// "; did you mean 'predict'?" for the known word nearest to `word`; nothing when over a third of its letters differ.
std::string suggestion(const std::string& word, const std::vector<std::string>& known);

/// The `most` known names that are most like `word`, whatever the case and the marks between letters: first those that
/// contain it ("pixel 4" in "pixel4_gpu_fp32"), then by the words that both have, then by edit distance.
std::vector<std::string> nearest_names(const std::string& word, const std::vector<std::string>& known,
                                       std::size_t most);

}  // namespace tenshot
