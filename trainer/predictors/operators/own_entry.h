#pragma once

#include <vector>

#include "datasets/pool/pool.h"
#include "trainer/core/predictor.h"
#include "trainer/predictors/operators/cost_features.h"
#include "trainer/predictors/operators/cost_library.h"
#include "trainer/predictors/operators/cost_posterior.h"
#include "trainer/predictors/operators/cost_prior.h"

namespace tenshot::trainer::operators {

/// What became of a device's own operators.
struct OwnEntry {
  std::size_t profiled = 0;  ///< networks whose operators are used; 0: no entry was added
  std::vector<Remark> told;  ///< what is to be said of it
};

/// Adds the new device-runtime to a library as one more entry, last, with a block of its own in the map, where a
/// profiler told what operators take inside the networks of `set`; does nothing where it told nothing. Where the times
/// contradict the latencies, or cannot be used, it says why and adds nothing.
///
/// Linear costs are fitted to the measured times. What operators of the pool's networks take is expected from these
/// times and from what `library` says of the device by its latencies alone (expected_times()); trees keep how that
/// differs from the linear costs (OperatorTimes). What a network takes beside its operators is fitted to the
/// latencies. `pool` has the networks, where it has rows.
OwnEntry add_own_entry(FeatureMap& map, CostLibrary& library, const datasets::Pool& pool, const AdaptationSet& set,
                       const PosteriorOptions& options);

/// adapt() where the last entry of the library is the device's own, from its operators: the mean of the posterior of
/// the other entries and of that of the own one. One knows many networks of other devices, the other one a few of this
/// device; their errors have little to do with each other: both count half up to ten networks `profiled`, then the own
/// one more, as where the others are far off for measured networks that they are not told, up to all.
CostPosterior adapt_beside_own(const CostLibrary& library, const AdaptationFeatures& set, std::size_t profiled,
                               const PosteriorOptions& options = {});

}  // namespace tenshot::trainer::operators
