#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sampling/architectures/information.h"
#include "trainer/core/predictor.h"
#include "trainer/predictors/operators/cost_posterior.h"

namespace tenshot::trainer {

/// The predictor `operators`: latency as a sum of what each kind of operator costs for being there, for its arithmetic
/// and for its bytes, in a layered space also of what each decision adds; the pool's devices as prior, and where the
/// pool has few networks, what alike networks have in common beside costs (trainer/predictors/operators/). Works in any
/// space that lists its operators. Fits the costs of every device and calibrates the intervals. Throws InputError.
std::unique_ptr<PoolModel> train_operators(const datasets::Pool& pool, std::uint64_t seed,
                                           const operators::PosteriorOptions& options = {});

/// From an archive whose card names "operators". Throw FormatError.
std::unique_ptr<PoolModel> load_operators(const Archive& archive);
std::unique_ptr<Predictor> load_operators_predictor(const Archive& archive);

namespace operators {

/// What planning needs: the uncertainty of candidates, conditioned on what was measured, and the noise to expect.
struct PlanningView {
  sampling::LatencyCovariance covariance;
  double noise = 0;  ///< σ of a measurement's log latency
};

/// By the model's own library where it is of `operators`, else by one that is fitted to its pool.
PlanningView planning_view(const PoolModel& model, const std::vector<Architecture>& candidates,
                           const AdaptationSet& measured);

}  // namespace operators
}  // namespace tenshot::trainer
