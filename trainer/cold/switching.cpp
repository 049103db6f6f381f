#include "trainer/cold/switching.h"

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <utility>

#include "nasbench/support/error.h"
#include "trainer/cold/planned_schedule.h"
#include "trainer/cold/schedule.h"

namespace tenshot::trainer {
namespace {

using descriptor::ColdPlan;
using descriptor::ColdStages;
using descriptor::KernelStages;
using descriptor::LayerStages;
using descriptor::PlannedSwitch;

std::size_t kernel_called(const ColdStages& stages, std::size_t layer, const std::string& name) {
  const std::vector<KernelStages>& kernels = stages.layers[layer].kernels;
  const auto found =
      std::find_if(kernels.begin(), kernels.end(), [&](const KernelStages& kernel) { return kernel.name == name; });
  if (found == kernels.end()) {
    throw InputError("layer " + std::to_string(layer) + " has no kernel '" + name + "' in the stages");
  }
  return static_cast<std::size_t>(found - kernels.begin());
}

/// Reading, transforming and creating.
double preparation_ms(const LayerStages& layer, const KernelStages& kernel, bool cached, bool made) {
  const double weights = cached ? kernel.read_cached_ms : layer.read_raw_ms + kernel.transform_ms;
  return weights + (made ? kernel.create_again_ms : kernel.create_ms);
}

/// Kernels that the plan has made, by the shape of their layers.
std::set<std::pair<int, std::string>> kernels_of(const ColdStages& stages, const ColdPlan& plan) {
  std::set<std::pair<int, std::string>> made;
  for (std::size_t i = 0; i < plan.layers.size(); ++i) made.emplace(stages.layers[i].shape, plan.layers[i].kernel);
  return made;
}

/// When each layer's new kernel is ready, milliseconds from the first layer's preparation; never without a switch.
std::vector<double> ready_times(const ColdStages& stages, const ColdPlan& plan, const ColdTimeline& start) {
  std::vector<double> free(static_cast<std::size_t>(plan.preparing_cores), 0);
  for (std::size_t i = 0; i < plan.layers.size(); ++i) {
    if (plan.layers[i].core == 0) continue;
    double& core = free[static_cast<std::size_t>(plan.layers[i].core) - 1];
    core = std::max(core, start.prepared[i]);
  }
  if (free.empty()) free = {start.makespan()};
  std::vector<double> ready(plan.layers.size(), std::numeric_limits<double>::infinity());
  std::set<std::pair<int, std::string>> made = kernels_of(stages, plan);
  for (const PlannedSwitch& change : plan.switches) {
    const auto i = static_cast<std::size_t>(change.layer);
    const LayerStages& layer = stages.layers[i];
    const KernelStages& kernel = layer.kernels[kernel_called(stages, i, change.kernel)];
    const bool again = !made.emplace(layer.shape, change.kernel).second;
    const auto core = std::min_element(free.begin(), free.end());
    *core += preparation_ms(layer, kernel, change.cached, again) * stages.interference.preparing;
    ready[i] = *core;
  }
  return ready;
}

}  // namespace

std::vector<PlannedSwitch> planned_switches(const ColdStages& stages, const ColdPlan& plan, bool may_cache) {
  std::vector<std::pair<double, PlannedSwitch>> found;  // what is saved for a millisecond of preparation
  const std::set<std::pair<int, std::string>> made = kernels_of(stages, plan);
  for (std::size_t i = 0; i < plan.layers.size(); ++i) {
    const LayerStages& layer = stages.layers[i];
    const KernelStages& present = layer.kernels[kernel_called(stages, i, plan.layers[i].kernel)];
    const auto fastest =
        std::min_element(layer.kernels.begin(), layer.kernels.end(),
                         [](const KernelStages& a, const KernelStages& b) { return a.execute_ms < b.execute_ms; });
    const double saved = present.execute_ms - fastest->execute_ms;
    if (saved <= 0) continue;
    const bool again = made.count({layer.shape, fastest->name}) != 0;
    const bool cached = may_cache && fastest->transforms &&
                        preparation_ms(layer, *fastest, true, again) < preparation_ms(layer, *fastest, false, again);
    const double cost = preparation_ms(layer, *fastest, cached, again);
    found.push_back(
        {saved / std::max(cost, std::numeric_limits<double>::min()), {static_cast<int>(i), fastest->name, cached}});
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<PlannedSwitch> switches;
  for (auto& [gain, change] : found) switches.push_back(std::move(change));
  return switches;
}

double switched_ms(const ColdStages& stages, const ColdPlan& plan) {
  std::vector<std::string> names;
  for (const descriptor::PlannedLayer& layer : plan.layers) names.push_back(layer.kernel);
  for (const PlannedSwitch& change : plan.switches) names[static_cast<std::size_t>(change.layer)] = change.kernel;
  double sum = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    sum += stages.layers[i].kernels[kernel_called(stages, i, names[i])].execute_ms;
  }
  return sum;
}

std::vector<double> predicted_runs_ms(const ColdStages& stages, const ColdPlan& plan, int runs) {
  const ColdProblem problem = cold_problem(stages, plan.preparing_cores);
  const ColdSchedule schedule = schedule_of(stages, problem, plan);
  const ColdTimeline start = simulate(problem, schedule);
  const std::vector<double> ready = ready_times(stages, plan, start);
  std::vector<const KernelStages*> present, later(plan.layers.size(), nullptr);
  for (std::size_t i = 0; i < plan.layers.size(); ++i) {
    present.push_back(&stages.layers[i].kernels[kernel_called(stages, i, plan.layers[i].kernel)]);
  }
  double last = 0;
  for (const PlannedSwitch& change : plan.switches) {
    const auto i = static_cast<std::size_t>(change.layer);
    later[i] = &stages.layers[i].kernels[kernel_called(stages, i, change.kernel)];
    last = std::max(last, ready[i]);
  }
  std::vector<bool> used(plan.layers.size(), false);
  double now = start.makespan();
  std::vector<double> times = {stages.start_ms + once_ms(stages, problem, schedule) + now};
  for (int run = 1; run < runs; ++run) {
    const double began = now;
    for (std::size_t i = 0; i < plan.layers.size(); ++i) {
      const bool switched = ready[i] <= now;
      double ms = present[i]->execute_ms;
      if (switched) ms = used[i] ? later[i]->execute_ms : later[i]->first_ms;
      used[i] = switched;
      now += ms * (now < last ? stages.interference.executing : 1);
    }
    times.push_back(now - began);
  }
  return times;
}

}  // namespace tenshot::trainer
