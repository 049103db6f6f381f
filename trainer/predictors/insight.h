#pragma once

#include <optional>
#include <vector>

#include "trainer/core/planning_prior.h"
#include "trainer/core/predictor.h"
#include "trainer/predictors/operators/network_costs.h"

namespace tenshot::trainer {

// What some kinds of predictors know beside latencies, for reports: nothing (empty) for a kind that does not know it.

/// A part of a latency. Of one occurrence of an operation in a cell, "nor_conv_3x3", the kind is empty.
using operators::PartCost;

/// What the operators of a network cost, in their order; the sum is the predicted latency
/// (operators/network_costs.h).
std::vector<PartCost> network_costs(const Predictor& predictor, const Architecture& architecture);

/// What operators cost on the device: one occurrence of each in the cell, or by kind the mean of `typical` networks.
std::vector<PartCost> operator_costs(const Predictor& predictor, const std::vector<Architecture>& typical);

/// σ of a measurement's log latency.
std::optional<double> measurement_noise(const Predictor& predictor);

/// What is uncertain about candidates, which are connected and were not measured.
std::optional<PlanningView> uncertainty(const Predictor& predictor, const std::vector<Architecture>& candidates);

}  // namespace tenshot::trainer
