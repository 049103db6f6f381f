#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <vector>

#include "trainer/core/archive.h"
#include "trainer/core/predictor.h"

namespace tenshot::trainer {

/// The distribution of (log measured − predicted mean) / predicted deviation, found by holding devices of the pool out:
/// `quantiles[i]` is exceeded with probability 1 − `probabilities[i]`. Empty: the standard normal distribution.
struct IntervalCalibration {
  std::vector<double> probabilities;  ///< ascending
  std::vector<double> quantiles;      ///< ascending
};

void put_calibration(Archive& archive, const IntervalCalibration& calibration);
IntervalCalibration get_calibration(const Archive& archive);

/// What a posterior says of networks: log latency (of ms) has this mean and standard deviation, before calibration. The
/// variance is the sum of that of the costs, of the noise, of what alike networks share and between components.
struct LogLatency {
  Eigen::VectorXd mean;
  Eigen::VectorXd deviation;
  /// The share of the prior variance of what alike networks share that each has in its variance: the less a network is
  /// like any measured or known one, the more. Empty where networks are not compared.
  Eigen::VectorXd novelty;
  Eigen::VectorXd reach;  ///< the same of the variance of networks of unlike size, below zero for cheap networks
};

/// Quantile of the calibrated standardised error: the z below which it lies with `probability` in (0, 1).
double error_quantile(const IntervalCalibration& calibration, double probability);

/// Latencies in ms, with bounds that hold with probability `confidence`. Throws InputError unless it is in (0, 1).
Predictions predictions_of(const LogLatency& log_latency, const IntervalCalibration& calibration, double confidence);

/// Widens a fleet's intervals, of a posterior whose calibration is known, by how far another board may be from the
/// typical one: it adds to the components' noise what makes the calibrated 90 % interval that of Fleet::deviation().
template <class Posterior>
void widen_by_fleet(Posterior& posterior, const AdaptationSet& set) {
  if (!set.fleet) return;
  constexpr double normal = 1.645, least = 0.1;
  const IntervalCalibration& calibration = posterior.calibration;
  const double quantile =
      std::max(0.5 * (error_quantile(calibration, 0.95) - error_quantile(calibration, 0.05)), least);
  const double added = set.fleet->deviation() * normal / quantile;
  for (auto& component : posterior.components) component.noise = std::hypot(component.noise, added);
}

}  // namespace tenshot::trainer
