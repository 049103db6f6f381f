#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "nasbench/spaces/search_space.h"
#include "trainer/predictors/operators/cost_features.h"
#include "trainer/predictors/operators/cost_posterior.h"

namespace tenshot::trainer::operators {

/// A part of a network's predicted latency: one operator, or what every inference costs.
struct PartCost {
  std::string name;  ///< "convolution 3x3 stride 2 1x3x224x224 -> 1x32x112x112", or "base"
  std::string kind;  ///< operator_group_name(), "base", "decisions"
  double cost_ms = 0;
  double deviation_ms = 0;  ///< of the cost; those of a network's parts are not independent
  std::string key = {};     ///< of an operator of a network: operator_key(), by which measured times are found
};

/// What the operators of a network cost, in their order; before them "base", what an inference costs whatever its
/// operators, and last in a layered space "decisions", what its options cost beside their operators. The sum is the
/// predicted latency: what alike networks let expect beside costs multiplies all parts. Operators that move no number
/// are left out. Throws what SearchSpace::operator_list throws.
std::vector<PartCost> network_costs(const CostPosterior& posterior, const FeatureMap& map,
                                    const nasbench::SearchSpace& space, const nasbench::Architecture& architecture);

/// The same by kind, the dearest first, for the mean of `architectures`.
std::vector<PartCost> costs_by_kind(const CostPosterior& posterior, const FeatureMap& map,
                                    const nasbench::SearchSpace& space,
                                    const std::vector<nasbench::Architecture>& architectures);

}  // namespace tenshot::trainer::operators
