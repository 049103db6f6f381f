#include "descriptor/counters/perf_profile.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "descriptor/counters/core_types.h"
#include "descriptor/counters/counters.h"
#include "descriptor/machine/machine.h"
#include "nasbench/support/error.h"
#include "nasbench/support/text.h"

namespace tenshot::descriptor {
namespace {

constexpr std::size_t most_events_a_pass = 4;

void require_usable(std::size_t operators, const PerfCountOptions& options) {
  if (operators == 0) throw InputError("no operators to count: expected at least one");
  if (static_cast<std::size_t>(options.passes) > options.events.size()) {
    throw InputError("counting wants 1 to " + std::to_string(options.events.size()) +
                     " passes, one event at least in each, or 0 to choose; found " + std::to_string(options.passes));
  }
}

struct Findings {
  std::vector<std::vector<double>> per_run;  // [operator][event]
  std::set<std::size_t> scaled, missing;
  std::string why_missing;
};

/// Counts events [first, last) of the options in every operator.
void count_pass(const std::vector<std::function<void()>>& operators, const PerfCountOptions& options, std::size_t first,
                std::size_t last, const CounterOptions& counter_options, Findings& findings) {
  const auto begin = options.events.begin();
  CounterGroup group = CounterGroup::open(
      {begin + static_cast<std::ptrdiff_t>(first), begin + static_cast<std::ptrdiff_t>(last)}, counter_options);
  for (const std::string& reason : group.unavailable()) {
    if (!reason.empty()) findings.why_missing = reason;
  }
  for (std::size_t op = 0; op < operators.size(); ++op) {
    operators[op]();  // to warm up
    group.start();
    for (int run = 0; run < options.runs; ++run) operators[op]();
    const std::vector<CountedValue> counted = group.stop();
    for (std::size_t event = first; event < last; ++event) {
      const CountedValue& value = counted[event - first];
      findings.per_run[op][event] = value.count / options.runs;
      if (value.scaled) findings.scaled.insert(event);
      if (value.missing()) findings.missing.insert(event);
    }
  }
}

std::string names_of(const std::set<std::size_t>& chosen, const std::vector<std::string>& events) {
  std::vector<std::string> names;
  for (const std::size_t event : chosen) names.push_back(events[event]);
  return names.empty() ? "none" : joined(names, ",");
}

bool all_missing(const std::vector<std::vector<double>>& per_run) {
  return std::all_of(per_run.begin(), per_run.end(), [](const std::vector<double>& counts) {
    return std::all_of(counts.begin(), counts.end(), [](double count) { return std::isnan(count); });
  });
}

}  // namespace

OperatorCounts count_by_perf_event(const std::vector<std::function<void()>>& operators,
                                   const PerfCountOptions& options) {
  require_usable(operators.size(), options);
  const std::size_t events = options.events.size();
  const std::size_t passes = options.passes > 0 ? static_cast<std::size_t>(options.passes)
                                                : (events + most_events_a_pass - 1) / most_events_a_pass;
  const std::vector<int> allowed = allowed_cpus();
  CounterOptions counter_options;
  counter_options.running_threads = options.running_threads;
  // On a machine of several core types, the one processor that this process may use.
  if (core_types().size() > 1 && allowed.size() == 1) counter_options.cpu = allowed[0];

  Findings findings;
  findings.per_run.assign(operators.size(), std::vector<double>(events, std::numeric_limits<double>::quiet_NaN()));
  for (std::size_t pass = 0; pass < passes; ++pass) {
    count_pass(operators, options, events * pass / passes, events * (pass + 1) / passes, counter_options, findings);
  }
  if (all_missing(findings.per_run)) {
    throw Error("none of the events was counted: " +
                (findings.why_missing.empty()
                     ? "they open but never count (a virtual machine's stub, or threads on cores "
                       "of another type: pin them to one)"
                     : findings.why_missing));
  }

  OperatorCounts counts;
  counts.source = "perf_event";
  counts.events = options.events;
  counts.per_run = std::move(findings.per_run);
  counts.conditions = {{"mode", "user"},
                       {"passes", std::to_string(passes)},
                       {"runs", std::to_string(options.runs)},
                       {"threads", options.running_threads ? "process" : "calling"},
                       {"core_type", core_types_of(allowed)},
                       {"scaled_events", names_of(findings.scaled, options.events)},
                       {"missing_events", names_of(findings.missing, options.events)}};
  return counts;
}

}  // namespace tenshot::descriptor
