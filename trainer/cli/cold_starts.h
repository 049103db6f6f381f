#pragma once

#include <filesystem>
#include <vector>

#include "descriptor/cold/stages.h"
#include "trainer/cold/calibration.h"
#include "trainer/cold/planner.h"

namespace tenshot::cli {

/// Starts the plan so often, each time in a fresh process with the page cache of its files dropped; once more before,
/// which makes the file of its weights where there is none. `runs` of each: what prepares later runs works beside the
/// first. Throws Error with what the process said where one fails.
std::vector<trainer::MeasuredStart> measured_starts(const std::filesystem::path& plan, int starts, int runs);

/// A plan, and the stages as its starts corrected them.
struct StartedPlan {
  trainer::ColdPlanning planning;
  descriptor::ColdStages corrected;
};

/// Plans, starts the plan, corrects the stages by what the starts took, and plans again, until a plan comes back or
/// three were tried (Yi et al., §3.3, re-profiling); where cores are to prepare, the same without them. The fastest, as
/// started, is started again, and left in `out` with what the stages predict for it that these starts corrected.
StartedPlan plan_by_starting(const descriptor::ColdStages& stages, const trainer::ColdPlanOptions& options, int starts,
                             const std::filesystem::path& out);

}  // namespace tenshot::cli
