#include "trainer/predictors/structured/library_fit.h"

#include <Eigen/Cholesky>
#include <limits>

#include "nasbench/support/error.h"
#include "nasbench/support/median.h"
#include "trainer/predictors/posterior/latency_solver.h"
#include "trainer/predictors/structured/hypotheses.h"

namespace tenshot::trainer::structured {
namespace {

constexpr double ridge = 1e-3;
constexpr double absolute_below = 0.25;     ///< of the median latency: errors of faster networks count as absolute ones
constexpr double largest_residual = 0.5;    ///< of log latency: a few architectures far off do not decide the structure
constexpr double smallest_expected = 1e-3;  ///< of the median latency: nothing that a library expects is below it
constexpr int huber_rounds = 3;
constexpr int path_rounds = 3;

Eigen::VectorXd weighted_ridge(const FeatureRows& rows, const Eigen::VectorXd& latency, const Eigen::VectorXd& weights,
                               const Eigen::VectorXd& ridges) {
  const FeatureRows weighted = weights.asDiagonal() * rows;
  Eigen::MatrixXd normal = rows.transpose() * weighted;
  normal.diagonal() += ridge * static_cast<double>(rows.rows()) * ridges;
  return normal.ldlt().solve(weighted.transpose() * latency);
}

Eigen::VectorXd relative_weights(const Eigen::VectorXd& latency) {
  return latency.cwiseMax(absolute_below).array().square().inverse();
}

Eigen::VectorXd log_residuals(const FeatureRows& rows, const Eigen::VectorXd& latency, const Eigen::VectorXd& costs) {
  return (latency.array() / (rows * costs).array().max(smallest_relative)).log();
}

Eigen::VectorXd robust_ridge(const FeatureRows& rows, const Eigen::VectorXd& latency, const Eigen::VectorXd& ridges) {
  Eigen::VectorXd costs = weighted_ridge(rows, latency, relative_weights(latency), ridges);
  for (int round = 0; round < huber_rounds; ++round) {
    // Huber weights at two standard deviations, the deviation from the median absolute residual.
    const Eigen::ArrayXd size = log_residuals(rows, latency, costs).array().abs();
    const double threshold = 2 * 1.48 * upper_median({size.data(), size.data() + size.size()}) + 1e-9;
    const Eigen::VectorXd huber = threshold / size.max(threshold);
    const Eigen::VectorXd relative = relative_weights(rows * costs);
    costs = weighted_ridge(rows, latency, huber.cwiseProduct(relative), ridges);
  }
  return costs;
}

/// The costs of one device under its best structure, by robust ridge regression on the relative error: residuals are
/// divided by the fitted latency, and large ones count less (Huber 1964; k = 2 deviations, estimated by their median).
LibraryEntry fit_entry(const nasbench::StructureModel& model, const nasbench::StructureTable& table,
                       const std::string& device, const std::vector<double>& latency_ms) {
  std::vector<std::size_t> measured;
  std::vector<double> measured_ms;
  for (std::size_t a = 0; a < latency_ms.size(); ++a) {
    if (!std::isfinite(latency_ms[a])) continue;
    measured.push_back(a);
    measured_ms.push_back(latency_ms[a]);
  }
  if (measured.size() < model.features().size()) {
    throw InputError("device '" + device + "': " + std::to_string(measured.size()) +
                     " measured architectures, expected at least " + std::to_string(model.features().size()));
  }
  LibraryEntry best{device, 0, std::numeric_limits<double>::infinity(), upper_median(measured_ms), {}};
  const Eigen::VectorXd relative =
      Eigen::Map<const Eigen::VectorXd>(measured_ms.data(), static_cast<Eigen::Index>(measured.size())) /
      best.median_ms;
  Eigen::VectorXd ridges(model.features().size());
  for (Eigen::Index f = 0; f < ridges.size(); ++f) ridges[f] = model.features()[f].ridge;
  for (std::size_t s = 0; s < model.structures().size(); ++s) {
    LibraryEntry entry{device, s, 0, best.median_ms, typical_costs(model)};
    const auto slowest_rows = [&] { return rows_at(table, s, measured, path_costs(entry.costs)); };
    const int rounds = table.structures[s].alternatives > 1 ? path_rounds : 1;
    for (int round = 0; round < rounds; ++round) entry.costs = robust_ridge(slowest_rows(), relative, ridges);
    const Eigen::VectorXd residuals = log_residuals(slowest_rows(), relative, entry.costs);
    entry.log_rms = std::sqrt(residuals.array().abs().min(largest_residual).square().mean());
    if (!(entry.log_rms >= best.log_rms)) best = std::move(entry);
  }
  return best;
}

}  // namespace

StructuredLibrary fit_library(const nasbench::StructureModel& model, const std::vector<std::string>& devices,
                              const datasets::LatencyMatrix& latencies) {
  StructuredLibrary library;
  library.model = &model;
  const nasbench::StructureTable table = model.table(latencies.architectures);
  for (std::size_t d = 0; d < devices.size(); ++d) {
    library.entries.push_back(fit_entry(model, table, devices[d], latencies.latency_ms[d]));
  }
  library.entries.push_back({"generic", 0, std::numeric_limits<double>::quiet_NaN(), 1, typical_costs(model)});
  library.cluster_of = cluster_entries(library);
  return library;
}

StructuredLibrary library_of(const datasets::Pool& pool) {
  return fit_library(nasbench::structures_of(*pool.space), datasets::device_ids(pool), datasets::latency_matrix(pool));
}

std::vector<std::vector<double>> latencies_of_pool(const StructuredLibrary& library, const datasets::Pool& pool,
                                                   const std::vector<nasbench::Architecture>& architectures) {
  const nasbench::StructureTable table = library.model->table(architectures);
  std::vector<std::vector<double>> latency_ms;
  for (const std::string& id : datasets::device_ids(pool)) {
    const LibraryEntry& entry = entry_of(library, id);
    latency_ms.push_back(relative_latencies(entry, table));
    for (double& latency : latency_ms.back()) latency = entry.median_ms * std::max(latency, smallest_expected);
  }
  return latency_ms;
}

}  // namespace tenshot::trainer::structured
