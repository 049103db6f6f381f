#pragma once

#include <vector>

#include "datasets/pool/pool.h"
#include "trainer/core/predictor.h"
#include "trainer/predictors/operators/cost_features.h"
#include "trainer/predictors/operators/cost_library.h"
#include "trainer/predictors/operators/cost_posterior.h"

namespace tenshot::trainer::operators {

/// A pool fitted: its features and its devices' costs.
struct FittedPool {
  FeatureMap map;
  PoolNumbers numbers;
  CostLibrary library;
};

/// Throws InputError for a device without latencies.
FittedPool fit_pool(const datasets::Pool& pool);

/// Latency [device][architecture], ms, that the library expects on the devices it was fitted to.
std::vector<std::vector<double>> latencies_of_pool(const FeatureMap& map, const CostLibrary& library,
                                                   const SearchSpace& space,
                                                   const std::vector<Architecture>& architectures);

/// The measurements as features.
AdaptationFeatures adaptation_features(const FeatureMap& map, const SearchSpace& space, const AdaptationSet& set);

}  // namespace tenshot::trainer::operators
