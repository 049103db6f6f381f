#include "trainer/networks/torchscript_parsing.h"

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "nasbench/support/files.h"
#include "trainer/core/quantity_card.h"

namespace tenshot::trainer {
namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back().push_back(c);
    }
  }
  return parts;
}

/// The part of the string that each decision is written in.
std::vector<std::size_t> part_of_decision(const nasbench::SearchSpace& space) {
  const nasbench::Architecture first(space.decisions().size());
  const std::vector<std::string> reference = split(space.format(first), space.part_separator());
  std::vector<std::size_t> part_of(space.decisions().size(), 0);
  std::vector<bool> is_taken(reference.size(), false);
  for (std::size_t d = 0; d < part_of.size(); ++d) {
    if (space.decisions()[d] == 1) continue;
    nasbench::Architecture other = first;
    other[d] = 1;
    const std::vector<std::string> parts = split(space.format(other), space.part_separator());
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

/// Every spelling of every part, and the encoding that it stands for.
struct Vocabulary {
  std::vector<std::vector<std::string>> spellings;  ///< [part][option]
  std::vector<float> encodings;                     ///< one row a spelling, parts in order
  std::vector<std::int64_t> ordinals;               ///< what it adds to the architecture's ordinal, one a spelling
};

Vocabulary vocabulary_of(const nasbench::SearchSpace& space) {
  const std::vector<int>& decisions = space.decisions();
  const std::vector<std::size_t> part_of = part_of_decision(space);
  std::vector<std::size_t> first_column(decisions.size(), 0);
  for (std::size_t d = 1; d < decisions.size(); ++d) {
    first_column[d] = first_column[d - 1] + static_cast<std::size_t>(decisions[d - 1]);
  }
  Vocabulary vocabulary;
  const std::size_t parts =
      split(space.format(nasbench::Architecture(decisions.size())), space.part_separator()).size();
  for (std::size_t p = 0; p < parts; ++p) {
    std::vector<std::size_t> members;
    for (std::size_t d = 0; d < decisions.size(); ++d) {
      if (part_of[d] == p) members.push_back(d);
    }
    vocabulary.spellings.emplace_back();
    nasbench::Architecture architecture(decisions.size());
    for (bool more = true; more;) {
      vocabulary.spellings.back().push_back(split(space.format(architecture), space.part_separator())[p]);
      std::vector<float> row(space.encoding_width(), 0);
      for (const std::size_t d : members) row[first_column[d] + architecture[d]] = 1;
      vocabulary.encodings.insert(vocabulary.encodings.end(), row.begin(), row.end());
      vocabulary.ordinals.push_back(space.size() ? static_cast<std::int64_t>(space.ordinal(architecture)) : 0);
      more = false;  // count up over this part's decisions, the last fastest
      for (std::size_t m = members.size(); m-- > 0 && !more;) {
        more = ++architecture[members[m]] < decisions[members[m]];
        if (!more) architecture[members[m]] = 0;
      }
    }
  }
  return vocabulary;
}

}  // namespace

void define_parsing(torch::jit::Module& module, const nasbench::SearchSpace& space) {
  nasbench::require_composed(space);
  const Vocabulary vocabulary = vocabulary_of(space);
  const auto part_type = c10::DictType::create(c10::StringType::get(), c10::IntType::get());
  c10::impl::GenericList parts(part_type);
  std::int64_t row = 0;
  for (const std::vector<std::string>& spellings : vocabulary.spellings) {
    c10::Dict<std::string, std::int64_t> rows;
    for (const std::string& spelling : spellings) rows.insert(spelling, row++);
    parts.emplace_back(rows);
  }
  module.register_attribute("part_rows", c10::ListType::create(part_type), parts);
  module.register_buffer(
      "part_encodings",
      torch::tensor(vocabulary.encodings).view({row, static_cast<std::int64_t>(space.encoding_width())}));
  const nasbench::Architecture example(space.decisions().size());
  // TorchScript source built in C++ knows no torch.int64; its own number does.
  const std::string int64 = std::to_string(static_cast<int>(at::kLong));
  const std::string name(space.name()), separator(1, space.part_separator());
  module.define(
      "def part_index(self, architectures: List[str]) -> Tensor:\n"
      "  rows: List[int] = []\n"
      "  for text in architectures:\n"
      "    parts = text.split('" +
      separator +
      "')\n"
      "    assert len(parts) == len(self.part_rows), 'not an architecture of " +
      name +
      ": ' + text\n"
      "    for i in range(len(parts)):\n"
      "      known = self.part_rows[i]\n"
      "      part = parts[i]\n"
      "      assert part in known, 'not an architecture of " +
      name + ": ' + text + ' (what does ' + part + ' mean?); expected the form " + space.format(example) +
      "'\n"
      "      rows.append(known[part])\n"
      "  return torch.tensor(rows, dtype=" +
      int64 +
      ").view([len(architectures), len(self.part_rows)])\n"
      "def encode(self, architectures: List[str]) -> Tensor:\n"
      "  return self.part_encodings[self.part_index(architectures)].sum(1)\n");
  if (!space.size()) return;
  module.register_buffer("part_ordinals", torch::tensor(vocabulary.ordinals, at::kLong));
  std::vector<std::int64_t> option_ordinals;
  for (std::size_t d = 0; d < space.decisions().size(); ++d) {
    for (int option = 0; option < space.decisions()[d]; ++option) {
      nasbench::Architecture architecture(space.decisions().size());
      architecture[d] = static_cast<std::uint8_t>(option);
      option_ordinals.push_back(static_cast<std::int64_t>(space.ordinal(architecture)));
    }
  }
  module.register_buffer("option_ordinals", torch::tensor(option_ordinals, at::kLong));
  module.define(
      "def ordinals(self, architectures: List[str]) -> Tensor:\n"
      "  return self.part_ordinals[self.part_index(architectures)].sum(1)\n"
      "def ordinals_of_encoding(self, encoding: Tensor) -> Tensor:\n"
      "  return torch.mv((encoding > 0.5).to(" +
      int64 + "), self.option_ordinals)\n");
}

void save_with_card(const torch::jit::Module& module, const nlohmann::json& card, const std::filesystem::path& path) {
  const Quantity quantity = get_quantity(card);
  if (quantity != Quantity::latency) {
    torch::jit::Module named = module;  // of the same object
    named.register_attribute("quantity", c10::StringType::get(), std::string(datasets::name(quantity)));
    named.register_attribute("unit", c10::StringType::get(), std::string(datasets::unit(quantity)));
  }
  std::ostringstream bytes;
  module.save(bytes, {{"card.json", card.dump(1)}});
  write_file_atomically(path, bytes.str());
}

}  // namespace tenshot::trainer
