#pragma once

#include <vector>

#include "descriptor/cold/cold_files.h"

namespace tenshot::trainer {

/// A start of a plan in a fresh process, milliseconds.
struct MeasuredStart {
  double cold_ms = 0;
  double start_ms = 0;  ///< before the first layer
  std::vector<descriptor::LayerTimes> layers;
};

/// Which layers are said to have waited for the disk: a start waits a few times, where the system reads ahead, and
/// another plan waits elsewhere.
enum class ReadTimes {
  spread,     ///< over all layers, in proportion to what reading them was expected to take: for other plans
  as_started  ///< those that did: for what these starts took
};

/// Stages as starts of a plan show them (Yi et al., §3.3: "re-profiling"). Stages are measured one by one in a process
/// that has used the library before; in a start its code is touched for the first time, and the other core works too.
/// What the plan's kernels took replaces their stages: the median of the starts. The stages of all other kernels are
/// multiplied by the ratio of the measured to the expected sums, for each kind of stage; so is the reading of all,
/// where it is spread. What is measured this way holds the interference of the cores, so that `interference` becomes 1.
/// Throws InputError where a start has not the plan's number of layers, or there is none.
descriptor::ColdStages calibrated(const descriptor::ColdStages& stages, const descriptor::ColdPlan& plan,
                                  const std::vector<MeasuredStart>& starts, ReadTimes read_times = ReadTimes::spread);

}  // namespace tenshot::trainer
