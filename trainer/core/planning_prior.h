#pragma once

#include <vector>

#include "sampling/architectures/information.h"
#include "trainer/core/predictor.h"

namespace tenshot::trainer {

/// What planning by information looks at: how uncertain candidates are, given what was measured already.
struct PlanningView {
  sampling::LatencyCovariance covariance;  ///< covariance of the candidates' log latencies
  sampling::InformationOptions options;    ///< what a measurement is expected to be, and what is enough
  double own = 0;                          ///< σ of what is a candidate's own, which no measurement of another tells
  double profiled_noise = 0;               ///< that of `options` where operators are timed too; 0: the same
};

/// What a pool teaches planning about a device nobody has measured: built once per pool, asked for every round of every
/// device. It refers to the pool or the model that it was built from, which must outlive it.
class PlanningPrior {
 public:
  virtual ~PlanningPrior() = default;
  /// Candidates are connected. What `measured` holds, its descriptor included, is conditioned on. Throws InputError.
  virtual PlanningView view(const std::vector<Architecture>& candidates, const AdaptationSet& measured) const = 0;
  /// Latency [device of the pool][architecture], ms, that it expects there.
  virtual std::vector<std::vector<double>> predict_pool(const std::vector<Architecture>& architectures) const = 0;
};

}  // namespace tenshot::trainer
