#pragma once

#include <Eigen/Core>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "trainer/predictors/operators/cost_library.h"

namespace tenshot::trainer::operators {

/// What adaptation assumes and no measurement tells it. The defaults were chosen inside pools, devices of a family
/// held out.
struct PosteriorOptions {
  std::vector<double> noises = {0.015, 0.03, 0.06, 0.12};  ///< σ of log latency, tried in turn
  /// How far a device may be from its library entry, in units of the spread below, tried in turn.
  std::vector<double> closeness = {0.1, 0.3, 1, 2};
  double library_share = 1;     ///< h: the spread of devices like the entry counts h-fold
  double cost_spread = 0.3;     ///< a cost's own standard deviation: this share of the entry's cost,
  double typical_spread = 0.3;  ///< and this share of the mean cost of devices like it,
  double spread_floor = 0.003;  ///< and this, in units of the median latency
  double residual_share = 1.5;  ///< what alike networks share beside costs: standard deviation residual_share · σ
  double student_freedom = 4;   ///< ν of the noise
  double gross_share = 0.02;    ///< of measurements that are simply wrong, and
  double gross_spread = 1;      ///< by how much: the standard deviation of their log latency
  /// Power of the evidence when components are weighted; below 1, as no hypothesis is quite right.
  double evidence_power = 0.5;
  int newton_steps = 5;
  std::size_t kept = 60;  ///< components kept
};

/// Throws InputError that names the first value out of range.
void require_valid(const PosteriorOptions& options);
/// What a checkpoint's card keeps. Reading throws nlohmann::json::exception.
void to_json(nlohmann::json& json, const PosteriorOptions& options);
void from_json(const nlohmann::json& json, PosteriorOptions& options);

/// Costs of a device like one entry of a library, in units of the median latency: a Gaussian whose mean is the entry's
/// costs and whose covariance is rootᵀ · root + diag(variance), times the square of a closeness.
struct CostPrior {
  Eigen::VectorXd mean;      ///< [features]
  Eigen::MatrixXd root;      ///< [devices, features]: differences of devices like it from their mean, weighted
  Eigen::VectorXd variance;  ///< [features]

  Eigen::MatrixXd covariance() const;
  /// covariance · vector.
  Eigen::VectorXd times(const Eigen::VectorXd& vector) const;
};

/// One prior for each entry of the library.
std::vector<CostPrior> cost_priors(const CostLibrary& library, const PosteriorOptions& options);

}  // namespace tenshot::trainer::operators
