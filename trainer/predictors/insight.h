#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trainer/core/planning_prior.h"
#include "trainer/core/predictor.h"

namespace tenshot::trainer {

// What some kinds of predictors know beside latencies, for reports: nothing (empty) for a kind that does not know it.

/// A part of a latency.
struct PartCost {
  std::string name;  ///< "convolution 3x3 stride 2 1x3x224x224 -> 1x32x112x112", "nor_conv_3x3", "base"
  std::string kind;  ///< "convolution", "depthwise_convolution" and so on; of one occurrence in a cell empty
  double cost_ms = 0;
  double deviation_ms = 0;  ///< of the cost; those of parts are not independent
};

/// What the operators of a network cost, in their order; the sum is the predicted latency
/// (operators/network_costs.h).
std::vector<PartCost> network_costs(const Predictor& predictor, const Architecture& architecture);

/// What operators cost on the device: one occurrence of each in the cell, or by kind the mean of `typical` networks.
std::vector<PartCost> operator_costs(const Predictor& predictor, const std::vector<Architecture>& typical);

/// σ of a measurement's log latency.
std::optional<double> measurement_noise(const Predictor& predictor);

/// Which entries of its pool the device is like, with their probabilities, the most probable first.
std::vector<std::pair<std::size_t, double>> nearest_of_pool(const Predictor& predictor);

/// What is uncertain about candidates, which are connected and were not measured.
std::optional<PlanningView> uncertainty(const Predictor& predictor, const std::vector<Architecture>& candidates);

}  // namespace tenshot::trainer
