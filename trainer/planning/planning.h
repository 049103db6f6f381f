#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "datasets/pool/pool.h"
#include "trainer/core/predictor.h"

namespace tenshot::trainer {

struct PlanRequest {
  std::size_t samples = 10;
  std::string sampler = "information";   ///< or one of sampling::sampler_names()
  std::vector<Architecture> candidates;  ///< may be measured; empty = known_architectures() of the pool
  bool profiled = false;                 ///< `information`: operators of what is planned will be timed too
  std::optional<double> noise;  ///< `information`: σ expected of a measurement's log latency before any is known
  AdaptationSet measured;       ///< what is known of the new device: measurements, descriptor, runtime
  std::uint64_t seed = 1;
};

/// The planning prior of a pool, from its latencies alone: by execution structures where its space has them, else by
/// operators. Fits the costs of every device: build it once for all devices; the pool outlives it. Throws InputError.
std::shared_ptr<const PlanningPrior> planning_prior(const datasets::Pool& pool);

/// The architectures to measure on a new device, the most useful first where the sampler has an order. `information`
/// chooses connected candidates by what the prior and the device's descriptor teach of costs and structures, and after
/// measurements by what is still uncertain. The others rank candidates by the pool's latencies, and those that a pool
/// device has not measured by what the prior expects of them there; they need none (nullptr) where the whole pool has
/// measured every candidate. Throws InputError (too few candidates, no such sampler).
std::vector<Architecture> plan(const datasets::Pool& pool, const PlanningPrior* prior, const PlanRequest& request);
/// The same from a checkpoint. Only `information` needs a prior: what the model has learned already, where planning can
/// use that, else that of its pool. The others ask the model about candidates that a pool device has not measured.
std::vector<Architecture> plan(const PoolModel& model, const PlanRequest& request);

/// Whether that sampler chooses by a planning prior, even among candidates that the whole pool has measured.
bool chooses_by_prior(const std::string& sampler);

/// Names that PlanRequest::sampler takes.
std::vector<std::string> plan_samplers();

}  // namespace tenshot::trainer
