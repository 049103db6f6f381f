#pragma once

#include <vector>

#include "nasbench/spaces/network_space.h"
#include "trainer/core/predictor.h"
#include "trainer/predictors/operators/cost_features.h"
#include "trainer/predictors/operators/cost_posterior.h"

namespace tenshot::trainer::operators {

/// What the operators of a network cost, in their order; before them "base", what an inference costs whatever its
/// operators, and last in a layered space "decisions", what its options cost beside their operators. The sum is the
/// predicted latency: what alike networks let expect beside costs multiplies all parts. Operators that move no number
/// are left out. Throws what NetworkSpace::operator_list throws.
std::vector<PartCost> network_costs(const CostPosterior& posterior, const FeatureMap& map,
                                    const nasbench::NetworkSpace& space, const nasbench::Architecture& architecture);

/// The same by kind, the dearest first, for the mean of `architectures`.
std::vector<PartCost> costs_by_kind(const CostPosterior& posterior, const FeatureMap& map,
                                    const nasbench::NetworkSpace& space,
                                    const std::vector<nasbench::Architecture>& architectures);

}  // namespace tenshot::trainer::operators
