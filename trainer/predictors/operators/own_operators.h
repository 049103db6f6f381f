#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "nasbench/graph/operator_specification.h"
#include "nasbench/spaces/network_space.h"
#include "trainer/core/predictor.h"

namespace tenshot::trainer::operators {

/// What a profiler told of the operators of the networks that were measured on the new device-runtime.
struct OwnOperators {
  std::vector<nasbench::OperatorSpecification> operators;  ///< distinct ones that have a time
  std::vector<double> latency_ms;                          ///< the median of each
  /// How many operators of a group and function stand in the profiled networks, and how many of them have a time: the
  /// others are executed together with an operator beside them.
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

}  // namespace tenshot::trainer::operators
