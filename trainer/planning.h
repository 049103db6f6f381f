#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/predictor.h"

namespace tenshot::trainer {

struct PlanRequest {
  std::size_t samples = 10;
  std::string sampler = "targeted-uniform";
  std::vector<Architecture> candidates;  ///< may be measured; empty = the architectures that the pool has measured
  std::vector<Architecture> measured;    ///< have been measured on the new device already
  std::uint64_t seed = 1;
};

/// The architectures to measure on a new device. Candidates that a pool device has not measured are ranked by what the
/// model expects of them there. Throws InputError (too few candidates, no such sampler).
std::vector<Architecture> plan(const PoolModel& model, const PlanRequest& request);

}  // namespace tenshot::trainer
