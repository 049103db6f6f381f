#include "datasets/collect_descriptor.h"

#include <algorithm>

#include "descriptor/callgrind.h"
#include "descriptor/child_process.h"
#include "descriptor/counters.h"
#include "descriptor/perf_profile.h"
#include "nasbench/support/error.h"

namespace tenshot::datasets {
namespace {

bool default_events(const std::vector<std::string>& events) {
  return std::equal(events.begin(), events.end(), default_counters.begin(), default_counters.end());
}

/// Why the processor cannot count the events; empty when it can count some.
std::string why_no_hardware_counters(const std::vector<std::string>& events) {
  try {
    const descriptor::CounterGroup group = descriptor::CounterGroup::open(events, {});
    const std::vector<std::string>& unavailable = group.unavailable();
    const bool any = std::any_of(unavailable.begin(), unavailable.end(), [](const auto& why) { return why.empty(); });
    return any ? "" : unavailable.front();
  } catch (const InputError&) {
    throw;  // a name that nobody knows is no reason to count something else
  } catch (const Error& error) {
    return error.what();
  }
}

void measure_latencies(HardwareDescriptor& descriptor, const CollectOptions& options, const SearchSpace& space,
                       CollectTimer& timer, const std::function<void(const std::string&)>& step) {
  std::vector<OperatorProfile> operators;
  for (const nasbench::Operator& op : space.operators(options.shape)) {
    operators.push_back({op.name, op.channels, op.resolution, timer.operator_ms(op), {}});
    step("operator " + op.name + " of " + std::to_string(op.channels) + " channels");
  }
  descriptor = {};
  descriptor.source = "latency_only";
  descriptor.operators = std::move(operators);
}

descriptor::OperatorCounts counted_by_hardware(const CollectOptions& options, const SearchSpace& space,
                                               const descriptor::Runtime& runtime) {
  std::vector<std::unique_ptr<descriptor::PreparedNetwork>> networks;
  std::vector<std::function<void()>> runs;
  for (const nasbench::Operator& op : space.operators(options.shape)) {
    networks.push_back(runtime.prepare(op.graph, options.runtime_options));
    runs.emplace_back([network = networks.back().get()] { network->run(); });
  }
  descriptor::PerfCountOptions counting;
  counting.events = options.descriptor.events;
  counting.passes = options.descriptor.passes;
  counting.runs = options.descriptor.counted_runs;
  return descriptor::count_by_perf_event(runs, counting);
}

descriptor::OperatorCounts counted_by_simulation(const CollectOptions& options, const SearchSpace& space,
                                                 const descriptor::Runtime& runtime,
                                                 const std::function<void(const std::string&)>& step) {
  const nasbench::NetworkShape& shape = options.shape;
  descriptor::CallgrindOptions counting;
  counting.program = options.descriptor.program;
  counting.operators = space.operators(shape).size();
  counting.arguments = {"run-operators",
                        "--runtime",
                        std::string(runtime.name()),
                        "--threads",
                        std::to_string(options.runtime_options.threads),
                        "--batch",
                        std::to_string(options.runtime_options.batch),
                        "--resolution",
                        std::to_string(shape.resolution),
                        "--seed",
                        std::to_string(options.runtime_options.weight_seed),
                        "--space",
                        std::string(space.name()),
                        "--runs",
                        std::to_string(counting.runs)};
  counting.go_on = [&step](std::size_t counted) {
    step("counting operators under callgrind, " + std::to_string(counted) + " done");
    return true;
  };
  return descriptor::count_by_callgrind(counting);
}

}  // namespace

CounterChoice choose_counters(const DescriptorOptions& options) {
  const bool simulation_can = default_events(options.events) && !options.program.empty();
  const bool valgrind = !descriptor::find_program("valgrind").empty();
  if (options.counters == "auto") {
    const std::string why = why_no_hardware_counters(options.events);
    if (why.empty()) return {"perf_event", "counters of the processor"};
    if (simulation_can && valgrind) {
      return {"callgrind", "simulated counters, by callgrind: " + why};
    }
    return {"latency_only", "operator latencies without counters: " + why +
                                (valgrind ? "" : "; with valgrind installed they would be simulated")};
  }
  if (options.counters == "callgrind" && !simulation_can) {
    throw InputError(
        "callgrind simulates cycles, instructions and caches only, for the program tenshot: leave the "
        "events as they are");
  }
  for (const char* source : {"perf_event", "callgrind", "latency_only"}) {
    if (options.counters == source) return {source, ""};
  }
  throw InputError("there is no counter source '" + options.counters +
                   "'; there are: auto, perf_event, callgrind, latency_only");
}

bool descriptor_incomplete(const HardwareDescriptor& descriptor, const std::string& source) {
  return !descriptor.has_latencies() || (source != "latency_only" && descriptor.source != source);
}

void complete_descriptor(HardwareDescriptor& descriptor, const CollectOptions& options, const SearchSpace& space,
                         const descriptor::Runtime& runtime, const std::string& source, CollectTimer& timer,
                         const std::function<void(const std::string&)>& step) {
  if (!descriptor.has_latencies()) measure_latencies(descriptor, options, space, timer, step);
  if (source == "latency_only" || descriptor.source == source) return;
  step("counting the events of operators");
  const descriptor::OperatorCounts counts = source == "perf_event"
                                                ? counted_by_hardware(options, space, runtime)
                                                : counted_by_simulation(options, space, runtime, step);
  descriptor.source = counts.source;
  descriptor.counters = counts.events;
  descriptor.conditions = counts.conditions;
  for (std::size_t i = 0; i < descriptor.operators.size(); ++i) descriptor.operators[i].counts = counts.per_run.at(i);
}

}  // namespace tenshot::datasets
