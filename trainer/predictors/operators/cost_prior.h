#pragma once

#include <Eigen/Core>
#include <cstddef>

#include "trainer/core/options.h"
#include "trainer/predictors/operators/cost_library.h"
#include "trainer/predictors/posterior/mixture.h"

namespace tenshot::trainer::operators {

/// What adaptation assumes and no measurement tells it. The defaults were chosen inside pools, devices of a family
/// held out. Each option is explained where it is declared (cost_prior.cpp).
struct PosteriorOptions : MixtureOptions {
  PosteriorOptions() {
    closeness = {0.1, 0.3, 1, 2};
    residual_share = 1.5;
  }

  double cost_spread = 0.3;
  double typical_spread = 0.3;
  double spread_floor = 0.003;
  double evidence_power = 0.5;
  double kind_share = 0.03;
  double group_share = 0.6;
  double other_runtimes = 0.05;
  double start_pull = 0.05;
  int operator_times = 1;
  double own_weight = 1;
  double own_error = 0.06;
  double own_reach = 1;
};
const Declaration<PosteriorOptions>& declared(const PosteriorOptions&);

/// Costs of a device like one entry of a library, in units of the median latency: a Gaussian whose mean is the entry's
/// costs and whose covariance is rootᵀ · root + diag(variance), times the square of a closeness.
struct CostPrior {
  Eigen::VectorXd mean;      ///< [features]
  Eigen::MatrixXd root;      ///< [devices, features]: differences of devices like it from their mean, weighted
  Eigen::VectorXd variance;  ///< [features]
};

/// The prior of an entry of the library, whose nearness() is `weights`.
CostPrior cost_prior(const CostLibrary& library, const Eigen::MatrixXd& weights, std::size_t entry,
                     const PosteriorOptions& options);

}  // namespace tenshot::trainer::operators
