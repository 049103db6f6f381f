#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "nasbench/spaces/search_space.h"
#include "trainer/cli/command.h"
#include "trainer/cli/outcome.h"
#include "trainer/core/predictor.h"

namespace tenshot::cli {

// plan --until 15%: how sure to become, and how many more measurements that is expected to take.

void add_until_option(OptionParser& options);

/// What --until says: "15%", "15 %" and "15" are 0.15. Throws UsageError, also where --measurements is not given.
double wanted_half_width(const OptionParser& options);

/// Adapts the model to what was measured, and says of the networks judged (judged_by in verdict.h) how sure it is and
/// how many further measurements are expected to do what --until asks for. Returns their number: 0 where it is so
/// already, nothing where `most_planned` (verdict.h) or all of the pool's networks would not do. Throws InputError
/// where the predictor does not say how sure it is.
std::optional<std::size_t> say_needed(const OptionParser& options, const trainer::PoolModel& model,
                                      const trainer::AdaptationSet& measured,
                                      const std::vector<nasbench::Architecture>& named, Outcome& outcome);

}  // namespace tenshot::cli
