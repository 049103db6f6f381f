#include "trainer/core/part_vocabulary.h"

#include <nlohmann/json.hpp>

#include "nasbench/support/words.h"

namespace tenshot::trainer {
namespace {

std::vector<std::string> parts_of(const nasbench::SearchSpace& space, const nasbench::Architecture& architecture) {
  return parts_between(space.format(architecture), std::string(1, space.part_separator()));
}

/// The part of the string that each decision is written in.
std::vector<std::size_t> part_of_decision(const nasbench::SearchSpace& space) {
  const nasbench::Architecture first = space.first();
  const std::vector<std::string> reference = parts_of(space, first);
  std::vector<std::size_t> part_of(space.decisions().size(), 0);
  std::vector<bool> is_taken(reference.size(), false);
  for (std::size_t d = 0; d < part_of.size(); ++d) {
    if (space.decisions()[d] == 1) continue;
    nasbench::Architecture other = first;
    other[d] = 1;
    const std::vector<std::string> parts = parts_of(space, other);
    while (parts[part_of[d]] == reference[part_of[d]]) ++part_of[d];
    is_taken[part_of[d]] = true;
  }
  // A decision of one option changes nothing: its part is the next that no other decision is written in.
  std::size_t next = 0;
  for (std::size_t d = 0; d < part_of.size(); ++d) {
    if (space.decisions()[d] > 1) continue;
    while (next + 1 < reference.size() && is_taken[next]) ++next;
    part_of[d] = next++;
  }
  return part_of;
}

/// What each option adds to the ordinal, in the order of the one-hot encoding. Of a space with a size().
std::vector<std::int64_t> option_ordinals(const nasbench::SearchSpace& space) {
  std::vector<std::int64_t> ordinals;
  for (std::size_t d = 0; d < space.decisions().size(); ++d) {
    for (int option = 0; option < space.decisions()[d]; ++option) {
      nasbench::Architecture architecture = space.first();
      architecture[d] = static_cast<std::uint8_t>(option);
      ordinals.push_back(static_cast<std::int64_t>(space.ordinal(architecture)));
    }
  }
  return ordinals;
}

}  // namespace

PartVocabulary part_vocabulary(const nasbench::SearchSpace& space) {
  const std::vector<int>& decisions = space.decisions();
  const std::vector<std::size_t> part_of = part_of_decision(space);
  std::vector<std::size_t> first_column(decisions.size());
  std::exclusive_scan(decisions.begin(), decisions.end(), first_column.begin(), std::size_t{0});
  PartVocabulary vocabulary;
  const std::size_t parts = parts_of(space, space.first()).size();
  for (std::size_t p = 0; p < parts; ++p) {
    std::vector<std::size_t> members;
    for (std::size_t d = 0; d < decisions.size(); ++d) {
      if (part_of[d] == p) members.push_back(d);
    }
    vocabulary.spellings.emplace_back();
    nasbench::Architecture architecture(decisions.size());
    for (bool more = true; more;) {
      vocabulary.spellings.back().push_back(parts_of(space, architecture)[p]);
      const std::size_t row = vocabulary.encodings.size();
      vocabulary.encodings.resize(row + space.encoding_width());
      for (const std::size_t d : members) vocabulary.encodings[row + first_column[d] + architecture[d]] = 1;
      more = false;  // count up over this part's decisions, the last fastest
      for (std::size_t m = members.size(); m-- > 0 && !more;) {
        more = ++architecture[members[m]] < decisions[members[m]];
        if (!more) architecture[members[m]] = 0;
      }
    }
  }
  return vocabulary;
}

nlohmann::json strings_document(const nasbench::SearchSpace& space) {
  const PartVocabulary vocabulary = part_vocabulary(space);
  const std::size_t width = space.encoding_width();
  nlohmann::json parts = nlohmann::json::array();
  auto row = vocabulary.encodings.begin();
  for (const std::vector<std::string>& spellings : vocabulary.spellings) {
    parts.push_back(nlohmann::json::object());
    for (const std::string& spelling : spellings) {
      nlohmann::json ones = nlohmann::json::array();
      for (std::size_t c = 0; c < width; ++c) {
        if (row[static_cast<std::ptrdiff_t>(c)] > 0) ones.push_back(c);
      }
      parts.back()[spelling] = ones;
      row += static_cast<std::ptrdiff_t>(width);
    }
  }
  nlohmann::json strings = {
      {"separator", std::string(1, space.part_separator())}, {"columns", width}, {"parts", parts}};
  if (space.size()) strings["ordinals"] = option_ordinals(space);
  return strings;
}

}  // namespace tenshot::trainer
