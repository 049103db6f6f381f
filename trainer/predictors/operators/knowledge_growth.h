#pragma once

#include "datasets/pool/pool.h"
#include "trainer/predictors/operators/cost_features.h"
#include "trainer/predictors/operators/cost_library.h"

namespace tenshot::trainer::operators {

/// Appends the devices of a pool to a library: their costs are fitted on the library's features, and how they differ
/// from the devices that are there is seen on the pool's networks. Features that the library has not, of operators that
/// none of its networks has, are added to the map; no device that was there has a cost for them. What the pool says of
/// operators inside networks is not learned. Throws InputError for a device without latencies.
void grow(FeatureMap& map, CostLibrary& library, const datasets::Pool& pool, const LibraryOptions& options);

}  // namespace tenshot::trainer::operators
