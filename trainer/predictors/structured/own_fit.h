#pragma once

#include <string>

#include "datasets/pool/pool.h"
#include "nasbench/structures/structures.h"
#include "trainer/core/knowledge.h"
#include "trainer/predictors/library/library.h"
#include "trainer/predictors/structured/posterior.h"

namespace tenshot::trainer::structured {

/// What a library says of one of its devices without any measurement. The calibration is empty. Throws InputError where
/// it has no entry of that id.
StructuredPosterior known_posterior(const StructuredLibrary& library, const std::string& id,
                                    const StructuredPosteriorOptions& options);

/// How well each device is predicted where a fifth of the architectures is left out of all fits at a time.
OwnFits own_fits(const nasbench::StructureModel& model, const datasets::Pool& pool,
                 const StructuredPosteriorOptions& options);

}  // namespace tenshot::trainer::structured
