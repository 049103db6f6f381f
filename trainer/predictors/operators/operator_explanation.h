#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "trainer/core/predictor.h"
#include "trainer/predictors/operators/cost_posterior.h"

namespace tenshot::trainer::operators {

/// The share of a network's predicted latency that each group of operators has, "base" and "decisions" included; only
/// those above zero, the largest first.
struct LatencyShare {
  std::string what;
  double share = 0;
};
std::vector<LatencyShare> latency_shares(const CostPosterior& posterior, const FeatureMap& map,
                                         const Eigen::VectorXd& features);

/// What a person wants to know of the device. `devices` are the pool's ids, `names` those of the
/// measured networks.
std::vector<Remark> explanation_lines(const CostPosterior& posterior, const FeatureMap& map,
                                      const AdaptationFeatures& set, const std::vector<std::string>& devices,
                                      const std::vector<std::string>& names);

}  // namespace tenshot::trainer::operators
