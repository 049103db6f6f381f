#pragma once

#include <Eigen/Core>
#include <cstddef>

#include "datasets/pool/pool.h"
#include "trainer/core/knowledge.h"
#include "trainer/predictors/operators/cost_features.h"
#include "trainer/predictors/operators/cost_library.h"
#include "trainer/predictors/operators/cost_posterior.h"
#include "trainer/predictors/operators/cost_prior.h"

namespace tenshot::trainer::operators {

/// What a library says of one of its devices without any measurement: its costs, which may be as far off as the
/// smallest closeness of `prior` lets them be, and its own residuals. `features` counts those of all blocks. The
/// calibration is empty.
CostPosterior known_posterior(const CostLibrary& library, std::size_t device, const CostPrior& prior,
                              Eigen::Index features, const PosteriorOptions& options);

/// How well each device of a pool is predicted where its networks are left out of all fits, a fifth at a time, and
/// where of the residuals what devices have in common is kept. Errors are standardised by known_posterior(). A device
/// with few networks takes part of the quantiles of all. What calibration found out of networks unlike all others is
/// that of `library`.
OwnFits own_fits(const datasets::Pool& pool, const CostLibrary& library, const PosteriorOptions& options);

/// Puts stepped_scale_ms() in the place of every device's median latency, which is one of those that it measured. The
/// library and the map expect the same latencies as before.
void drop_medians(FeatureMap& map, CostLibrary& library);

}  // namespace tenshot::trainer::operators
