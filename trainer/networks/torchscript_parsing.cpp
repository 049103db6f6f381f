#include "trainer/networks/torchscript_parsing.h"

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "trainer/core/part_vocabulary.h"
#include "trainer/core/quantity_card.h"

namespace tenshot::trainer {

void define_parsing(torch::jit::Module& module, const nasbench::SearchSpace& space) {
  nasbench::require_composed(space);
  c10::List<std::int64_t> decisions;
  for (const int options : space.decisions()) decisions.push_back(options);
  module.register_attribute("decisions", c10::ListType::ofInts(), decisions);
  const PartVocabulary vocabulary = part_vocabulary(space);
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
  module.define(
      "def ordinals(self, architectures: List[str]) -> Tensor:\n"
      "  return self.part_ordinals[self.part_index(architectures)].sum(1)\n");
}

std::string with_card(const torch::jit::Module& module, const nlohmann::json& card) {
  const Quantity quantity = get_quantity(card);
  if (quantity != Quantity::latency) {
    torch::jit::Module named = module;  // of the same object
    named.register_attribute("quantity", c10::StringType::get(), std::string(datasets::name(quantity)));
    named.register_attribute("unit", c10::StringType::get(), std::string(datasets::unit(quantity)));
  }
  std::ostringstream bytes;
  module.save(bytes, {{"card.json", card.dump(1)}});
  return bytes.str();
}

}  // namespace tenshot::trainer
