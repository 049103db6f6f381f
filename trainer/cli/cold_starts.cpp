#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <utility>

#include "descriptor/cold/cold_json.h"
#include "descriptor/machine/child_process.h"
#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "nasbench/support/median.h"
#include "nasbench/support/passing_file.h"
#include "trainer/cli/cold.h"

namespace tenshot::cli {
namespace {

using trainer::MeasuredStart;

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

}  // namespace

std::vector<MeasuredStart> measured_starts(const std::filesystem::path& plan, const StartConditions& conditions) {
  std::error_code unknown;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", unknown);
  const PassingFile output(plan.string() + ".start");
  descriptor::ChildProcess child;
  const std::string program = unknown ? "/proc/self/exe" : self.string(), runs = std::to_string(conditions.runs);
  child.command = {program, "cold", "run", plan.string(), "--quiet", "--json", "--touch-memory", "--runs", runs};
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

namespace {

/// The plans that are tried beside the one that is asked for: stages that are timed one by one say too little of cores
/// that get in each other's way, and of what a library's first uses cost in a start.
std::vector<trainer::ColdPlanOptions> kinds_of_plans(const trainer::ColdPlanOptions& options) {
  std::vector<trainer::ColdPlanOptions> kinds = {options};
  if (options.kernels == trainer::KernelPolicy::planned) {
    kinds.push_back(options);
    kinds.back().kernels = trainer::KernelPolicy::compiled;
  }
  if (options.preparing_cores == 0) return kinds;
  const std::size_t count = kinds.size();
  for (std::size_t i = 0; i < count; ++i) {
    kinds.push_back(kinds[i]);
    kinds.back().preparing_cores = 0;
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

}  // namespace tenshot::cli
