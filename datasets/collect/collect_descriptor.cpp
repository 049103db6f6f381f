#include "datasets/collect/collect_descriptor.h"

#include "descriptor/callgrind/callgrind.h"
#include "descriptor/counters/perf_profile.h"
#include "descriptor/machine/machine.h"
#include "nasbench/support/numbers.h"

namespace tenshot::datasets {
namespace {

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

/// The beginnings of the names of conditions that tell when and on which processor something was measured, and what the
/// sentinel took then. It may have been on another day than the networks, when the machine ran at another speed.
constexpr std::string_view operators_condition = "operators", in_network_condition = "in_network";

void say_when(HardwareDescriptor& descriptor, std::string_view what, const std::string& date, double sentinel_ms) {
  const std::string revision = descriptor::cpu_revision(), name(what);
  descriptor.conditions[name + "_date"] = date;
  descriptor.conditions[name + "_processor"] = descriptor::cpu_model() + (revision.empty() ? "" : ", " + revision);
  descriptor.conditions[name + "_sentinel_ms"] = shortest(sentinel_ms);
}

void measure_latencies(HardwareDescriptor& descriptor, const CollectOptions& options, const NetworkSpace& space,
                       CollectTimer& timer, const DescriptorProgress& progress) {
  std::vector<OperatorProfile> operators;
  std::vector<double> sentinels_ms;
  int disturbed = 0;
  const std::string date = utc_now();
  for (const nasbench::Operator& op : space.operators(options.shape, options.runtime_options.batch)) {
    const std::string note = "operator " + op.name + " of " + std::to_string(op.key.channels()) + " channels";
    const CollectTimer::OperatorTiming timing =
        timer.operator_between_looks(op, progress.steady, [&] { progress.step(note); });
    operators.push_back({op.name, op.key, timing.latency_ms, {}});
    sentinels_ms.push_back(timing.sentinel_ms);
    disturbed += timing.settled ? 0 : 1;
  }
  descriptor = {};
  descriptor.source = "latency_only";
  descriptor.operators = std::move(operators);
  say_when(descriptor, operators_condition, date, descriptor::summarise(std::move(sentinels_ms)).median_ms);
  descriptor.conditions[std::string(operators_condition) + "_disturbed"] = std::to_string(disturbed);
}

bool in_network_missing(const HardwareDescriptor& descriptor, const NetworkSpace& space,
                        const nasbench::NetworkShape& shape) {
  return !descriptor.has_in_network() && !space.operation_chains(shape, 1).empty();
}

void measure_in_network(HardwareDescriptor& descriptor, const CollectOptions& options, const NetworkSpace& space,
                        CollectTimer& timer, const std::function<void(const std::string&)>& step) {
  const std::vector<nasbench::OperationChain> chains =
      space.operation_chains(options.shape, options.runtime_options.batch);
  const std::string date = utc_now();
  const CollectTimer::InNetwork measured =
      timer.in_network(chain_graphs(chains), [&step] { step("measuring operations inside a network"); });
  descriptor.in_network = measured.operations;
  descriptor.conditions[std::string(in_network_condition)] =
      chain_condition(chains.front().repeats) + ", " + std::to_string(in_network_rounds) + " rounds";
  say_when(descriptor, in_network_condition, date, measured.sentinel_ms);
}

/// Conditions of operators and of in_network stay, those of counters that were there before do not.
void replace_counters(HardwareDescriptor& descriptor, const descriptor::OperatorCounts& counts) {
  descriptor.source = counts.source;
  descriptor.counters = counts.events;
  std::map<std::string, std::string> conditions = counts.conditions;
  conditions.emplace("counters_date", utc_now());
  for (const auto& [name, value] : descriptor.conditions) {
    const bool stays = name.rfind(in_network_condition, 0) == 0 || name.rfind(operators_condition, 0) == 0;
    if (stays) conditions.emplace(name, value);
  }
  descriptor.conditions = std::move(conditions);
  for (std::size_t i = 0; i < descriptor.operators.size(); ++i) descriptor.operators[i].counts = counts.per_run.at(i);
}

descriptor::OperatorCounts counted_by_hardware(const CollectOptions& options, const NetworkSpace& space,
                                               const descriptor::Runtime& runtime) {
  std::vector<std::unique_ptr<descriptor::PreparedNetwork>> networks;
  std::vector<std::function<void()>> runs;
  for (const nasbench::Operator& op : space.operators(options.shape, options.runtime_options.batch)) {
    networks.push_back(runtime.prepare(op.graph, options.runtime_options));
    runs.emplace_back([network = networks.back().get()] { network->run(); });
  }
  descriptor::PerfCountOptions counting;
  counting.events = options.descriptor.events;
  counting.passes = options.descriptor.passes;
  return descriptor::count_by_perf_event(runs, counting);
}

descriptor::OperatorCounts counted_by_simulation(const CollectOptions& options, const NetworkSpace& space,
                                                 const descriptor::Runtime& runtime,
                                                 const std::function<void(const std::string&)>& step) {
  const descriptor::RuntimeOptions& settings = options.runtime_options;
  descriptor::CallgrindOptions counting;
  counting.program = options.descriptor.program;
  counting.operators = space.operators(options.shape, 1).size();
  counting.arguments = {"run-operators", "--runtime", std::string(runtime.name()), "--space",
                        std::string(space.name())};
  for (const auto& [option, value] :
       {std::pair("--threads", std::to_string(settings.threads)), std::pair("--batch", std::to_string(settings.batch)),
        std::pair("--resolution", std::to_string(options.shape.resolution)),
        std::pair("--seed", std::to_string(settings.weight_seed)),
        std::pair("--runs", std::to_string(counting.runs))}) {
    counting.arguments.insert(counting.arguments.end(), {option, value});
  }
  counting.go_on = [&step](std::size_t counted) {
    step("counting operators under callgrind, " + std::to_string(counted) + " done");
    return true;
  };
  return descriptor::count_by_callgrind(counting);
}

}  // namespace

CounterChoice choose_counters(const DescriptorOptions& options) {
  const bool simulation_can =
      std::equal(options.events.begin(), options.events.end(), default_counters.begin(), default_counters.end()) &&
      !options.program.empty();
  if (options.counters == "auto") {
    const std::string why = why_no_hardware_counters(options.events);
    if (why.empty()) return {"perf_event", "counters of the processor"};
    const std::string obstacle = descriptor::why_no_valgrind();
    if (simulation_can && obstacle.empty()) return {"callgrind", "simulated counters, by callgrind: " + why};
    return {"latency_only", "operator latencies without counters: " + why +
                                (obstacle.empty() ? "" : "; they cannot be simulated either: " + obstacle)};
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

bool descriptor_incomplete(const HardwareDescriptor& descriptor, const std::string& source, const NetworkSpace& space,
                           const nasbench::NetworkShape& shape) {
  return !descriptor.has_latencies() || in_network_missing(descriptor, space, shape) ||
         (source != "latency_only" && descriptor.source != source);
}

void complete_descriptor(HardwareDescriptor& descriptor, const CollectOptions& options, const NetworkSpace& space,
                         const descriptor::Runtime& runtime, const std::string& source, CollectTimer& timer,
                         const DescriptorProgress& progress) {
  if (!descriptor.has_latencies()) {
    measure_latencies(descriptor, options, space, timer, progress);
    progress.keep();
  }
  if (in_network_missing(descriptor, space, options.shape)) {
    measure_in_network(descriptor, options, space, timer, progress.step);
    progress.keep();
  }
  if (source == "latency_only" || descriptor.source == source) return;
  progress.step("counting the events of operators");
  const descriptor::OperatorCounts counts = source == "perf_event"
                                                ? counted_by_hardware(options, space, runtime)
                                                : counted_by_simulation(options, space, runtime, progress.step);
  replace_counters(descriptor, counts);
  progress.keep();
}

}  // namespace tenshot::datasets
