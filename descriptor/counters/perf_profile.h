#pragma once

#include <functional>
#include <string>
#include <vector>

#include "descriptor/counters/operator_counts.h"

namespace tenshot::descriptor {

/// How the events of operators are counted by the processor's counters.
struct PerfCountOptions {
  /// By perf's names, or any that CounterGroup takes. More of them say more of the hardware and need more passes.
  std::vector<std::string> events{default_counters.begin(), default_counters.end()};
  /// Times all operators are run, each with its share of the events. 0: as many as leave at most four events a pass,
  /// since small cores have four to six counters, of which a watchdog may hold one. More passes take longer in
  /// proportion; fewer have the kernel share counters out by time, and the counts become estimates.
  int passes = 0;
  /// Counted runs of each operator and pass, in one interval; the counts are divided by it. More even out the noise of
  /// an interval's ends, and take longer in proportion.
  int runs = 10;
  /// Counts in every thread of the process and not only in the calling one and those that it starts: runtimes keep
  /// pools of threads. Other threads should sleep meanwhile, and none may start or end between the operators' runs.
  bool running_threads = true;
};

/// Counts what one run of each operator costs, by perf_event_open(2) in user mode (CounterGroup): `source` is
/// "perf_event". The calling thread and those that work for it must be pinned to cores of one type (CpuPin); on a
/// machine of several types, a process that may use one processor only is counted with that processor's counters.
/// Conditions: "mode" (user), "passes", "runs", "threads" (of the process, or calling), "core_type" (core_types_of),
/// "scaled_events" and "missing_events": those of which some operator's count is an estimate or missing,
/// comma-separated or "none". The operators run once in each pass before they are counted. Throws InputError on no
/// operators and on more passes than events; Error with a diagnosis when nothing can be counted here.
OperatorCounts count_by_perf_event(const std::vector<std::function<void()>>& operators,
                                   const PerfCountOptions& options = {});

}  // namespace tenshot::descriptor
