#pragma once

#include <memory>

#include "datasets/pool/pool.h"
#include "trainer/core/planning_prior.h"
#include "trainer/predictors/described/descriptor_prior.h"
#include "trainer/predictors/structured/posterior.h"

namespace tenshot::trainer::structured {

/// What a model of `pool` has learned, for planning, under what the model assumes.
std::shared_ptr<const PlanningPrior> planning_prior(const datasets::Pool& pool, const StructuredLibrary& library,
                                                    const DescriptorPrior& descriptor_prior,
                                                    const StructuredPosteriorOptions& options);

/// The same of a pool that no such model was trained on: fits its library, and what descriptors say when a device first
/// comes with one. Throws InputError where its space has no execution structures, or a device too few networks.
std::shared_ptr<const PlanningPrior> planning_prior(const datasets::Pool& pool);

}  // namespace tenshot::trainer::structured
