#include "nasbench/structures/structures.h"

#include <unordered_map>

#include "nasbench/support/text.h"

namespace tenshot::nasbench {
namespace {

/// Distinct feature rows of one structure, found by their bytes.
class RowSet {
 public:
  explicit RowSet(std::size_t values) : values_(values) {}

  std::uint32_t insert(const std::vector<double>& row) {
    const std::string_view bytes(reinterpret_cast<const char*>(row.data()), values_ * sizeof(double));
    const auto [found, is_new] = index_.try_emplace(std::string(bytes), static_cast<std::uint32_t>(index_.size()));
    if (is_new) rows_.insert(rows_.end(), row.begin(), row.begin() + static_cast<std::ptrdiff_t>(values_));
    return found->second;
  }
  std::size_t size() const { return index_.size(); }
  std::vector<double> take() { return std::move(rows_); }

 private:
  std::size_t values_;
  std::unordered_map<std::string, std::uint32_t> index_;
  std::vector<double> rows_;
};

StructureTable::Column tabulate(const StructureModel& model, std::size_t structure,
                                const std::vector<Architecture>& architectures) {
  StructureTable::Column column;
  column.alternatives = model.structures()[structure].alternatives;
  column.row_of.reserve(architectures.size());
  std::vector<double> row(column.alternatives * model.features().size());
  RowSet rows(row.size());
  for (const Architecture& architecture : architectures) {
    model.evaluate(structure, architecture, row.data());
    column.row_of.push_back(rows.insert(row));
  }
  column.rows = rows.size();
  column.features = std::make_shared<const std::vector<double>>(rows.take());
  return column;
}

}  // namespace

StructureTable StructureModel::table(const std::vector<Architecture>& architectures) const {
  StructureTable table;
  table.size = architectures.size();
  table.feature_count = features().size();
  for (std::size_t s = 0; s < structures().size(); ++s) table.structures.push_back(tabulate(*this, s, architectures));
  table.signature_words = signature_words();
  table.signatures.resize(table.size * table.signature_words);
  for (std::size_t a = 0; a < table.size; ++a) {
    signature(architectures[a], table.signatures.data() + a * table.signature_words);
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

const StructureModel& nasbench201_structures();

bool has_structures(const NetworkSpace& space) { return space.name() == nasbench201().name(); }

const StructureModel& structures_of(const NetworkSpace& space) {
  if (has_structures(space)) return nasbench201_structures();
  throw InputError("search space '" + std::string(space.name()) +
                   "' has no execution structures: use another predictor");
}

}  // namespace tenshot::nasbench
