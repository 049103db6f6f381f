#pragma once

#include <memory>

#include "datasets/pool/pool.h"
#include "trainer/core/predictor.h"
#include "trainer/predictors/operators/cost_features.h"
#include "trainer/predictors/operators/cost_library.h"
#include "trainer/predictors/operators/cost_posterior.h"

namespace tenshot::trainer::operators {

/// What a model of `pool` has learned, for planning, under what the model assumes.
std::shared_ptr<const PlanningPrior> planning_prior(const datasets::Pool& pool, const FeatureMap& map,
                                                    const CostLibrary& library, const PosteriorOptions& options);

/// The same of a pool that no such model was trained on, whose costs it fits. Throws InputError as fit_pool().
std::shared_ptr<const PlanningPrior> planning_prior(const datasets::Pool& pool);

}  // namespace tenshot::trainer::operators
