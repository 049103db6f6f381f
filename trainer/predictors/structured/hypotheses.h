#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "nasbench/structures/structures.h"
#include "trainer/predictors/structured/cost_prior.h"
#include "trainer/predictors/structured/posterior_solver.h"

namespace tenshot::trainer::structured {

/// Of the smallest latency: less is taken for nothing.
constexpr double floor_share = 0.3;

/// Variance of what a clock of whole milliseconds cuts off, where the set is of one; else 0.
double clock_variance_ms2(const AdaptationSet& set);

/// The measurements as the solver wants them. `set` is what without_removed leaves.
Problem make_problem(const StructuredLibrary& library, const AdaptationSet& set, const PosteriorOptions& options);

/// k(x, x') between all pairs of `count` signatures, [count, count].
Eigen::MatrixXd kernel_matrix(const std::uint64_t* signatures, std::size_t count, std::size_t words, double scale);

/// The feature row of every architecture of `table` under one structure: where it has alternatives, the slowest by
/// `path_costs`, which is not read otherwise.
FeatureRows rows_at(const nasbench::StructureTable& table, std::size_t structure, const Eigen::VectorXd& path_costs);

/// Latencies of a device of this kind, at the scale the measurements give it; the scale itself is uncertain by its
/// size. Without the covariance: that is added by latency_prior.
LatencyPrior latency_mean(const Eigen::VectorXd& log_latency, const FeatureRows& rows, const CostPrior& costs);
LatencyPrior latency_prior(const Problem& problem, const FeatureRows& rows, const CostPrior& costs, double closeness);

/// Prior covariance of the costs of a device of this scale, ms².
Eigen::MatrixXd prior_covariance_ms2(const CostPrior& prior, double scale_ms, double closeness);
Eigen::VectorXd posterior_costs(const CostPrior& prior, const HypothesisFit& candidate, const FeatureRows& rows);

struct NoiseLevel {
  double noise = 0;
  double slow_step = 0;
};

/// Every noise that is tried, at one speed and, where it is small enough, at two.
std::vector<NoiseLevel> noise_levels(const PosteriorOptions& options);

/// Every explanation of the measurements that is not much less probable than the best, most probable first: structure ×
/// library entry × closeness × noise. At most `kept` of them.
std::vector<HypothesisFit> fitted_candidates(const Problem& problem, const CostPriors& priors, std::size_t kept);

}  // namespace tenshot::trainer::structured
