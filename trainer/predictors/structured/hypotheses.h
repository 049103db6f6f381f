#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "nasbench/structures/structures.h"
#include "trainer/predictors/described/descriptor_prior.h"
#include "trainer/predictors/library/library.h"
#include "trainer/predictors/posterior/latency_solver.h"
#include "trainer/predictors/structured/posterior.h"

namespace tenshot::trainer::structured {

/// Covariance of the costs across the library's entries, in units of the median latency.
Eigen::MatrixXd library_covariance(const StructuredLibrary& library);

/// Prior of the costs of an entry's kind of device, per median latency; features that it lacks have the typical costs.
CostGaussian cost_prior(const StructuredLibrary& library, std::size_t entry, const Eigen::MatrixXd& library_covariance,
                        const StructuredPosteriorOptions& options);

/// Prior of the costs under one structure of a device that has a descriptor.
CostGaussian described_prior(const DescribedDevice& described, std::size_t structure,
                             const StructuredPosteriorOptions& options);

/// Clusters of the entries by their costs (k-means with as many clusters as the root of the entries, from a seeded
/// start; Lloyd, IEEE Transactions on Information Theory 1982): one number an entry, from 0 without gaps. Empty for a
/// library of at most exhaustive_entries, which needs none.
std::vector<std::uint32_t> cluster_entries(const StructuredLibrary& library);

/// The entries that could explain the measurements, by number, the generic one last: clusters in the order of how well
/// their mean explains it until there are enough entries, then the best of those under any structure and the best few
/// under each. Explaining is judged by the Gaussian evidence of log latency, linearised at the measured latencies, with
/// the covariance of costs that all entries share, `spread` (library_covariance()): some hundred multiplications each.
std::vector<std::size_t> nearest_entries(const StructuredLibrary& library, const AdaptationSet& set,
                                         const StructuredPosteriorOptions& options, const Eigen::MatrixXd& spread);

/// Where costs may come from: the library's entries, then what the device's descriptor says.
class CostPriors {
 public:
  /// `library` may be a few entries of one that has `entries_of_all` and the covariance `spread`.
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
  std::shared_ptr<const FeatureRows> rows;  ///< at the measured architectures
  LatencySolution solution;
};

/// The measurements as the solver wants them. `set` is what without_removed leaves.
StructureProblem make_problem(const StructuredLibrary& library, const AdaptationSet& set,
                              const StructuredPosteriorOptions& options);

/// k(x, x') between all pairs of signatures, [signatures, signatures].
Eigen::MatrixXd kernel_matrix(const std::vector<std::uint64_t>& signatures, double scale);

/// Prior covariance of the costs of a device of this scale, ms².
Eigen::MatrixXd prior_covariance_ms2(const CostGaussian& prior, double scale_ms, double closeness);
/// Mean of the costs after the measurements, ms.
Eigen::VectorXd posterior_costs(const CostGaussian& prior, const HypothesisFit& candidate);

/// Root mean square of log latency about what the costs say, both speeds together.
double deviation_of(const NoiseLevel& level, const StructuredPosteriorOptions& options);

/// Every noise that is tried, at one speed and, where it is small enough, at two.
std::vector<NoiseLevel> noise_levels(const StructuredPosteriorOptions& options);

/// At most `kept` explanations, structure × entry × closeness × noise, the best first, and none much less probable.
std::vector<HypothesisFit> fitted_candidates(const StructureProblem& problem, const CostPriors& priors,
                                             std::size_t kept);

/// Many measurements (without the kernel of all), and the few of them (the anchors) through which the residual process
/// is seen: the fully independent training conditional of Quiñonero-Candela and Rasmussen (JMLR 2005, §4.3). Where
/// every measurement is an anchor, it is the exact process.
struct SparseProblem : StructureProblem {
  std::vector<std::uint64_t> anchors = {};  ///< signatures, [u]; none where there is no process
  Eigen::MatrixXd anchor_kernel = {};       ///< [u, u]
  double log_determinant = 0;               ///< of the anchors' kernel
  Eigen::MatrixXd near = {};                ///< k(measurement, anchor), [n, u]
  Eigen::VectorXd unexplained = {};         ///< 1 − what the anchors tell of the process at each measurement, [n]
};

/// `set` is what without_removed leaves. At most `anchors` of them, each where the others tell least of the
/// process (pivoted Cholesky; Harbrecht, Peters and Schneider, Applied Numerical Mathematics 2012).
SparseProblem make_sparse_problem(const StructuredLibrary& library, const AdaptationSet& set,
                                  const StructuredPosteriorOptions& options, std::size_t anchors);

/// A hypothesis on many measurements.
struct SparseFit : StructureHypothesis {
  Eigen::VectorXd costs_ms;             ///< before solving: where to start
  Eigen::VectorXd anchor_weights = {};  ///< of the residual process, [u]
  Eigen::MatrixXd precision = {};       ///< of costs and anchor weights together, [features + u, features + u]
};

/// Gauss–Newton in the space of the costs and the anchors' weights: the same posterior as solve() has, at a price
/// that grows with the number of measurements and not with its cube. Starts from the costs, scale and level of `fit`;
/// writes its costs, scale, anchor weights, precision and evidence (without the entry's log odds).
void solve_sparse(const SparseProblem& problem, const CostGaussian& prior, SparseFit& fit);

// The two ways of adapt(). `set` is what without_removed leaves; without components where nothing explains it.

/// The posterior of few measurements: every hypothesis sees them all, and each is an anchor; time grows cubically.
StructuredPosterior adapt_exactly(const StructuredLibrary& library, const CostPriors& priors, const AdaptationSet& set,
                                  const StructuredPosteriorOptions& options);

/// The posterior of more measurements than are judged on: all hypotheses are judged on a few, the better ones are
/// refined on more, until the best are fitted to all; the residual process has few anchors.
StructuredPosterior adapt_to_many(const StructuredLibrary& library, const CostPriors& priors, const AdaptationSet& set,
                                  const StructuredPosteriorOptions& options);

}  // namespace tenshot::trainer::structured
