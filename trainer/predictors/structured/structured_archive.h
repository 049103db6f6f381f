#pragma once

#include "nasbench/structures/structures.h"
#include "trainer/core/archive.h"
#include "trainer/predictors/described/descriptor_prior.h"
#include "trainer/predictors/library/library.h"
#include "trainer/predictors/structured/posterior.h"

namespace tenshot::trainer::structured {

/// The library and a posterior as arrays of an archive. Structures go by name, so that a file
/// outlives their order. Reading throws FormatError when something is missing or does not fit.
void put_library(Archive& archive, const StructuredLibrary& library);
StructuredLibrary get_library(const Archive& archive, const nasbench::StructureModel& model);
void put_posterior(Archive& archive, const StructuredPosterior& posterior);
StructuredPosterior get_posterior(const Archive& archive, const nasbench::StructureModel& model);

/// What a pool teaches about descriptors. Nothing is written of a prior that is not trained, and such a one is read
/// where nothing is.
void put_descriptor_prior(Archive& archive, const DescriptorPrior& prior);
DescriptorPrior get_descriptor_prior(const Archive& archive, const nasbench::StructureModel& model);

}  // namespace tenshot::trainer::structured
