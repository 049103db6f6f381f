#include "nasbench/structures/structures.h"

#include <unordered_map>
#include <variant>

#include "nasbench/structures/cell_structures.h"
#include "nasbench/support/error.h"
#include "nasbench/support/text.h"

namespace tenshot::nasbench {
namespace {

constexpr std::size_t feature_count = 1 + cell_count_fields.size();

/// `base` is 1, or 0 where a runtime that removes the unused finds nothing left to run.
void write(const CellCounts& counts, double base, double* row) {
  *row = base;
  for (const auto field : cell_count_fields) *++row = counts.*field;
}

using Rule = CellCounts (*)(const Cell&);
using PathRule = std::array<CellCounts, path_count> (*)(const Cell&);

struct NamedRule {
  std::string name, meaning;
  std::vector<bool> uses;  ///< Structure::uses
  std::variant<Rule, PathRule> rule;
  bool keeps_base;  ///< false: where no path connects, the network is a constant and nothing of it runs
};

const std::vector<NamedRule>& rules() {
  //                                              base  skip  1x1   3x3   pool  add    relu   mul    reorder
  static const std::vector<bool> free_adds = {true, true, true, true, true, false, false, false, false};
  static const std::vector<bool> eager = {true, true, true, true, true, true, false, false, false};
  static const std::vector<bool> compiled = {true, false, true, true, true, true, true, true, false};
  static const std::vector<bool> compiled_live = {true, false, true, true, true, true, true, false, false};
  static const std::vector<bool> blocked = {true, false, true, true, true, true, true, true, true};
  static const std::vector<NamedRule> all = {
      {"total", "every operation is executed as written", free_adds, total_structure, true},
      {"live", "dead branches are removed", eager, live_structure, false},
      {"forward", "operations on zeros are skipped, unused results are still computed", eager, forward_structure, true},
      {"backward", "unused results are not computed, operations on zeros are", eager, backward_structure, false},
      {"backward+", "as backward, and lone convolutions are computed though unused", eager, backward_plus_structure,
       false},
      {"fused", "dead branches are removed and repeated operations computed once", eager, fused_structure, false},
      {"critical", "parallel paths run at the same time: the slowest counts", free_adds, critical_structure, false},
      {"half-critical", "parallel paths overlap by half", eager, half_critical_structure, false},
      {"cse", "compiled: repeated operations are merged, zeros are multiplied", compiled, cse_structure, true},
      {"live-cse", "compiled: dead branches are removed and repeated operations merged", compiled_live,
       live_cse_structure, false},
      {"layout", "compiled for blocked tensors: merged, with conversions between layouts", blocked, layout_structure,
       true},
      {"in-place", "compiled in place: merged, with conversions where a result cannot overwrite its operand", blocked,
       in_place_structure, true},
  };
  return all;
}

/// The feature rows of one structure, each distinct one, by its bytes, once.
StructureTable::Column tabulate(const StructureModel& model, std::size_t structure,
                                const std::vector<Architecture>& architectures) {
  StructureTable::Column column;
  column.alternatives = model.structures()[structure].alternatives;
  std::vector<double> row(column.alternatives * feature_count), rows;
  std::unordered_map<std::string, std::uint32_t> index;
  for (const Architecture& architecture : architectures) {
    model.evaluate(structure, architecture, row.data());
    const std::string bytes(reinterpret_cast<const char*>(row.data()), row.size() * sizeof(double));
    const auto [found, is_new] = index.try_emplace(bytes, static_cast<std::uint32_t>(index.size()));
    if (is_new) rows.insert(rows.end(), row.begin(), row.end());
    column.row_of.push_back(found->second);
  }
  column.rows = index.size();
  column.features = std::make_shared<const std::vector<double>>(std::move(rows));
  return column;
}

}  // namespace

// The generic costs are those of a device nobody has seen, in units of its median latency.
StructureModel::StructureModel()
    : features_{
          {"base", 0.1, 0.1, {}, {}},           {"skip_connect", 0.1, 1, {}, {}}, {"nor_conv_1x1", 0.2, 1, {}, "relu"},
          {"nor_conv_3x3", 0.4, 1, {}, "relu"}, {"avg_pool_3x3", 0.2, 1, {}, {}}, {"add", 0.05, 3, 0.05, {}},
          {"relu", 0.02, 1, 0.02, {}},          {"multiply", 0.02, 1, 0.02, {}},  {"reorder", 0.03, 1, 0.03, {}}} {
  for (const auto& [name, meaning, uses, rule, keeps_base] : rules()) {
    structures_.push_back({name, meaning, std::holds_alternative<Rule>(rule) ? 1 : path_count, uses});
  }
}

double StructureModel::instances_per_shape() const { return cells_per_stage; }

void StructureModel::evaluate(std::size_t structure, const Architecture& architecture, double* rows) const {
  const Cell cell = cell_of(architecture);
  const NamedRule& named = rules()[structure];
  const double base = named.keeps_base || live_edges(cell) != 0 ? 1 : 0;
  if (const Rule* rule = std::get_if<Rule>(&named.rule)) return write((*rule)(cell), base, rows);
  for (const CellCounts& counts : std::get<PathRule>(named.rule)(cell)) {
    write(counts, base, rows);
    rows += feature_count;
  }
}

/// Bits 5e + o: edge e has operation o; bits 32 + 5e + o: and is live. Two words of 30 bits in one.
std::uint64_t StructureModel::signature(const Architecture& architecture) const {
  const Cell cell = cell_of(architecture);
  const EdgeSet live = live_edges(cell);
  std::uint64_t bits = 0;
  for (std::size_t e = 0; e < edge_count; ++e) {
    const std::uint64_t one_hot = std::uint64_t{1} << (operation_count * e + static_cast<std::size_t>(cell[e]));
    bits |= one_hot;
    if ((live >> e & 1U) != 0) bits |= one_hot << 32;
  }
  return bits;
}

StructureTable StructureModel::evaluated(const std::vector<Architecture>& architectures) const {
  StructureTable table{architectures.size(), feature_count, {}, {}};
  for (std::size_t s = 0; s < structures().size(); ++s) table.structures.push_back(tabulate(*this, s, architectures));
  for (const Architecture& architecture : architectures) table.signatures.push_back(signature(architecture));
  return table;
}

StructureTable StructureModel::table(const std::vector<Architecture>& architectures) const {
  // What the whole space takes to evaluate is most of the time of a program that predicts one architecture.
  constexpr std::size_t few = 256;
  if (architectures.size() <= few) return evaluated(architectures);
  std::call_once(is_evaluated_, [&] { whole_space_ = evaluated(nasbench201().all()); });
  StructureTable table{architectures.size(), feature_count, {}, {}};
  std::vector<std::uint32_t> ordinals;
  table.signatures.reserve(table.size);
  for (const Architecture& architecture : architectures) {
    const auto ordinal = static_cast<std::uint32_t>(nasbench201().ordinal(architecture));
    ordinals.push_back(ordinal);
    table.signatures.push_back(whole_space_.signatures[ordinal]);
  }
  for (const StructureTable::Column& whole : whole_space_.structures) {
    StructureTable::Column column = {whole.alternatives, whole.rows, whole.features, {}};
    column.row_of.reserve(table.size);
    for (const std::uint32_t ordinal : ordinals) column.row_of.push_back(whole.row_of[ordinal]);
    table.structures.push_back(std::move(column));
  }
  return table;
}

std::size_t StructureModel::structure_index(std::string_view name) const {
  std::string known;
  for (std::size_t s = 0; s < structures().size(); ++s) {
    if (structures()[s].name == name) return s;
    known += (s == 0 ? "" : ", ") + structures()[s].name;
  }
  throw InputError("structure '" + excerpt(name) + "': expected one of " + known);
}

bool has_structures(const NetworkSpace& space) { return space.name() == nasbench201().name(); }

const StructureModel& structures_of(const NetworkSpace& space) {
  static const StructureModel model;
  if (has_structures(space)) return model;
  throw InputError("search space '" + std::string(space.name()) +
                   "' has no execution structures: use another predictor");
}

}  // namespace tenshot::nasbench
