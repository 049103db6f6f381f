#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace tenshot::datasets {

/// One line of `perf stat -x,` (perf-stat(1), "CSV FORMAT").
struct PerfStatCount {
  std::optional<double> count;   ///< scaled by perf where it was multiplexed; nothing when perf says it has none
  std::string missing;           ///< why: "not supported" (the core has no such event), "not counted" (it never ran)
  double running_percent = 100;  ///< of the time; under 100, other events took turns and perf scaled the count
};

/// Events by name, without modifiers ("cycles:u" is "cycles") and without a PMU's prefix ("cpu_core/cycles/" is
/// "cycles"; of several core types the counts add up). Understands decimal commas, which look like a further field.
/// Lines that are comments, or no count, are passed over; a line with a broken number is a count that is missing
/// ("unreadable").
std::map<std::string, PerfStatCount> parse_perf_stat(std::string_view text);

}  // namespace tenshot::datasets
