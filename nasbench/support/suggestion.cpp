#include "nasbench/support/suggestion.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <tuple>

#include "nasbench/support/text.h"
#include "nasbench/support/words.h"

namespace tenshot {
namespace {

/// The words of a name, in lower case: what stands between marks.
std::vector<std::string> words_in(const std::string& name) {
  std::string marked = name;
  for (char& c : marked) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = ' ';
  }
  return filled_parts(lower_case(marked), " ");
}

/// The letters of the words that both have.
std::size_t shared_letters(const std::set<std::string>& a, const std::vector<std::string>& b) {
  std::size_t letters = 0;
  for (const std::string& word : std::set<std::string>(b.begin(), b.end())) letters += a.count(word) * word.size();
  return letters;
}

}  // namespace

std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> distance(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) distance[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) distance[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = distance[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      distance[i][j] = std::min({distance[i - 1][j] + 1, distance[i][j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        distance[i][j] = std::min(distance[i][j], distance[i - 2][j - 2] + 1);
      }
    }
  }
  return distance[a.size()][b.size()];
}

std::string suggestion(const std::string& word, const std::vector<std::string>& known) {
  constexpr std::size_t longest_word = 40;  // a longer one is no slip of the fingers
  if (word.size() > longest_word) return {};
  std::string nearest;
  std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : known) {
    const bool begins = word.size() >= 3 && candidate.compare(0, word.size(), word) == 0;
    const std::size_t distance = begins ? 1 : edit_distance(word, candidate);
    if (distance >= least) continue;
    least = distance;
    nearest = candidate;
  }
  return nearest.empty() ? std::string() : "; did you mean '" + nearest + "'?";
}

std::vector<std::string> nearest_names(const std::string& word, const std::vector<std::string>& known,
                                       std::size_t most) {
  constexpr std::size_t longest_word = 200;
  const std::vector<std::string> parts = words_in(word.substr(0, longest_word));
  const std::string letters = joined(parts, "");
  const std::set<std::string> words(parts.begin(), parts.end());
  std::vector<std::tuple<bool, std::size_t, std::size_t, std::string>> ranked;
  for (const std::string& name : known) {
    const std::vector<std::string> own_words = words_in(name);
    const std::string own = joined(own_words, "");
    const bool contains = !letters.empty() && own.find(letters) != std::string::npos;
    const std::size_t missing = letters.size() - shared_letters(words, own_words);
    ranked.emplace_back(!contains, missing, edit_distance(letters, own), name);
  }
  std::sort(ranked.begin(), ranked.end());
  std::vector<std::string> names;
  for (std::size_t i = 0; i < ranked.size() && i < most; ++i) names.push_back(std::get<3>(ranked[i]));
  return names;
}

}  // namespace tenshot
