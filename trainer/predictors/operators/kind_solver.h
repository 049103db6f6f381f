#pragma once

#include <Eigen/Core>

#include "trainer/predictors/operators/cost_prior.h"
#include "trainer/predictors/operators/device_kinds.h"
#include "trainer/predictors/posterior/latency_solver.h"

namespace tenshot::trainer::operators {

/// What the measurements make of a kind of devices.
struct KindSolution {
  double log_evidence = 0;
  Eigen::VectorXd log_costs;         ///< [features]: most probable
  Eigen::MatrixXd covariance;        ///< [features, features]: of them
  Eigen::VectorXd weights;           ///< [n]: residuals move by their covariance with the measured ones · weights
  Eigen::VectorXd residual_weights;  ///< [n]: of what alike networks share beside costs and the kind's residuals
};

/// Finds the most probable log costs by Gauss–Newton in the space of the n measurements (latency_solver.h).
KindSolution solve(const KindView& view, const LatencyProblem& problem, double noise, const PosteriorOptions& options);

}  // namespace tenshot::trainer::operators
