#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tenshot::descriptor {

/// The six counters of the hardware descriptor (MAPLE-Edge §2.3) by perf's names, in the order of every file.
constexpr std::array<std::string_view, 6> default_counters = {
    "cycles", "instructions", "cache-references", "cache-misses", "L1-dcache-loads", "L1-dcache-load-misses"};

/// What one run of each operator costs in events.
struct OperatorCounts {
  std::string source;  ///< "perf_event", "callgrind"
  std::vector<std::string> events;
  std::vector<std::vector<double>> per_run;  ///< [operator][event], events a run; NaN where the core has no such event
  /// What a file must say about them: "passes", "scaled_events", "core_type", "simulated_caches" ...
  std::map<std::string, std::string> conditions;
};

}  // namespace tenshot::descriptor
