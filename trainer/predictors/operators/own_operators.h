#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "datasets/pool/pool.h"
#include "nasbench/graph/operator_specification.h"
#include "nasbench/spaces/network_space.h"
#include "trainer/core/predictor.h"
#include "trainer/predictors/operators/cost_posterior.h"

namespace tenshot::trainer::operators {

/// What a profiler told of the operators of the networks that were measured on the new device-runtime.
struct OwnOperators {
  std::vector<nasbench::OperatorSpecification> operators;  ///< distinct ones that have a time
  std::vector<double> latency_ms;                          ///< the median of each
  /// How many operators of a group and function the profiled networks have, and how many of these have their own time.
  std::map<std::pair<std::size_t, std::string>, std::pair<std::size_t, std::size_t>> occurrences;
  std::vector<double> sum_ms;  ///< of each measured network's operators; NaN where it was not profiled

  /// The share of operators like this one that are executed on their own; 1 where there are none.
  double timed_share(const nasbench::OperatorSpecification& operation) const;
};

/// Gathers the operators of `set`. Those of networks that were not measured are left out. An operator that has no
/// network is one of each measured network in which it stands.
OwnOperators own_operators(const nasbench::NetworkSpace& space, const AdaptationSet& set);

/// What the sums of a network's operators say of its latency.
struct OperatorSums {
  std::size_t networks = 0;  ///< that were profiled
  double share = 0;          ///< the median of sum / latency; 0 without a network
  double scatter = 0;        ///< root mean square of log(latency · share / sum)
  double spread = 0;         ///< standard deviation of log latency
};
OperatorSums operator_sums(const OwnOperators& own, const AdaptationSet& set);

/// Why the operators' times say nothing of the latencies, as the end of a sentence; empty where they do.
std::string contradiction(const OwnOperators& own, const OperatorSums& sums);

/// Operators whose times on a new device are worth to be known, each once: those of the pool's networks, where it has
/// rows, and of `own`; where these are few, also operators like `own` of other resolutions and numbers of channels.
std::vector<nasbench::OperatorSpecification> operators_to_learn(const datasets::Pool& pool, const OwnOperators& own);

/// What operators take on a new device, ms: boosted trees over the times of `own` correct what `costs_ms` expects of
/// each, [features of the map], and see how the devices of `library` differ from that; what they leave of those times
/// corrects operators nearby (PosteriorOptions::own_reach). Of operators that are executed on their own only sometimes,
/// the mean. `own` and `operators` have at least one operator.
std::vector<double> expected_times(const FeatureMap& map, const CostLibrary& library, const OwnOperators& own,
                                   const Eigen::VectorXd& costs_ms,
                                   const std::vector<nasbench::OperatorSpecification>& operators, double own_reach);

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
/// times and from what `library` says of the device by its latencies (expected_times()); trees keep how that differs
/// (OperatorTimes). What a network takes beside them is fitted to latencies; `pool` may have the networks.
OwnEntry add_own_entry(FeatureMap& map, CostLibrary& library, const datasets::Pool& pool, const AdaptationSet& set,
                       const PosteriorOptions& options);

/// adapt() where the last entry of the library is the device's own, from its operators: the mean of the posterior of
/// the other entries and of that of the own one. One knows many networks of other devices, the other one a few of this
/// device; their errors have little to do with each other: both count half up to ten networks `profiled`, then the own
/// one more, as where the others are far off for measured networks that they are not told, up to all.
CostPosterior adapt_beside_own(const CostLibrary& library, const AdaptationFeatures& set, std::size_t profiled,
                               const PosteriorOptions& options = {});

}  // namespace tenshot::trainer::operators
