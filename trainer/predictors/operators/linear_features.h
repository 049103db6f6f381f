#pragma once

#include <Eigen/Core>
#include <optional>

#include "nasbench/spaces/search_space.h"
#include "trainer/predictors/operators/cost_features.h"

namespace tenshot::trainer::operators {

/// Features as a linear function of the one-hot encoding, [1 + encoding width, features]: the first architecture's, and
/// what each option adds to them. Nothing where what an option adds depends on other decisions.
std::optional<Eigen::MatrixXd> linear_features(const nasbench::SearchSpace& space, const FeatureMap& map);

}  // namespace tenshot::trainer::operators
