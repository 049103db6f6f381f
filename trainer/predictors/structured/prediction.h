#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "nasbench/structures/structures.h"
#include "trainer/core/adaptation_set.h"
#include "trainer/predictors/structured/posterior.h"

namespace tenshot::trainer::structured {

/// What a posterior says of architectures: log latency (of ms) has this mean and standard deviation, both before
/// calibration.
struct LogLatency {
  std::vector<double> mean;
  std::vector<double> deviation;
};

/// One entry an architecture of `table`. The variance is the sum of that of the costs, of the noise, of the residual
/// process and between components.
LogLatency predict(const StructuredPosterior& posterior, const nasbench::StructureTable& table);

/// Quantile of the calibrated standardised error: the z below which it lies with `probability` in (0, 1).
double error_quantile(const IntervalCalibration& calibration, double probability);

/// Of a fleet, widens the intervals of a posterior whose calibration is known by how far another board may be from the
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

/// Latencies in ms, with bounds that hold the truth with probability `confidence`. Throws InputError unless confidence
/// is in (0, 1).
struct LatencyIntervals {
  std::vector<double> latency_ms;
  std::vector<double> lower_ms;
  std::vector<double> upper_ms;
};
LatencyIntervals predict_intervals(const StructuredPosterior& posterior, const nasbench::StructureTable& table,
                                   double confidence);

}  // namespace tenshot::trainer::structured
