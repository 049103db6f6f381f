#pragma once

#include <vector>

#include "nasbench/structures/structures.h"
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
