#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "nasbench/structures/structures.h"
#include "trainer/predictors/structured/hypotheses.h"

namespace tenshot::trainer::structured {

/// Many measurements, and the few of them (the anchors) through which the residual process is seen: the fully
/// independent training conditional of Quiñonero-Candela and Rasmussen (JMLR 2005, §4.3). Where every measurement is an
/// anchor, it is the exact process.
struct SparseProblem {
  const StructuredLibrary& library;
  const StructuredPosteriorOptions& options;
  nasbench::StructureTable table;
  LatencyProblem measured;                  ///< without its kernel
  std::vector<std::uint64_t> anchors = {};  ///< signatures, [u, signature_words]; none where there is no process
  Eigen::MatrixXd anchor_kernel = {};       ///< [u, u]
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

/// Gauss–Newton in the space of the costs and the anchors' weights: the same posterior as LatencySolver's, at a price
/// that grows with the number of measurements and not with its cube.
class SparseSolver {
 public:
  explicit SparseSolver(const SparseProblem& problem);
  /// From the fit's costs, level and the prior: its evidence (without the entry's log odds) and everything it lacks.
  void solve(const CostGaussian& prior, SparseFit& fit);

 private:
  void step(const FeatureRows& rows, const Eigen::VectorXd& expected_ms);
  double log_evidence(double log_determinant_prior) const;

  const SparseProblem& problem_;
  MeasurementErrors errors_;
  Eigen::Index n_, anchors_;
  double log_determinant_anchors_ = 0;
  Eigen::VectorXd latency_, independent_, target_, weights_, step_;
  Eigen::MatrixXd prior_precision_, precision_, design_;
};

}  // namespace tenshot::trainer::structured
