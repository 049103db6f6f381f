#pragma once

#include "nasbench/structures/structures.h"
#include "trainer/core/archive.h"
#include "trainer/predictors/described/descriptor_prior.h"

namespace tenshot::trainer::structured {

/// What a pool teaches about descriptors as arrays of an archive. Nothing is written of a prior that is not trained,
/// and such a one is read where nothing is. Reading throws FormatError when something is missing or does not fit.
void put_descriptor_prior(Archive& archive, const DescriptorPrior& prior);
DescriptorPrior get_descriptor_prior(const Archive& archive, const nasbench::StructureModel& model);

}  // namespace tenshot::trainer::structured
