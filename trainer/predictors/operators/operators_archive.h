#pragma once

#include "nasbench/spaces/network_space.h"
#include "trainer/core/archive.h"
#include "trainer/predictors/operators/cost_posterior.h"

namespace tenshot::trainer::operators {

// Features, library and posterior as parts of an archive. Features go by name, so that a file outlives their order.
// Reading throws FormatError that names the array or key that is missing, does not fit or is out of range.

void put_features(Archive& archive, const FeatureMap& map);
/// `space` is the archive's own.
FeatureMap get_features(const Archive& archive, const nasbench::NetworkSpace& space);

/// How exactly the numbers of a library are kept: as they are, or in half of the room.
enum class Exactness { float64, float32 };
void put_library(Archive& archive, const CostLibrary& library, Exactness exactness = Exactness::float64);
CostLibrary get_library(const Archive& archive, const FeatureMap& map);

void put_posterior(Archive& archive, const CostPosterior& posterior);
CostPosterior get_posterior(const Archive& archive, const FeatureMap& map);

}  // namespace tenshot::trainer::operators
