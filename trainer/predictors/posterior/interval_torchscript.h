#pragma once

#include "trainer/predictors/posterior/intervals.h"

namespace torch::jit {
struct Module;
}

namespace tenshot::trainer {

/// Gives `module` the method interval(mean, deviation, confidence) -> (latency_ms, lower_ms, upper_ms), of the moments
/// of log latency: it interpolates between error_quantile() at many probabilities.
void add_quantiles(torch::jit::Module& module, const IntervalCalibration& calibration);

}  // namespace tenshot::trainer
