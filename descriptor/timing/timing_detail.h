#pragma once

#include <functional>
#include <vector>

#include "descriptor/timing/timing.h"

/// What measure() and measure_in_turn() share; for their sources only.
namespace tenshot::descriptor::detail {

/// Whether the 95 % confidence interval of the median is within `relative_precision` of it.
bool precise_enough(std::vector<double> run_times_ms, double relative_precision);

/// Runs until caches, lazily compiled code and clocks have settled: until neither of the last two runs is more than 5 %
/// faster than every run before them. Bounded, because a machine that only gets faster must be measured too.
void warm_up(const std::function<void()>& run, const TimingOptions& options);

/// Throws InputError on numbers of runs or rounds that cannot be.
void require_usable(const TimingOptions& options);

}  // namespace tenshot::descriptor::detail
