#include "trainer/predictors/library/library.h"

#include <limits>

#include "nasbench/support/error.h"
#include "nasbench/support/numbers_below.h"

namespace tenshot::trainer::structured {

Eigen::VectorXd typical_costs(const nasbench::StructureModel& model) {
  return Eigen::VectorXd::NullaryExpr(static_cast<Eigen::Index>(model.features().size()),
                                      [&](Eigen::Index f) { return model.features()[f].typical_cost; });
}

Eigen::VectorXd path_costs(const Eigen::VectorXd& costs, double median) {
  constexpr double smallest_path_cost = 0.003;  // as a share of the median latency
  return costs.cwiseMax(smallest_path_cost * median);
}

const double* slowest_row(const double* rows, std::size_t alternatives, const Eigen::VectorXd& path_costs) {
  if (alternatives == 1) return rows;
  const double* slowest = rows;
  double greatest = -std::numeric_limits<double>::infinity();
  for (std::size_t a = 0; a < alternatives; ++a, rows += path_costs.size()) {
    const double sum = Eigen::Map<const Eigen::VectorXd>(rows, path_costs.size()).dot(path_costs);
    if (sum <= greatest) continue;
    greatest = sum;
    slowest = rows;
  }
  return slowest;
}

FeatureRows rows_at(const nasbench::StructureTable& table, std::size_t structure,
                    const std::vector<std::size_t>& architectures, const Eigen::VectorXd& path_costs) {
  const std::size_t alternatives = table.structures[structure].alternatives;
  FeatureRows rows(architectures.size(), table.feature_count);
  for (std::size_t i = 0; i < architectures.size(); ++i) {
    const double* row = slowest_row(table.row(structure, architectures[i]), alternatives, path_costs);
    std::copy(row, row + table.feature_count, rows.row(i).data());
  }
  return rows;
}

FeatureRows rows_at(const nasbench::StructureTable& table, std::size_t structure, const Eigen::VectorXd& path_costs) {
  return rows_at(table, structure, numbers_below(table.size), path_costs);
}

std::vector<double> relative_latencies(const LibraryEntry& entry, const nasbench::StructureTable& table) {
  const Eigen::VectorXd paths = path_costs(entry.costs);
  const std::size_t alternatives = table.structures[entry.structure].alternatives;
  std::vector<double> latencies;
  for (std::size_t a = 0; a < table.size; ++a) {
    const double* row = slowest_row(table.row(entry.structure, a), alternatives, paths);
    latencies.push_back(Eigen::Map<const Eigen::VectorXd>(row, entry.costs.size()).dot(entry.costs));
  }
  return latencies;
}

const LibraryEntry& entry_of(const StructuredLibrary& library, const std::string& device) {
  const auto found = std::find_if(library.entries.begin(), library.entries.end(),
                                  [&](const LibraryEntry& entry) { return entry.device == device; });
  if (found == library.entries.end()) throw FormatError("the library has no entry for device " + device);
  return *found;
}

StructuredLibrary part_of(const StructuredLibrary& library, const std::vector<std::size_t>& entries) {
  StructuredLibrary part{library.model, {}, {}, library.calibration};
  for (const std::size_t e : entries) {
    part.entries.push_back(library.entries[e]);
    if (e < library.cluster_of.size()) part.cluster_of.push_back(library.cluster_of[e]);
  }
  return part;
}

StructuredLibrary without(const StructuredLibrary& library, const std::vector<std::string>& devices) {
  std::vector<std::size_t> rest;
  for (std::size_t e = 0; e < library.entries.size(); ++e) {
    if (std::find(devices.begin(), devices.end(), library.entries[e].device) == devices.end()) rest.push_back(e);
  }
  return part_of(library, rest);
}

}  // namespace tenshot::trainer::structured
