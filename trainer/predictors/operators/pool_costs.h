#pragma once

#include <string>
#include <vector>

#include "datasets/pool/pool.h"
#include "trainer/core/predictor.h"
#include "trainer/predictors/operators/cost_posterior.h"

namespace tenshot::trainer::operators {

/// A pool fitted: its features and its devices' costs.
struct FittedPool {
  std::vector<Architecture> networks;
  OperatorMeasurements operators;
  FeatureMap map;       ///< with what was learned of all networks
  PoolNumbers numbers;  ///< the shared features alone
  CostLibrary library;
  LibraryOptions options = {};  ///< that the library is fitted with

  /// Learns what operators take from the networks that `known` numbers alone: gives the devices of `of`, those of the
  /// pool that `devices` numbers, in that order, the blocks of the map that is returned, which has no others.
  FeatureMap learn(const std::vector<Eigen::Index>& known, CostLibrary& of,
                   const std::vector<Eigen::Index>& devices) const;
};

/// What a pool's costs are fitted with: those of cold starts are drawn together by PosteriorOptions::start_pull.
LibraryOptions library_options(const datasets::Pool& pool, const PosteriorOptions& options);

/// The networks of a pool under the shared features of a map. Throws InputError for a device without latencies.
PoolNumbers numbers_of(const FeatureMap& map, const datasets::Pool& pool);

/// What CostLibrary::unmeasured is to say of the devices whose networks have these features.
std::vector<std::vector<std::string>> unmeasured_groups(const FeatureMap& map, const PoolNumbers& numbers,
                                                        const NetworkSpace& space,
                                                        const std::vector<Architecture>& networks);

/// A table that lists no activations, element-wise operators and norms has their costs in those of the operators before
/// them: on a device that measured none of the three, they cost nothing of their own and are not unknown.
void drop_unlisted(const FeatureMap& map, CostLibrary& library);

/// Throws InputError for a device without latencies.
FittedPool fit_pool(const datasets::Pool& pool, const PosteriorOptions& options);

/// Latency [device][architecture], ms, that the library expects on the devices it was fitted to.
std::vector<std::vector<double>> latencies_of_pool(const FeatureMap& map, const CostLibrary& library,
                                                   const NetworkSpace& space,
                                                   const std::vector<Architecture>& architectures);

/// The runtime of a new device by the pool's name for it, and which of the pool's devices that `entries` numbers have
/// it; nothing where `runtime` is empty. Throws InputError where no device of the pool has it.
SaidRuntime said_runtime(const datasets::Pool& pool, const std::string& runtime,
                         const std::vector<std::size_t>& entries);

AdaptationFeatures adaptation_features(const FeatureMap& map, const NetworkSpace& space, const AdaptationSet& set);

}  // namespace tenshot::trainer::operators
