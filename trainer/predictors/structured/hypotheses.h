#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "nasbench/structures/structures.h"
#include "trainer/predictors/described/descriptor_prior.h"
#include "trainer/predictors/library/library.h"
#include "trainer/predictors/posterior/latency_solver.h"
#include "trainer/predictors/structured/posterior.h"

namespace tenshot::trainer::structured {

/// Covariance of the costs across the library's entries, in units of the median latency.
Eigen::MatrixXd library_covariance(const StructuredLibrary& library);

/// Prior of the costs of one entry's kind of device, in units of the median latency. Features that the entry's own
/// structure does not use are taken from the typical costs.
CostGaussian cost_prior(const StructuredLibrary& library, std::size_t entry, const Eigen::MatrixXd& library_covariance,
                        const StructuredPosteriorOptions& options);

/// Prior of the costs under one structure of a device that has a descriptor.
CostGaussian described_prior(const DescribedDevice& described, std::size_t structure,
                             const StructuredPosteriorOptions& options);

/// Where costs may come from: the library's entries, then what the device's descriptor says.
class CostPriors {
 public:
  CostPriors(const StructuredLibrary& library, const StructuredPosteriorOptions& options,
             const DescribedDevice* described);
  /// The same for a few entries of a library that has `entries_of_all` and the covariance `spread`.
  CostPriors(const StructuredLibrary& library, const StructuredPosteriorOptions& options,
             const DescribedDevice* described, const Eigen::MatrixXd& spread, std::size_t entries_of_all);

  std::size_t entries() const { return of_library_.size() + (described_.empty() ? 0 : 1); }
  const CostGaussian& at(std::size_t structure, std::size_t entry) const {
    return entry < of_library_.size() ? of_library_[entry] : described_[structure];
  }
  /// Log prior probability of an entry, against one of the library.
  double log_odds(std::size_t entry) const { return entry < of_library_.size() ? 0 : log_odds_described_; }

 private:
  std::vector<CostGaussian> of_library_;
  std::vector<CostGaussian> described_;  ///< one a structure; empty without a descriptor
  double log_odds_described_ = 0;
};

/// The measurements in the form that hypotheses want.
struct StructureProblem {
  const StructuredLibrary& library;
  const StructuredPosteriorOptions& options;
  nasbench::StructureTable table;
  LatencyProblem measured;
};

/// A hypothesis while it is fitted: where it starts, and how probable the measurements make it.
struct StructureHypothesis {
  std::size_t structure = 0;
  std::size_t entry = 0;
  NoiseLevel level = {};
  double closeness = 1;
  double log_evidence = -std::numeric_limits<double>::infinity();
  double scale_ms = 1;
};

/// How far the measurements moved it.
struct HypothesisFit : StructureHypothesis {
  FeatureRows rows;  ///< at the measured architectures; empty where the structure has one alternative
  LatencySolution solution;
};

/// The measurements as the solver wants them. `set` is what without_removed leaves.
StructureProblem make_problem(const StructuredLibrary& library, const AdaptationSet& set,
                              const StructuredPosteriorOptions& options);

/// k(x, x') between all pairs of `count` signatures, [count, count].
Eigen::MatrixXd kernel_matrix(const std::uint64_t* signatures, std::size_t count, std::size_t words, double scale);

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
