#pragma once

#include <memory>
#include <string>
#include <vector>

#include "trainer/core/predictor.h"

namespace tenshot::trainer {

// Predictors that others start from, fitted to the adaptation set alone; the pool only plans for them. Each latency is
// linear in the one-hot encoding, fitted by least squares on the relative error, with no coefficient below zero but
// where it is said.

/// "flops": a + b·FLOPs (at 32² input, where only ratios of FLOPs matter).
/// "flops-memory": a + b·FLOPs + c·bytes that layers read and write (fp32, every input, output and weight once).
/// "look-up": the sum of the operators' own latencies, which the hardware descriptor has, over all cells, and a
/// backbone that is fitted; without a descriptor, operator costs and backbone both are (inferred_costs_ms).
/// "additive": a cost for every option of every decision, by ridge regression (fit_additive); costs may be negative.
std::vector<std::string> linear_peer_names();
/// Throws InputError on another name or a pool without devices.
std::unique_ptr<PoolModel> make_linear_peer(const std::string& name, const datasets::Pool& pool);
std::unique_ptr<PoolModel> load_linear_peer(const Archive& archive);

}  // namespace tenshot::trainer
