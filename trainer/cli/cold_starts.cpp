#include <algorithm>
#include <functional>
#include <iostream>
#include <set>
#include <system_error>

#include "descriptor/cold/cold_json.h"
#include "descriptor/machine/child_process.h"
#include "descriptor/machine/memory.h"
#include "descriptor/onednn/cold_engine.h"
#include "nasbench/support/files.h"
#include "nasbench/support/median.h"
#include "nasbench/support/number_text.h"
#include "nasbench/support/temporaries.h"
#include "trainer/cli/cold.h"

namespace tenshot::cli {
namespace {

using trainer::MeasuredStart;

/// Makes the plan's file where it is missing. False where it cannot be made: says so, and the start goes on without it.
bool provide_weights(const descriptor::ColdPlan& plan, const std::string& model, const std::string& folder) {
  try {
    if (descriptor::make_weights(plan, model, folder)) {
      say("weights written to " + descriptor::weight_file(folder).string());
    }
    return true;
  } catch (const FileError& error) {
    say(std::string(error.what()) + ": starting from the model itself, which is slower");
    return false;
  }
}

/// Whether no page of the plan's files is left in memory.
bool drop_files(const std::string& plan, const std::string& folder) {
  bool cold = true;
  for (const std::filesystem::path& file : {std::filesystem::path(plan), descriptor::weight_file(folder)}) {
    std::error_code ignored;
    if (std::filesystem::exists(file, ignored)) cold = descriptor::drop_from_page_cache(file).dropped() && cold;
  }
  return cold;
}

nlohmann::json to_json(const descriptor::ColdStart& start, const descriptor::ColdPlan& plan, const std::string& pages) {
  nlohmann::json layers = nlohmann::json::array();
  for (std::size_t i = 0; i < start.layers.size(); ++i) {
    layers.push_back(start.layers[i]);
    layers.back().update(
        {{"name", plan.network.layers[i].name}, {"kernel", plan.layers[i].kernel}, {"core", plan.layers[i].core}});
  }
  nlohmann::json runs = nlohmann::json::array();
  for (const descriptor::ColdRun& one : start.runs) runs.push_back({{"ms", one.ms}, {"switched", one.switched}});
  return {{"layers", std::move(layers)},
          {"runs", std::move(runs)},
          {"switches", plan.switches.size()},
          {"predicted_switched_ms", plan.switched_ms},
          {"last_output", start.last_output},
          {"cold_ms", start.cold_ms},
          {"start_ms", start.start_ms},
          {"prepare_ms", start.prepare_ms},
          {"wait_ms", start.wait_ms},
          {"execute_ms", start.execute_ms},
          {"warm_ms", start.warm_ms},
          {"predicted_ms", plan.predicted_ms},
          {"predicted_warm_ms", plan.warm_ms},
          {"lower_bound_ms", plan.lower_bound_ms},
          {"strategy", plan.strategy},
          {"page_cache", pages},
          {"slow_layers", start.slow_layers},
          {"output", start.output},
          {"stolen", start.stolen}};
}

/// What --weights lacks is made; false where it cannot be. Says why it has to be made again.
bool provide_missing(const descriptor::ColdPlan& plan, const descriptor::ColdStartOptions& start) {
  const std::string missing = descriptor::missing_weights(plan, start.folder);
  if (missing.empty()) return true;
  std::error_code ignored;
  if (std::filesystem::exists(descriptor::weight_file(start.folder), ignored)) say(missing + "; it is made again");
  return provide_weights(plan, start.model, start.folder);
}

void print(const descriptor::ColdStart& result, const descriptor::ColdPlan& plan, const std::string& pages,
           bool is_warm) {
  std::cout << decimals(result.cold_ms, 2) << " ms from the plan's file to the output (predicted "
            << decimals(plan.predicted_ms, 2) << "; page cache " << pages << ")\n";
  for (std::size_t i = 1; i < result.runs.size(); ++i) {
    std::cout << decimals(result.runs[i].ms, 2) << " ms for run " << i + 1;
    if (!plan.switches.empty()) {
      std::cout << ", " << result.runs[i].switched << " of " << plan.switches.size() << " layers switched";
    }
    std::cout << "\n";
  }
  if (is_warm) std::cout << decimals(result.warm_ms, 2) << " ms warm\n";
}

MeasuredStart start_from(const nlohmann::json& said) {
  MeasuredStart start;
  said.at("cold_ms").get_to(start.cold_ms);
  said.at("start_ms").get_to(start.start_ms);
  said.at("layers").get_to(start.layers);
  return start;
}

bool same(const descriptor::ColdPlan& a, const descriptor::ColdPlan& b) {
  return std::equal(a.layers.begin(), a.layers.end(), b.layers.begin(), b.layers.end(),
                    [](const descriptor::PlannedLayer& x, const descriptor::PlannedLayer& y) {
                      return x.kernel == y.kernel && x.cached == y.cached && x.core == y.core;
                    });
}

/// What a plan takes by the stages of each start, the median over the starts: where cores wait for each other, median
/// stages make less than the median start.
double predicted_by_starts(const descriptor::ColdStages& stages, const descriptor::ColdPlan& plan,
                           const std::vector<MeasuredStart>& starts) {
  std::vector<double> predicted;
  for (const MeasuredStart& start : starts) {
    const descriptor::ColdStages took = calibrated(stages, plan, {start}, trainer::ReadTimes::as_started);
    predicted.push_back(trainer::predicted_cold_ms(took, plan));
  }
  return median(std::move(predicted));
}

/// Corrects the plan's stages by starts of it, and what they predict for it and bound. The bound is of the same stages:
/// those of another plan's starts may be slower.
void correct(StartedPlan& started, const std::vector<MeasuredStart>& starts, trainer::ColdPlanOptions options) {
  descriptor::ColdPlan& plan = started.planning.plan;
  options.preparing_cores = plan.preparing_cores;
  plan.predicted_ms = predicted_by_starts(started.corrected, plan, starts);
  started.corrected = calibrated(started.corrected, plan, starts);
  const double bound_ms = plan_cold_start(started.corrected, options).plan.lower_bound_ms;
  plan.lower_bound_ms = std::min(bound_ms, plan.predicted_ms);
}

/// Starts the plan in fresh processes, free memory touched before each; once more before, which makes the file of its
/// weights where there is none. Throws Error with what the process said where one fails.
std::vector<MeasuredStart> measured_starts(const std::filesystem::path& plan, const StartConditions& conditions) {
  const PassingFile output(plan.string() + ".start");
  descriptor::ChildProcess child;
  child.command = {own_program(),    "cold",    "run",
                   plan.string(),    "--quiet", "--json",
                   "--touch-memory", "--runs",  std::to_string(conditions.runs)};
  if (conditions.drop_page_cache) child.command.emplace_back("--drop-page-cache");
  child.output = output.path();
  child.time_limit_s = 300;
  std::vector<MeasuredStart> measured;
  for (int i = 0; i <= conditions.starts; ++i) {
    descriptor::run_child(child);
    const nlohmann::json said = nlohmann::json::parse(read_file(output.path()), nullptr, false);
    try {
      if (i > 0) measured.push_back(start_from(said));
    } catch (const nlohmann::json::exception&) {
      throw Error("'" + plan.string() + "': a start of it did not say what it took");
    }
  }
  return measured;
}

/// The plans that are tried beside the one that is asked for: stages that are timed one by one say too little of cores
/// that get in each other's way, and of what a library's first uses cost in a start.
std::vector<trainer::ColdPlanOptions> kinds_of_plans(const trainer::ColdPlanOptions& options) {
  std::vector<trainer::KernelPolicy> policies = {options.kernels};
  if (options.kernels == trainer::KernelPolicy::planned) policies.push_back(trainer::KernelPolicy::compiled);
  std::vector<trainer::ColdPlanOptions> kinds;
  for (const int cores : std::set<int, std::greater<>>{options.preparing_cores, 0}) {
    for (const trainer::KernelPolicy policy : policies) {
      kinds.push_back(options);
      kinds.back().kernels = policy;
      kinds.back().preparing_cores = cores;
    }
  }
  return kinds;
}

/// A plan and what its starts took.
struct TriedPlan {
  StartedPlan plan;
  std::vector<double> cold_ms;
};

bool is_faster(const TriedPlan& a, const TriedPlan& b) { return median(a.cold_ms) < median(b.cold_ms); }

/// Plans of every kind, each planned with stages that starts of the one before corrected. Those without preparing cores
/// begin anew: of two cores each takes longer while the other works.
std::vector<TriedPlan> try_plans(const descriptor::ColdStages& measured_stages, const trainer::ColdPlanOptions& options,
                                 const StartConditions& conditions, const std::filesystem::path& out) {
  constexpr int most_plans = 3;
  std::vector<TriedPlan> tried;
  descriptor::ColdStages stages = measured_stages;
  int cores = options.preparing_cores;
  for (const trainer::ColdPlanOptions& kind : kinds_of_plans(options)) {
    if (kind.preparing_cores != cores) stages = measured_stages;
    cores = kind.preparing_cores;
    for (int i = 0; i < most_plans; ++i) {
      TriedPlan next{{plan_cold_start(stages, kind), stages}, {}};
      const descriptor::ColdPlan& plan = next.plan.planning.plan;
      const auto is_same = [&](const TriedPlan& other) { return same(other.plan.planning.plan, plan); };
      if (std::any_of(tried.begin(), tried.end(), is_same)) break;
      write_file_atomically(out, to_text(plan));
      const std::vector<MeasuredStart> measured = measured_starts(out, conditions);
      for (const MeasuredStart& start : measured) next.cold_ms.push_back(start.cold_ms);
      next.plan.corrected = calibrated(stages, plan, measured);
      stages = next.plan.corrected;
      tried.push_back(std::move(next));
    }
  }
  return tried;
}

}  // namespace

StartedPlan plan_by_starting(const descriptor::ColdStages& measured_stages, const trainer::ColdPlanOptions& options,
                             const StartConditions& conditions, const std::filesystem::path& out) {
  std::vector<TriedPlan> tried = try_plans(measured_stages, options, conditions, out);
  std::stable_sort(tried.begin(), tried.end(), is_faster);
  constexpr std::size_t finalists = 3;
  tried.resize(std::min(tried.size(), finalists));
  for (TriedPlan& finalist : tried) {
    write_file_atomically(out, to_text(finalist.plan.planning.plan));
    for (const MeasuredStart& start : measured_starts(out, conditions)) finalist.cold_ms.push_back(start.cold_ms);
  }
  StartedPlan& chosen = std::min_element(tried.begin(), tried.end(), is_faster)->plan;
  write_file_atomically(out, to_text(chosen.planning.plan));
  // The starts that it won by were lucky ones: others say what it will take, and how sure that is grows with them.
  StartConditions others = conditions;
  others.starts *= 2;
  correct(chosen, measured_starts(out, others), options);
  write_file_atomically(out, to_text(chosen.planning.plan));
  return std::move(chosen);
}

void run_cold_run(const OptionParser& options) {
  const std::string plan_file = options.required("plan.json");
  const descriptor::ColdPlan plan = descriptor::read_plan(plan_file);
  descriptor::require_this_machine(plan);
  descriptor::ColdStartOptions start;
  start.model = options.has("model") ? options.get("model") : plan.model;
  start.folder = options.has("weights") ? options.get("weights") : plan_file + ".weights";
  start.warm_runs = options.integer("warm-runs", 0);
  start.runs = options.integer("runs", 1);
  start.steal = options.has("steal");
  const bool stored = provide_missing(plan, start);
  if (options.has("touch-memory")) {
    std::error_code unknown;
    const std::uintmax_t bytes = std::filesystem::file_size(descriptor::weight_file(start.folder), unknown);
    descriptor::touch_free_memory(descriptor::memory_of_start(unknown ? 0 : bytes));
  }
  std::string pages = "as it was";
  if (options.has("drop-page-cache")) pages = drop_files(plan_file, start.folder) ? "dropped" : "could not be dropped";
  const descriptor::ColdStart result = descriptor::run_cold_start(plan_file, start);
  if (options.has("json")) {
    std::cout << to_json(result, plan, pages).dump() << "\n";
  } else {
    print(result, plan, pages, start.warm_runs > 0);
  }
  if (!result.unswitched.empty()) say(result.unswitched + ": some layers keep the kernels of the start");
  if (!stored || result.slow_layers.empty()) return;
  say(std::to_string(result.slow_layers.size()) + " layers, '" + result.slow_layers.front() +
      "' first, had no stored weights, or damaged ones: they were made of the model");
  provide_weights(plan, start.model, start.folder);
}

}  // namespace tenshot::cli
