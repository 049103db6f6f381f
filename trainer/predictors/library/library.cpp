#include "trainer/predictors/library/library.h"

#include <algorithm>
#include <limits>

namespace tenshot::trainer::structured {
namespace {

/// The least that an operation counts for when a slowest path is chosen, as a share of the median latency.
constexpr double smallest_path_cost = 0.003;

}  // namespace

Eigen::VectorXd path_costs(const Eigen::VectorXd& costs, double median) {
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

const double* slowest_row(const nasbench::StructureTable& table, std::size_t structure, std::size_t architecture,
                          const Eigen::VectorXd& path_costs) {
  return slowest_row(table.row(structure, architecture), table.structures[structure].alternatives, path_costs);
}

StructuredLibrary without(const StructuredLibrary& library, const std::vector<std::string>& devices) {
  StructuredLibrary rest;
  rest.model = library.model;
  rest.calibration = library.calibration;
  for (std::size_t e = 0; e < library.entries.size(); ++e) {
    if (std::find(devices.begin(), devices.end(), library.entries[e].device) != devices.end()) continue;
    rest.entries.push_back(library.entries[e]);
    if (e < library.cluster_of.size()) rest.cluster_of.push_back(library.cluster_of[e]);
  }
  return rest;
}

}  // namespace tenshot::trainer::structured
