#pragma once

#include <memory>
#include <string>
#include <vector>

#include "datasets/pool/pool.h"
#include "trainer/core/predictor.h"

namespace tenshot::trainer {

// Predictors that others start from, fitted to the adaptation set alone; the pool only plans for them. Each latency is
// linear in the one-hot encoding, fitted by least squares on the relative error, with no coefficient below zero but
// where it is said.

/// "flops": a + b·FLOPs (at 32² input, where only ratios of FLOPs matter). "flops-memory": a + b·FLOPs + c·bytes that
/// layers read and write (fp32, every input, output and weight once). "lasso": a coefficient for every measure of every
/// kind of operator, by non-negative Lasso (operator_lines.h); not in nasbench201, whose architectures do not list
/// their operators. "constant": the latency that is within ±10 % of most of the measurements. "look-up": the sum of the
/// operators' own latencies, which the hardware descriptor has, over all cells, and a backbone that is fitted; without
/// a descriptor, operator costs and backbone both are (inferred_costs_ms). "additive": a cost for every option of every
/// decision, by ridge regression (fit_additive); costs may be negative. The first four also take networks by name.
/// There, and where FLOPs do not add up over decisions, they are lines through the operators of a network
/// (operator_lines.h).
std::vector<std::string> linear_peer_names();
/// Throws InputError on another name or a pool without devices.
std::unique_ptr<PoolModel> make_linear_peer(const std::string& name, const datasets::Pool& pool);
std::unique_ptr<PoolModel> load_linear_peer(const Archive& archive);
std::unique_ptr<Predictor> load_linear_predictor(const Archive& archive);

}  // namespace tenshot::trainer
