#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trainer/core/predictor.h"

namespace tenshot::trainer {

struct PlanRequest {
  std::size_t samples = 10;
  std::string sampler = "information";   ///< or one of sampling::sampler_names()
  std::vector<Architecture> candidates;  ///< may be measured; empty = the architectures that the pool has measured
  std::optional<double> noise;  ///< `information`: σ expected of a measurement's log latency before any is known
  AdaptationSet measured;       ///< has been measured on the new device already; its descriptor, where there is one
  std::uint64_t seed = 1;
};

/// The architectures to measure on a new device, the most useful first where the sampler has an order. `information`
/// chooses connected candidates by what the pool and the device's descriptor teach of costs and structures, and after
/// measurements by what is still uncertain. The others rank candidates by the pool's latencies, and those that a pool
/// device has not measured by what the model expects of them there. Throws InputError (too few candidates, no such
/// sampler).
std::vector<Architecture> plan(const PoolModel& model, const PlanRequest& request);

/// Names that PlanRequest::sampler takes.
std::vector<std::string> plan_samplers();

}  // namespace tenshot::trainer
