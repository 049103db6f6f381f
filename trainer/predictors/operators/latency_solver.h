#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Core>

#include "trainer/predictors/operators/cost_prior.h"
#include "trainer/predictors/structured/posterior_solver.h"

namespace tenshot::trainer::operators {

/// What was measured, and what of it no hypothesis changes.
struct LatencyProblem {
  Eigen::VectorXd log_latency;    ///< [n], of ms
  Eigen::MatrixXd kernel;         ///< [n, n]: how alike the measured networks are
  double clock_variance_ms2 = 0;  ///< of a clock that counts whole milliseconds
  double floor_ms = 0;            ///< no latency is below it
};

/// Latencies of the measured networks before they were measured, under one hypothesis, ms.
struct LatencyPrior {
  Eigen::VectorXd mean;        ///< [n]
  Eigen::MatrixXd covariance;  ///< [n, n]
};

/// What the measurements make of it.
struct LatencySolution {
  double log_evidence = 0;
  Eigen::VectorXd pull;              ///< [n]: the costs move by their covariance with the latencies · pull
  Eigen::VectorXd residual_weights;  ///< [n]: of what alike networks share beside costs
  Eigen::VectorXd slopes;            ///< [n]: 1 / latency
  Eigen::VectorXd noise_variance;    ///< [n]: of the Gaussian in each error's place
};

structured::MeasurementNoise measurement_noise_of(const PosteriorOptions& options);

/// Gaussian evidence of what is left to explain, `target`, with each measurement's Gaussian in place, corrected by what
/// the noise says of each error. `factor` is of the target's covariance, `weights` what it makes of the target.
double log_evidence(const structured::MeasurementNoise& measurement_noise, const Eigen::LLT<Eigen::MatrixXd>& factor,
                    const Eigen::VectorXd& target, const Eigen::VectorXd& weights, const Eigen::VectorXd& error,
                    const Eigen::VectorXd& variance, const Eigen::VectorXd& own_variance);

/// Finds the most probable latencies by Gauss–Newton in the space of the n measurements, under a Student error with
/// gross outliers, and their Laplace evidence (MacKay, Neural Computation 1992). The cost of a step does not depend on
/// the number of features.
class LatencySolver {
 public:
  LatencySolver(const LatencyProblem& problem, const PosteriorOptions& options);
  LatencySolution solve(const LatencyPrior& prior, double noise);

 private:
  const LatencyProblem& problem_;
  const PosteriorOptions& options_;
  structured::MeasurementNoise measurement_noise_;
  Eigen::MatrixXd system_;
  Eigen::LLT<Eigen::MatrixXd> factor_;
  Eigen::VectorXd noise_, residual_, weights_, error_;
};

}  // namespace tenshot::trainer::operators
