#pragma once

#include <Eigen/Core>
#include <vector>

#include "datasets/pool/pool.h"
#include "nasbench/graph/operator_specification.h"
#include "trainer/predictors/operators/cost_features.h"
#include "trainer/predictors/operators/cost_library.h"
#include "trainer/predictors/operators/own_operators.h"

namespace tenshot::trainer::operators {

/// Operators whose times on a new device are worth to be known, each once: those of the pool's networks, where it has
/// rows, and of `own`; where these are few, also operators like `own` of other resolutions and numbers of channels.
std::vector<nasbench::OperatorSpecification> operators_to_learn(const datasets::Pool& pool, const OwnOperators& own);

/// What operators take on a new device, ms: boosted trees over the times of `own` correct what `costs_ms` expects of
/// each, [features of the map], and see how the devices of `library` differ from that; what they leave of those times
/// corrects operators nearby (PosteriorOptions::own_reach). Of operators that are executed on their own only sometimes,
/// the mean. `own` and `operators` have at least one operator.
std::vector<double> expected_times(const FeatureMap& map, const CostLibrary& library, const OwnOperators& own,
                                   const Eigen::VectorXd& costs_ms,
                                   const std::vector<nasbench::OperatorSpecification>& operators, double own_reach);

}  // namespace tenshot::trainer::operators
