#include "trainer/predictors/structured/library_fit.h"

#include <Eigen/Cholesky>
#include <limits>

#include "nasbench/support/error.h"
#include "nasbench/support/median.h"
#include "trainer/predictors/posterior/latency_solver.h"
#include "trainer/predictors/structured/entry_clusters.h"

namespace tenshot::trainer::structured {
namespace {

using nasbench::StructureModel;
using nasbench::StructureTable;

constexpr double ridge = 1e-3;
constexpr double absolute_below = 0.25;     ///< of the median latency: errors of faster networks count as absolute ones
constexpr double largest_residual = 0.5;    ///< of log latency: a few architectures far off do not decide the structure
constexpr double smallest_expected = 1e-3;  ///< of the median latency: nothing that a library expects is below it
constexpr int huber_rounds = 3;
constexpr int path_rounds = 3;

/// The measured architectures of one device: their latencies, and their rows in the table.
struct Samples {
  std::vector<std::size_t> architectures;
  Eigen::VectorXd latency;
};

Samples measured(const std::vector<double>& latency) {
  Samples samples;
  for (std::size_t a = 0; a < latency.size(); ++a) {
    if (std::isfinite(latency[a])) samples.architectures.push_back(a);
  }
  samples.latency.resize(static_cast<Eigen::Index>(samples.architectures.size()));
  for (std::size_t i = 0; i < samples.architectures.size(); ++i) samples.latency[i] = latency[samples.architectures[i]];
  return samples;
}

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

/// Huber weights at two standard deviations, the deviation from the median absolute residual.
Eigen::VectorXd huber_weights(const Eigen::VectorXd& residuals) {
  const Eigen::ArrayXd size = residuals.array().abs();
  const double threshold = 2 * 1.48 * upper_median({size.data(), size.data() + size.size()}) + 1e-9;
  return (threshold / size.max(threshold)).matrix();
}

Eigen::VectorXd robust_ridge(const FeatureRows& rows, const Eigen::VectorXd& latency, const Eigen::VectorXd& ridges) {
  Eigen::VectorXd costs = weighted_ridge(rows, latency, relative_weights(latency), ridges);
  for (int round = 0; round < huber_rounds; ++round) {
    const Eigen::VectorXd huber = huber_weights(log_residuals(rows, latency, costs));
    const Eigen::VectorXd relative = relative_weights(rows * costs);
    costs = weighted_ridge(rows, latency, huber.cwiseProduct(relative), ridges);
  }
  return costs;
}

Eigen::VectorXd typical_costs(const StructureModel& model) {
  Eigen::VectorXd costs(model.features().size());
  for (Eigen::Index f = 0; f < costs.size(); ++f) costs[f] = model.features()[f].typical_cost;
  return costs;
}

/// Costs of one device under one structure by robust ridge regression on the relative error: residuals are divided by
/// the fitted latency, and large ones count less (Huber 1964; k = 2 standard deviations, estimated by their median).
/// `relative_latency` is latency / median, one an architecture of `table`, NaN where it was not measured.
struct CostFit {
  Eigen::VectorXd costs;
  double log_rms = 0;
};

CostFit fit_costs(const StructureModel& model, const StructureTable& table, std::size_t structure,
                  const std::vector<double>& relative_latency) {
  Eigen::VectorXd ridges(model.features().size());
  for (Eigen::Index f = 0; f < ridges.size(); ++f) ridges[f] = model.features()[f].ridge;

  const Samples samples = measured(relative_latency);
  CostFit fit;
  fit.costs = typical_costs(model);
  const int rounds = table.structures[structure].alternatives > 1 ? path_rounds : 1;
  for (int round = 0; round < rounds; ++round) {
    fit.costs =
        robust_ridge(rows_at(table, structure, samples.architectures, path_costs(fit.costs)), samples.latency, ridges);
  }
  const FeatureRows rows = rows_at(table, structure, samples.architectures, path_costs(fit.costs));
  const Eigen::VectorXd residuals = log_residuals(rows, samples.latency, fit.costs);
  fit.log_rms = std::sqrt(residuals.array().abs().min(largest_residual).square().mean());
  return fit;
}

LibraryEntry generic_entry(const StructureModel& model) {
  return {"generic", 0, std::numeric_limits<double>::quiet_NaN(), 1, typical_costs(model)};
}

LibraryEntry fit_entry(const StructureModel& model, const StructureTable& table, const std::string& device,
                       const std::vector<double>& latency_ms) {
  std::vector<double> relative;
  std::copy_if(latency_ms.begin(), latency_ms.end(), std::back_inserter(relative),
               [](double v) { return std::isfinite(v); });
  if (relative.size() < model.features().size()) {
    throw InputError("device '" + device + "': " + std::to_string(relative.size()) +
                     " measured architectures, expected at least " + std::to_string(model.features().size()));
  }
  LibraryEntry entry;
  entry.device = device;
  entry.median_ms = upper_median(relative);
  entry.log_rms = std::numeric_limits<double>::infinity();
  relative.clear();
  for (const double latency : latency_ms) relative.push_back(latency / entry.median_ms);
  for (std::size_t s = 0; s < model.structures().size(); ++s) {
    CostFit fit = fit_costs(model, table, s, relative);
    if (fit.log_rms >= entry.log_rms) continue;
    entry.structure = s;
    entry.log_rms = fit.log_rms;
    entry.costs = std::move(fit.costs);
  }
  return entry;
}

}  // namespace

StructuredLibrary fit_library(const StructureModel& model, const std::vector<std::string>& devices,
                              const datasets::LatencyMatrix& latencies) {
  StructuredLibrary library;
  library.model = &model;
  const StructureTable table = model.table(latencies.architectures);
  for (std::size_t d = 0; d < devices.size(); ++d) {
    library.entries.push_back(fit_entry(model, table, devices[d], latencies.latency_ms[d]));
  }
  library.entries.push_back(generic_entry(model));
  library.cluster_of = cluster_entries(library);
  return library;
}

StructuredLibrary library_of(const datasets::Pool& pool) {
  return fit_library(nasbench::structures_of(*pool.space), datasets::device_ids(pool), datasets::latency_matrix(pool));
}

std::vector<std::vector<double>> latencies_of_pool(const StructuredLibrary& library, const datasets::Pool& pool,
                                                   const std::vector<nasbench::Architecture>& architectures) {
  const StructureTable table = library.model->table(architectures);
  std::vector<std::vector<double>> latency_ms;
  for (const std::string& id : datasets::device_ids(pool)) {
    const LibraryEntry& entry = entry_of(library, id);
    latency_ms.push_back(relative_latencies(entry, table));
    for (double& latency : latency_ms.back()) latency = entry.median_ms * std::max(latency, smallest_expected);
  }
  return latency_ms;
}

}  // namespace tenshot::trainer::structured
