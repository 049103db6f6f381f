#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "nasbench/structures/structures.h"
#include "trainer/predictors/posterior/latency_solver.h"
#include "trainer/predictors/structured/entry_priors.h"
#include "trainer/predictors/structured/posterior.h"

namespace tenshot::trainer::structured {

using FeatureRows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// The measurements in the form that hypotheses want.
struct StructureProblem {
  const StructuredLibrary& library;
  const StructuredPosteriorOptions& options;
  nasbench::StructureTable table;
  LatencyProblem measured;
};

/// One component of the mixture while it is fitted: where it starts and how far the measurements moved it.
struct HypothesisFit {
  std::size_t structure = 0;
  std::size_t entry = 0;
  NoiseLevel level;
  double closeness = 1;
  double log_evidence = -std::numeric_limits<double>::infinity();
  FeatureRows rows;  ///< at the measured architectures; empty where the structure has one alternative
  double scale_ms = 1;
  LatencySolution solution;
};

/// The measurements as the solver wants them. `set` is what without_removed leaves.
StructureProblem make_problem(const StructuredLibrary& library, const AdaptationSet& set,
                              const StructuredPosteriorOptions& options);

/// k(x, x') between all pairs of `count` signatures, [count, count].
Eigen::MatrixXd kernel_matrix(const std::uint64_t* signatures, std::size_t count, std::size_t words, double scale);

/// The feature row of every architecture of `table` under one structure: where it has alternatives, the slowest by
/// `path_costs`, which is not read otherwise.
FeatureRows rows_at(const nasbench::StructureTable& table, std::size_t structure, const Eigen::VectorXd& path_costs);

/// Latencies that the costs expect, in units of the median latency; and the prior at the scale that the measurements
/// give it.
Eigen::VectorXd relative_latency(const FeatureRows& rows, const CostGaussian& costs);
LatencyPrior latency_prior(const StructureProblem& problem, const FeatureRows& rows, const CostGaussian& costs,
                           double closeness);

/// Prior covariance of the costs of a device of this scale, ms².
Eigen::MatrixXd prior_covariance_ms2(const CostGaussian& prior, double scale_ms, double closeness);
Eigen::VectorXd posterior_costs(const CostGaussian& prior, const HypothesisFit& candidate, const FeatureRows& rows);

/// Root mean square of log latency about what the costs say, both speeds together.
double deviation_of(const NoiseLevel& level, const StructuredPosteriorOptions& options);

/// Every noise that is tried, at one speed and, where it is small enough, at two.
std::vector<NoiseLevel> noise_levels(const StructuredPosteriorOptions& options);

/// Every explanation of the measurements that is not much less probable than the best, most probable first: structure ×
/// library entry × closeness × noise. At most `kept` of them.
std::vector<HypothesisFit> fitted_candidates(const StructureProblem& problem, const CostPriors& priors,
                                             std::size_t kept);

}  // namespace tenshot::trainer::structured
