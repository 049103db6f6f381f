#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "descriptor/cold/cold_files.h"

namespace tenshot::trainer {

/// One way to do a layer: a kernel, with its weights raw or cached. Milliseconds.
struct ColdCandidate {
  int kernel = 0;  ///< index into LayerStages::kernels
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

/// When operations of a schedule end, milliseconds from the start.
struct ColdTimeline {
  std::vector<double> prepared, executed;  ///< for each layer
  /// What all reads take one after another. The cores read from one disk, so that no start is faster.
  double disk_ms = 0;
  double makespan() const { return executed.empty() ? 0 : std::max(executed.back(), disk_ms); }
};

/// What happens when a schedule is carried out: core 0 prepares its layers in order, then executes all in order, each
/// as soon as it is prepared; the other cores prepare theirs in order. A kernel is created at full cost by the first
/// layer of its shape. While core 0 and a preparing core both work, both are slowed down by `interference`.
ColdTimeline simulate(const ColdProblem& problem, const ColdSchedule& schedule);

/// What preparing layer i costs under `candidates`, on the executing core: less where an earlier layer of its shape
/// takes the same kernel.
std::vector<double> preparation_costs(const ColdProblem& problem, const std::vector<std::size_t>& candidates);

}  // namespace tenshot::trainer
