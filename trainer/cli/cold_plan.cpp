#include <algorithm>
#include <functional>
#include <set>

#include "descriptor/cold/cold_json.h"
#include "descriptor/machine/child_process.h"
#include "nasbench/support/files.h"
#include "nasbench/support/median.h"
#include "nasbench/support/number_text.h"
#include "nasbench/support/temporaries.h"
#include "trainer/cli/command.h"
#include "trainer/cli/file_roles.h"
#include "trainer/cold/planner.h"

namespace tenshot::cli {
namespace {

using trainer::MeasuredStart;

struct StartConditions {
  int starts = 0;               ///< that count, each in a fresh process; more tell better, and take longer
  int runs = 1;                 ///< of each: what prepares later runs works beside the first
  bool drop_page_cache = true;  ///< of the plan's files, before each start
};

struct StartedPlan {
  trainer::ColdPlanning planning;
  descriptor::ColdStages corrected;
  std::vector<double> cold_ms = {};  ///< what each of its starts took
};

StartConditions start_conditions(const OptionParser& options) {
  StartConditions conditions;
  conditions.starts = options.integer("starts", 0);
  conditions.runs = options.has("switch") ? 2 : 1;
  const std::string pages = options.get("page-cache");
  conditions.drop_page_cache = pages == "dropped";
  if (!conditions.drop_page_cache && pages != "kept") {
    throw InputError("'" + pages + "' is no state of the page cache; expected one of dropped, kept");
  }
  if (conditions.starts > 0) return conditions;
  if (!conditions.drop_page_cache) throw UsageError("--page-cache kept is what --starts find: say how many");
  if (options.has("corrected")) throw UsageError("--corrected keeps what --starts corrects: say how many");
  return conditions;
}

bool same(const descriptor::ColdPlan& a, const descriptor::ColdPlan& b) {
  return std::equal(a.layers.begin(), a.layers.end(), b.layers.begin(), b.layers.end(),
                    [](const descriptor::PlannedLayer& x, const descriptor::PlannedLayer& y) {
                      return x.kernel == y.kernel && x.cached == y.cached && x.core == y.core;
                    });
}

/// Corrects the plan's stages by starts of it, and what they predict for it and bound. What it takes is the median of
/// what the stages of each start say: where cores wait for each other, median stages make less than the median start.
/// The bound is of the same stages: those of another plan's starts may be slower.
void correct(StartedPlan& started, const std::vector<MeasuredStart>& starts, trainer::ColdPlanOptions options) {
  descriptor::ColdPlan& plan = started.planning.plan;
  std::vector<double> predicted;
  for (const MeasuredStart& start : starts) {
    const descriptor::ColdStages took = calibrated(started.corrected, plan, {start}, trainer::ReadTimes::as_started);
    predicted.push_back(trainer::predicted_cold_ms(took, plan));
  }
  plan.predicted_ms = median(std::move(predicted));
  options.preparing_cores = plan.preparing_cores;
  started.corrected = calibrated(started.corrected, plan, starts);
  plan.lower_bound_ms = std::min(plan_cold_start(started.corrected, options).plan.lower_bound_ms, plan.predicted_ms);
}

/// Leaves the plan in `out`, starts it in fresh processes, free memory touched before each, and adds to its `cold_ms`.
/// One start before these makes weights that are missing. Throws Error with what the process said where one fails.
std::vector<MeasuredStart> start_again(StartedPlan& started, const StartConditions& conditions,
                                       const std::filesystem::path& out) {
  write_file_atomically(out, to_text(started.planning.plan));
  const PassingFile output(out.string() + ".start");
  descriptor::ChildProcess child;
  child.command = {own_program(),    "cold",    "run",
                   out.string(),     "--quiet", "--json",
                   "--touch-memory", "--runs",  std::to_string(conditions.runs)};
  if (conditions.drop_page_cache) child.command.emplace_back("--drop-page-cache");
  child.output = output.path();
  child.time_limit_s = 300;
  std::vector<MeasuredStart> measured;
  for (int i = 0; i <= conditions.starts; ++i) {
    descriptor::run_child(child);
    const nlohmann::json said = nlohmann::json::parse(read_file(output.path()), nullptr, false);
    try {
      if (i > 0) measured.push_back({said.at("cold_ms"), said.at("start_ms"), said.at("layers")});
    } catch (const nlohmann::json::exception&) {
      throw Error("'" + out.string() + "': a start of it did not say what it took");
    }
  }
  for (const MeasuredStart& start : measured) started.cold_ms.push_back(start.cold_ms);
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

bool is_faster(const StartedPlan& a, const StartedPlan& b) { return median(a.cold_ms) < median(b.cold_ms); }

/// Plans of every kind, each planned with stages that starts of the one before corrected. Those without preparing cores
/// begin anew: of two cores each takes longer while the other works.
std::vector<StartedPlan> try_plans(const descriptor::ColdStages& measured_stages,
                                   const trainer::ColdPlanOptions& options, const StartConditions& conditions,
                                   const std::filesystem::path& out) {
  constexpr int most_plans = 3;
  std::vector<StartedPlan> tried;
  descriptor::ColdStages stages = measured_stages;
  int cores = options.preparing_cores;
  for (const trainer::ColdPlanOptions& kind : kinds_of_plans(options)) {
    if (kind.preparing_cores != cores) stages = measured_stages;
    cores = kind.preparing_cores;
    for (int i = 0; i < most_plans; ++i) {
      StartedPlan next{plan_cold_start(stages, kind), stages};
      const auto is_same = [&](const StartedPlan& other) { return same(other.planning.plan, next.planning.plan); };
      if (std::any_of(tried.begin(), tried.end(), is_same)) break;
      stages = calibrated(stages, next.planning.plan, start_again(next, conditions, out));
      next.corrected = stages;
      tried.push_back(std::move(next));
    }
  }
  return tried;
}

/// Plans, starts the plan, corrects the stages by what the starts took, and plans again, until a plan comes back or
/// three were tried (Yi et al., §3.3, re-profiling); the same with compiled kernels alone, and without preparing cores.
/// The three that started fastest are started again. The fastest of these is started twice as often once more, and has
/// what the stages of its last starts predict for it.
StartedPlan plan_by_starting(const descriptor::ColdStages& measured_stages, const trainer::ColdPlanOptions& options,
                             const StartConditions& conditions, const std::filesystem::path& out) {
  std::vector<StartedPlan> tried = try_plans(measured_stages, options, conditions, out);
  std::stable_sort(tried.begin(), tried.end(), is_faster);
  constexpr std::size_t finalists = 3;
  tried.resize(std::min(tried.size(), finalists));
  for (StartedPlan& finalist : tried) start_again(finalist, conditions, out);
  StartedPlan& chosen = *std::min_element(tried.begin(), tried.end(), is_faster);
  // The starts that it won by were lucky ones: others say what it will take, and how sure that is grows with them.
  StartConditions others = conditions;
  others.starts *= 2;
  correct(chosen, start_again(chosen, others, out), options);
  return std::move(chosen);
}

std::string plan_line(const trainer::ColdPlanning& planning, const std::string& out) {
  std::string line = "a cold start of " + decimals(planning.plan.predicted_ms, 2) +
                     " ms is planned, no plan is under " + decimals(planning.plan.lower_bound_ms, 2) + " ms";
  if (planning.algorithm_1_ms > 0) line += ", Algorithm 1 alone finds " + decimals(planning.algorithm_1_ms, 2) + " ms";
  line += "; it stores " + decimals(static_cast<double>(planning.cached_bytes) / 1e6, 2) + " MB of transformed weights";
  if (!planning.plan.switches.empty()) {
    line += "; " + std::to_string(planning.plan.switches.size()) +
            " layers change their kernels for later runs, from " + decimals(planning.plan.warm_ms, 2) + " to " +
            decimals(planning.plan.switched_ms, 2) + " ms";
  }
  return line + "; next: tenshot cold run " + shell_word(out);
}

}  // namespace

void run_cold_plan(const OptionParser& options) {
  const std::string stages = options.required("stages.json"), out = options.required("out");
  FileRoles files("stages.json", stages);
  if (options.has("corrected")) files.writes("--corrected", options.get("corrected"));
  files.writes("--out", out);
  trainer::ColdPlanOptions wanted;
  wanted.kernels = trainer::kernel_policy(options.get("kernels"));
  wanted.cache = trainer::cache_policy(options.get("cache"));
  wanted.preparing_cores = options.integer("preparing-cores", 0);
  wanted.switches = options.has("switch");
  const StartConditions conditions = start_conditions(options);
  const descriptor::ColdStages measured = descriptor::read_stages(stages);
  const StartedPlan found = conditions.starts > 0 ? plan_by_starting(measured, wanted, conditions, out)
                                                  : StartedPlan{plan_cold_start(measured, wanted), measured};
  write_file_atomically(out, to_text(found.planning.plan));
  if (options.has("corrected")) write_file_atomically(options.get("corrected"), to_text(found.corrected));
  say(plan_line(found.planning, out));
}

}  // namespace tenshot::cli
