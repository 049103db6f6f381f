#pragma once

#include <cstddef>
#include <vector>

#include "descriptor/cold/cold_files.h"

namespace tenshot::trainer {

/// One way to do a layer: a kernel, with its weights raw or cached. Milliseconds.
struct ColdCandidate {
  std::size_t kernel = 0;  ///< index into LayerStages::kernels
  bool cached = false;
  double prepare_ms = 0;  ///< read, transform unless cached, create: the bundled operations r and w of Yi et al., §3.3
  double create_saving_ms = 0;  ///< part of prepare_ms that is saved where an earlier layer made an equal kernel
  double execute_ms = 0;        ///< operation e
  double read_ms = 0;           ///< part of prepare_ms for which the disk is read
};

/// A cold start to be scheduled.
struct ColdProblem {
  std::vector<std::vector<ColdCandidate>> layers;  ///< at least one candidate each
  std::vector<int> shapes;                         ///< layers of equal shape and kernel share what creating makes
  int preparing_cores = 1;                         ///< M_l; 0: everything happens on the executing core
  descriptor::Interference interference;
};

/// The candidates of every layer: each kernel with raw weights, and cached where that bypasses a transformation.
ColdProblem cold_problem(const descriptor::ColdStages& stages, int preparing_cores);

/// Which candidate each layer takes, and which core prepares it; 0 is the executing core.
struct ColdSchedule {
  std::vector<std::size_t> candidates;
  std::vector<int> cores;
};

/// What a schedule takes when it is carried out, milliseconds: core 0 prepares its layers in order, then executes all
/// in order, each as soon as it is prepared; the other cores prepare theirs in order. A kernel is created at full cost
/// by the first layer of its shape. While core 0 and a preparing core both work, both are slowed down by
/// `interference`. The cores read from one disk, so that no start is faster than all reads one after another.
double makespan(const ColdProblem& problem, const ColdSchedule& schedule);

/// What preparing layer i costs under `candidates`, on the executing core: less where one of its shape took the kernel.
std::vector<double> preparation_costs(const ColdProblem& problem, const std::vector<std::size_t>& candidates);

/// Indices of the candidates of a layer that are faster than every other one in some respect: none other is at least as
/// fast both to prepare and to execute (Yi et al., Algorithm 1, line 1). Of equal ones the first stays.
std::vector<std::size_t> useful_candidates(const std::vector<ColdCandidate>& candidates);

/// Lines 3 to 20 of Algorithm 1 for one combination of candidates: which core prepares which layer. The first layer is
/// prepared by the executing core; as long as the preparing cores have more to do than that core (T_Qj > T_Q0), further
/// layers go to it; the others are balanced over the preparing cores. Where the pseudo-code would forget a layer that
/// it passed over, it stays with the preparing cores.
std::vector<int> balanced_cores(const ColdProblem& problem, const std::vector<std::size_t>& combination);

/// Algorithm 1. The combinations searched are all of them where there are at most 4,096; otherwise those that minimise
/// λ · preparation + (1 − λ) · execution for a λ between 0 and 1; about 24 of these, evenly thinned, if `quick`.
ColdSchedule algorithm_1(const ColdProblem& problem, bool quick = false);

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

/// A simple bound of the makespan: the largest of the sum of the fastest executions (warm latency), the longest chain
/// of one preparation and the executions from there on, and the sum of the fastest reads, as there is one disk.
double simple_bound(const ColdProblem& problem);

}  // namespace tenshot::trainer
