#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <cstddef>
#include <limits>

#include "nasbench/structures/structures.h"
#include "trainer/predictors/library/library.h"
#include "trainer/predictors/structured/posterior.h"

namespace tenshot::trainer::structured {

using FeatureRows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// The measurements in the form the solver wants.
struct Problem {
  const StructuredLibrary& library;
  const PosteriorOptions& options;
  nasbench::StructureTable table;
  Eigen::VectorXd log_latency;
  double clock_variance_ms2 = 0;  ///< of a clock that counts whole milliseconds
  Eigen::MatrixXd kernel;
  double floor_ms = 0;
};

/// Prior of the latencies at the measured architectures under one structure and entry: mean and covariance, ms.
struct LatencyPrior {
  double scale_ms = 1;
  Eigen::VectorXd mean;
  Eigen::MatrixXd covariance;
};

/// One component of the mixture while it is fitted: where it starts and how far the measurements moved it.
struct HypothesisFit {
  std::size_t structure = 0;
  std::size_t entry = 0;
  double noise = 0;
  double slow_step = 0;  ///< how much larger log latency is at the device's slow speed; 0: it has one
  double closeness = 1;
  double log_evidence = -std::numeric_limits<double>::infinity();
  FeatureRows rows;  ///< at the measured architectures; empty where the structure has one alternative
  double scale_ms = 1;
  Eigen::VectorXd pull;    ///< costs = prior mean + prior covariance · rowsᵀ · pull
  Eigen::VectorXd slopes;  ///< d log latency / d latency at the solution
  Eigen::VectorXd residual_weights;
  Eigen::VectorXd noise_variance;  ///< of each measurement, after Student weighting
};

/// Noise of log latency: Student-t with ν degrees of freedom (Gaussian for ν = 0) of a given variance about 0 or, in
/// the slow state, about its step; or, rarely, a gross error. It enters Gauss–Newton as the Gaussian that has its slope
/// at the present error (expectation–maximisation for scale mixtures; Lange, Little and Taylor, JASA 1989).
class MeasurementNoise {
 public:
  explicit MeasurementNoise(const PosteriorOptions& options);

  struct View {
    double variance = 0;  ///< of the Gaussian in its place
    double density = 0;   ///< of the error itself
    double shift = 0;     ///< mean of that Gaussian
  };

  /// `slow_step` 0: there is no slow state.
  View at(double error, double variance, double slow_step) const;

 private:
  double shape(double squared) const;
  double precision_at(double squared) const { return nu_ > 0 ? (nu_ + 1) / (nu_ + squared) : 1; }

  double nu_, slow_share_, gross_share_, gross_precision_, gross_density_;
  double usual_density_ = 0;
};

/// Gauss–Newton in the space of the n latencies. The costs enter only through them, so the cost of a step does not
/// depend on how many features a search space has.
class LatencySolver {
 public:
  explicit LatencySolver(const Problem& problem);
  /// From the candidate's noise and the prior: its log evidence, and how far the measurements move it.
  void solve(const LatencyPrior& prior, HypothesisFit& candidate);

 private:
  double log_evidence(const Eigen::VectorXd& own_variance, double slow_step) const;

  const Problem& problem_;
  MeasurementNoise measurement_noise_;
  Eigen::Index n_;
  Eigen::MatrixXd system_;
  Eigen::LLT<Eigen::MatrixXd> factor_;
  Eigen::VectorXd slopes_, noise_, shift_, residual_, weights_, error_;
};

}  // namespace tenshot::trainer::structured
