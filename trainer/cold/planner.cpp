#include "trainer/cold/planner.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "nasbench/support/error.h"
#include "nasbench/support/text.h"
#include "trainer/cold/schedule.h"

namespace tenshot::trainer {
namespace {

using descriptor::ColdPlan;
using descriptor::ColdStages;
using descriptor::KernelStages;

/// In the order of the policies.
constexpr std::array<const char*, 5> kernel_policies = {"planned", "warm", "preferred", "untransformed", "compiled"};
constexpr std::array<const char*, 3> cache_policies = {"planned", "none", "all"};

template <class Names>
std::ptrdiff_t policy_called(const Names& names, std::string_view name, const char* what) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return found - names.begin();
  throw InputError("'" + std::string(name) + "' is no " + what + "; expected one of " + joined(names));
}

const KernelStages& kernel_of(const ColdStages& stages, std::size_t layer, const ColdCandidate& candidate) {
  return stages.layers[layer].kernels[candidate.kernel];
}

/// The kernel that a policy names: of `warm`, of `planned`, and where a layer has none that it prefers, the fastest.
std::size_t kernel_of(const descriptor::LayerStages& layer, KernelPolicy policy) {
  if (policy == KernelPolicy::preferred) return 0;
  const auto rank = [policy](const KernelStages& kernel) {
    const bool unwanted = policy == KernelPolicy::untransformed
                              ? kernel.transforms
                              : policy == KernelPolicy::compiled && !descriptor::is_compiled(kernel.name);
    return std::pair(unwanted, kernel.execute_ms);
  };
  const auto best = std::min_element(layer.kernels.begin(), layer.kernels.end(),
                                     [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
  return static_cast<std::size_t>(best - layer.kernels.begin());
}

void restrict(const ColdStages& stages, const ColdPlanOptions& options, ColdProblem& problem) {
  for (std::size_t i = 0; i < problem.layers.size(); ++i) {
    const std::size_t kernel = kernel_of(stages.layers[i], options.kernels);
    std::vector<ColdCandidate>& candidates = problem.layers[i];
    const auto unwanted = [&](const ColdCandidate& candidate) {
      const bool may_be_cached = kernel_of(stages, i, candidate).transforms;
      return (options.kernels != KernelPolicy::planned && candidate.kernel != kernel) ||
             (options.cache == CachePolicy::none && candidate.cached) ||
             (options.cache == CachePolicy::all && may_be_cached && !candidate.cached);
    };
    candidates.erase(std::remove_if(candidates.begin(), candidates.end(), unwanted), candidates.end());
  }
}

/// With one core each layer has the least sum to itself, what creating costs shared by the layers of a shape.
ColdSchedule sequential(const ColdProblem& problem) {
  std::map<int, int> layers_of_shape;
  for (const int shape : problem.shapes) ++layers_of_shape[shape];
  ColdSchedule schedule;
  schedule.cores.assign(problem.layers.size(), 0);
  for (std::size_t i = 0; i < problem.layers.size(); ++i) {
    const double repeats = layers_of_shape[problem.shapes[i]];
    const auto cost = [&](const ColdCandidate& c) {
      return c.prepare_ms - c.create_saving_ms * (repeats - 1) / repeats + c.execute_ms;
    };
    const std::vector<ColdCandidate>& candidates = problem.layers[i];
    const auto least =
        std::min_element(candidates.begin(), candidates.end(),
                         [&](const ColdCandidate& a, const ColdCandidate& b) { return cost(a) < cost(b); });
    schedule.candidates.push_back(static_cast<std::size_t>(least - candidates.begin()));
  }
  return schedule;
}

/// The schedule that a plan stands for. Throws InputError where the plan has other layers or kernels than the stages.
ColdSchedule schedule_of(const ColdStages& stages, const ColdProblem& problem, const ColdPlan& plan) {
  if (plan.layers.size() != problem.layers.size()) throw InputError("the plan and the stages are of unlike networks");
  ColdSchedule schedule;
  for (std::size_t i = 0; i < problem.layers.size(); ++i) {
    const std::vector<ColdCandidate>& candidates = problem.layers[i];
    const auto found = std::find_if(candidates.begin(), candidates.end(), [&](const ColdCandidate& candidate) {
      return kernel_of(stages, i, candidate).name == plan.layers[i].kernel && candidate.cached == plan.layers[i].cached;
    });
    if (found == candidates.end()) {
      throw InputError("layer " + std::to_string(i) + " has no kernel '" + plan.layers[i].kernel + "' in the stages");
    }
    schedule.candidates.push_back(static_cast<std::size_t>(found - candidates.begin()));
    schedule.cores.push_back(plan.layers[i].core);
  }
  return schedule;
}

/// How long a start by a schedule takes, ms: starting, what its kernels cost once for the process, and the makespan.
double time_of(const ColdStages& stages, const ColdProblem& problem, const ColdSchedule& schedule) {
  double once_ms = 0;  // one family has such costs: oneDNN's matrix products, which share their code
  for (std::size_t i = 0; i < problem.layers.size(); ++i) {
    once_ms = std::max(once_ms, kernel_of(stages, i, problem.layers[i][schedule.candidates[i]]).once_ms);
  }
  return stages.start_ms + once_ms + makespan(problem, schedule);
}

/// Leaves out the kernels that cost something once, for the layers that have others. False where there are none.
bool leave_out_once(const ColdStages& stages, ColdProblem& problem) {
  bool left_out = false;
  for (std::size_t i = 0; i < problem.layers.size(); ++i) {
    std::vector<ColdCandidate>& candidates = problem.layers[i];
    const auto once = std::stable_partition(candidates.begin(), candidates.end(), [&](const ColdCandidate& candidate) {
      return kernel_of(stages, i, candidate).once_ms == 0;
    });
    if (once == candidates.begin() || once == candidates.end()) continue;
    candidates.erase(once, candidates.end());
    left_out = true;
  }
  return left_out;
}

/// The fastest plan of a problem that is found, without its bound and its switches.
ColdPlanning search(const ColdStages& stages, const ColdProblem& problem, bool quick) {
  ColdPlanning planning;
  ColdSchedule schedule = problem.preparing_cores == 0 ? sequential(problem) : algorithm_1(problem, quick);
  if (problem.preparing_cores > 0) planning.algorithm_1_ms = time_of(stages, problem, schedule);
  if (problem.preparing_cores == 1 && !quick) {
    ColdSchedule other = optimum(problem).schedule;
    if (time_of(stages, problem, other) < planning.algorithm_1_ms) schedule = std::move(other);
  }
  ColdPlan& plan = planning.plan;
  static_cast<descriptor::ColdSubject&>(plan) = stages;
  plan.preparing_cores = problem.preparing_cores;
  plan.predicted_ms = time_of(stages, problem, schedule);
  for (std::size_t i = 0; i < problem.layers.size(); ++i) {
    const ColdCandidate& candidate = problem.layers[i][schedule.candidates[i]];
    const KernelStages& kernel = kernel_of(stages, i, candidate);
    plan.layers.push_back({kernel.name, candidate.cached, schedule.cores[i]});
    plan.warm_ms += kernel.execute_ms;
    if (candidate.cached) planning.cached_bytes += kernel.cached_bytes;
  }
  return planning;
}

double preparation_ms(const descriptor::LayerStages& layer, const KernelStages& kernel, bool cached, bool made) {
  const double weights = cached ? kernel.read_cached_ms : layer.read_raw_ms + kernel.transform_ms;
  return weights + (made ? kernel.create_again_ms : kernel.create_ms);
}

/// Adds the kernels that the layers of a plan change to for the runs after the first (Yi et al., §3.5: K_warm −
/// K_cold): for each layer the fastest once warm, where the plan takes a slower one. They are in the order of what a
/// millisecond of preparing them saves in every run, the most first: runs do not wait for them. `may_cache`:
/// transformed weights are stored where reading them is faster than transforming.
void add_switches(const ColdStages& stages, bool may_cache, ColdPlanning& planning) {
  ColdPlan& plan = planning.plan;
  std::vector<std::pair<double, descriptor::PlannedSwitch>> found;  // what is saved for a millisecond of preparation
  std::set<std::pair<int, std::string>> made;                       // kernels of the plan, by the shape of their layers
  for (std::size_t i = 0; i < plan.layers.size(); ++i) made.emplace(stages.layers[i].shape, plan.layers[i].kernel);
  double switched_ms = 0;
  for (std::size_t i = 0; i < plan.layers.size(); ++i) {
    const descriptor::LayerStages& layer = stages.layers[i];
    const KernelStages& present = layer.kernels[kernel_called(stages, i, plan.layers[i].kernel)];
    const KernelStages& fastest = layer.kernels[kernel_of(layer, KernelPolicy::warm)];
    switched_ms += fastest.execute_ms;
    const double saved = present.execute_ms - fastest.execute_ms;
    if (saved <= 0) continue;
    const bool again = made.count({layer.shape, fastest.name}) != 0;
    const bool cached = may_cache && fastest.transforms &&
                        preparation_ms(layer, fastest, true, again) < preparation_ms(layer, fastest, false, again);
    if (cached) planning.cached_bytes += fastest.cached_bytes;
    const double cost = preparation_ms(layer, fastest, cached, again);
    found.push_back(
        {saved / std::max(cost, std::numeric_limits<double>::min()), {static_cast<int>(i), fastest.name, cached}});
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  for (auto& [gain, change] : found) plan.switches.push_back(std::move(change));
  if (!plan.switches.empty()) plan.switched_ms = switched_ms;
}

}  // namespace

std::size_t kernel_called(const ColdStages& stages, std::size_t layer, const std::string& name) {
  const std::vector<KernelStages>& kernels = stages.layers[layer].kernels;
  const auto found =
      std::find_if(kernels.begin(), kernels.end(), [&](const KernelStages& kernel) { return kernel.name == name; });
  if (found == kernels.end()) {
    throw InputError("layer " + std::to_string(layer) + " has no kernel '" + name + "' in the stages");
  }
  return static_cast<std::size_t>(found - kernels.begin());
}

KernelPolicy kernel_policy(std::string_view name) {
  return static_cast<KernelPolicy>(policy_called(kernel_policies, name, "choice of kernels"));
}

CachePolicy cache_policy(std::string_view name) {
  return static_cast<CachePolicy>(policy_called(cache_policies, name, "choice of caching"));
}

ColdPlanning plan_cold_start(const ColdStages& stages, const ColdPlanOptions& options) {
  ColdProblem problem = cold_problem(stages, options.preparing_cores);
  double lower_bound_ms = simple_bound(problem);
  if (options.preparing_cores <= 1 && !options.quick)
    lower_bound_ms = std::max(lower_bound_ms, optimum(problem).lower_bound_ms);
  restrict(stages, options, problem);
  ColdPlanning planning = search(stages, problem, options.quick);
  if (leave_out_once(stages, problem)) {
    ColdPlanning other = search(stages, problem, options.quick);
    if (other.plan.predicted_ms < planning.plan.predicted_ms) {
      other.algorithm_1_ms = std::min(other.algorithm_1_ms, planning.algorithm_1_ms);
      planning = std::move(other);
    }
  }
  planning.plan.lower_bound_ms = stages.start_ms + lower_bound_ms;
  planning.plan.strategy = std::string(kernel_policies.at(static_cast<std::size_t>(options.kernels))) + " kernels, " +
                           cache_policies.at(static_cast<std::size_t>(options.cache)) + " cached, " +
                           (options.preparing_cores == 0 ? "sequential" : "pipelined");
  if (options.switches) add_switches(stages, options.cache != CachePolicy::none, planning);
  return planning;
}

double predicted_cold_ms(const ColdStages& stages, const ColdPlan& plan) {
  const ColdProblem problem = cold_problem(stages, plan.preparing_cores);
  return time_of(stages, problem, schedule_of(stages, problem, plan));
}

}  // namespace tenshot::trainer
