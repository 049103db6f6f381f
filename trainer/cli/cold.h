#pragma once

#include <filesystem>
#include <vector>

#include "descriptor/cold/cold_files.h"
#include "trainer/cli/command.h"
#include "trainer/cold/planner.h"

namespace tenshot::cli {

/// How plans are started.
struct StartConditions {
  int starts = 0;               ///< that count, each in a fresh process; more tell better, and take longer
  int runs = 1;                 ///< of each: what prepares later runs works beside the first
  bool drop_page_cache = true;  ///< of the plan's files, before each start
};

/// A plan, and the stages as its starts corrected them.
struct StartedPlan {
  trainer::ColdPlanning planning;
  descriptor::ColdStages corrected;
};

/// Plans, starts the plan, corrects the stages by what the starts took, and plans again, until a plan comes back or
/// three were tried (Yi et al., §3.3, re-profiling); the same with compiled kernels alone, and without preparing cores.
/// The three that started fastest are started again. The fastest of these is started twice as often once more, and left
/// in `out` with what the stages of its last starts predict for it.
StartedPlan plan_by_starting(const descriptor::ColdStages& stages, const trainer::ColdPlanOptions& options,
                             const StartConditions& conditions, const std::filesystem::path& out);

}  // namespace tenshot::cli
