#pragma once

#include <Eigen/Core>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "trainer/core/archive_reader.h"
#include "trainer/predictors/operators/cost_library.h"

namespace tenshot::trainer::operators {

/// What adaptation assumes and no measurement tells it. The defaults were chosen inside pools, devices of a family
/// held out.
struct PosteriorOptions {
  /// Standard deviations of log latency about the costs, tried in turn. More of them cost time in proportion.
  std::vector<double> noises = {0.015, 0.03, 0.06, 0.12};
  /// How far a device may be from its library entry, in units of the spread below, tried in turn. More of them cost
  /// time in proportion; larger ones let a device be unlike the pool.
  std::vector<double> closeness = {0.1, 0.3, 1, 2};
  /// h: the spread of devices like the entry counts h-fold. Larger trusts measurements more and the pool less.
  double library_share = 1;
  /// A cost's own standard deviation: a share of the entry's cost, a share of the mean cost of devices like it, and a
  /// floor in units of the median latency. Larger trusts measurements more; the floor lets a cost appear that no device
  /// of the pool has.
  double cost_spread = 0.3;
  double typical_spread = 0.3;
  double spread_floor = 0.003;
  /// What alike networks share beside costs has the standard deviation residual_share · σ. Larger predicts networks
  /// nearer to what alike ones measured, and follows their noise.
  double residual_share = 1.5;
  /// ν of the Student distribution of the noise. Larger lets single measurements that are far off pull the costs
  /// further.
  double student_freedom = 4;
  /// Share of measurements that are simply wrong, and the standard deviation of their log latency. Larger shares
  /// protect from more mistakes, and make less of a true measurement that surprises.
  double gross_share = 0.02;
  double gross_spread = 1;
  /// Power of the evidence when components are weighted; below 1, as no hypothesis is quite right. Nearer to 1 decides
  /// sooner for one entry, nearer to 0 averages over all.
  double evidence_power = 0.5;
  /// How probable it is beforehand that a device is one of a kind (DeviceKind) and not like one entry of the library.
  /// Larger draws more devices towards what is typical of their kind.
  double kind_share = 0.1;
  /// The same of networks that many boards measured (NetworkGroup), where all that was measured is of them.
  double group_share = 0.6;
  /// LibraryOptions::typical_pull where the pool's quantity is cold starts. Larger trusts a device's own starts less.
  double start_pull = 0.05;
  /// 1: what operators take is learned where it was measured on devices of the pool (OperatorTimes); 0: it is not.
  int operator_times = 1;
  int newton_steps = 5;   ///< of Gauss–Newton for each hypothesis; more cost time
  std::size_t kept = 60;  ///< components kept: more make predictions slower and files larger
};

/// Throws InputError that names the first value out of range.
void require_valid(const PosteriorOptions& options);
/// What a checkpoint's card keeps. Reading throws nlohmann::json::exception.
void to_json(nlohmann::json& json, const PosteriorOptions& options);
void from_json(const nlohmann::json& json, PosteriorOptions& options);
/// The same from a checkpoint's settings, every value of its kind and in its range. Throws FormatError, InputError.
PosteriorOptions checked_options(const CardField& settings);

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
