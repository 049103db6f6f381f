#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "trainer/cold/schedule.h"

namespace tenshot::trainer {

/// Indices of the candidates of a layer that are faster than every other one in some respect: none other is at least as
/// fast both to prepare and to execute (Yi et al., Algorithm 1, line 1). Of equal ones the first stays.
std::vector<std::size_t> useful_candidates(const std::vector<ColdCandidate>& candidates);

/// Lines 3 to 20 of Algorithm 1 for one combination of candidates: which core prepares which layer. The first layer is
/// prepared by the executing core; as long as the preparing cores have more to do than that core (T_Qj > T_Q0), further
/// layers go to it; the others are balanced over the preparing cores. Where the pseudo-code would forget a layer that
/// it passed over, it stays with the preparing cores.
std::vector<int> balanced_cores(const ColdProblem& problem, const std::vector<std::size_t>& combination);

/// Algorithm 1. The combinations searched are all of them where there are at most 4,096; otherwise those that minimise
/// λ · preparation + (1 − λ) · execution for a λ between 0 and 1; about `most_weights` of these at most, evenly
/// thinned.
ColdSchedule algorithm_1(const ColdProblem& problem,
                         std::size_t most_weights = std::numeric_limits<std::size_t>::max());

/// The fastest schedule with at most one preparing core, found over states (time of the preparing core, of the
/// executing core, of the longest wait) that no other dominates; where there are too many states, of those left by a
/// grid. That the cores share a disk is left out.
struct ColdOptimum {
  ColdSchedule schedule;
  /// No schedule is faster: interference and what rounding states may have lost are left out, and a kernel counts as
  /// made where an earlier layer of its shape might have made it.
  double lower_bound_ms = 0;
};
ColdOptimum optimum(const ColdProblem& problem);

/// Simple bounds of the makespan: the sum of the fastest executions (warm latency), the longest chain of one
/// preparation and the executions from there on, and the sum of the fastest reads, as there is one disk.
struct ColdBounds {
  double warm_ms = 0;
  double chain_ms = 0;
  double disk_ms = 0;
};
ColdBounds simple_bounds(const ColdProblem& problem);

}  // namespace tenshot::trainer
