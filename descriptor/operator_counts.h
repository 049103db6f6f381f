#pragma once

#include <map>
#include <string>
#include <vector>

namespace tenshot::descriptor {

/// What one run of each operator costs in events.
struct OperatorCounts {
  std::string source;  ///< "perf_event", "callgrind"
  std::vector<std::string> events;
  std::vector<std::vector<double>> per_run;  ///< [operator][event], events a run; NaN where the core has no such event
  bool simulated = false;
  /// What a file must say about them: "passes", "scaled_events", "core_type", "simulated_caches" ...
  std::map<std::string, std::string> conditions;
};

}  // namespace tenshot::descriptor
