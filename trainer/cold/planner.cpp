#include "trainer/cold/planner.h"

#include <algorithm>
#include <array>
#include <iterator>
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
using descriptor::LayerStages;
using descriptor::PlannedSwitch;

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
  return stages.layers[layer].kernels[static_cast<std::size_t>(candidate.kernel)];
}

/// The kernel that a policy names; −1 where it names none. Where a layer has none that the policy prefers, it takes the
/// fastest of all.
int kernel_of(const LayerStages& layer, KernelPolicy policy) {
  if (policy == KernelPolicy::planned) return -1;
  if (policy == KernelPolicy::preferred) return 0;
  const auto rank = [policy](const KernelStages& kernel) {
    const bool unwanted = policy == KernelPolicy::untransformed
                              ? kernel.transforms
                              : policy == KernelPolicy::compiled && !descriptor::is_compiled(kernel.name);
    return std::pair(unwanted, kernel.execute_ms);
  };
  const auto best = std::min_element(layer.kernels.begin(), layer.kernels.end(),
                                     [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
  return static_cast<int>(best - layer.kernels.begin());
}

/// The candidates that the options leave.
void restrict(const ColdStages& stages, const ColdPlanOptions& options, ColdProblem& problem) {
  for (std::size_t i = 0; i < problem.layers.size(); ++i) {
    const int kernel = kernel_of(stages.layers[i], options.kernels);
    std::vector<ColdCandidate>& candidates = problem.layers[i];
    const auto unwanted = [&](const ColdCandidate& candidate) {
      const bool may_be_cached = kernel_of(stages, i, candidate).transforms;
      return (kernel >= 0 && candidate.kernel != kernel) || (options.cache == CachePolicy::none && candidate.cached) ||
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

/// How long a start by a schedule takes, milliseconds: starting, what its kernels cost once for the process, and the
/// makespan.
double time_of(const ColdStages& stages, const ColdProblem& problem, const ColdSchedule& schedule) {
  double once_ms = 0;  // one family has such costs: oneDNN's matrix products, which share their code
  for (std::size_t i = 0; i < problem.layers.size(); ++i) {
    once_ms = std::max(once_ms, kernel_of(stages, i, problem.layers[i][schedule.candidates[i]]).once_ms);
  }
  return stages.start_ms + once_ms + simulate(problem, schedule).makespan();
}

/// The problem without the kernels that cost something once, for the layers that have others.
ColdProblem without_once(const ColdStages& stages, ColdProblem problem) {
  for (std::size_t i = 0; i < problem.layers.size(); ++i) {
    std::vector<ColdCandidate> left;
    std::copy_if(problem.layers[i].begin(), problem.layers[i].end(), std::back_inserter(left),
                 [&](const ColdCandidate& candidate) { return kernel_of(stages, i, candidate).once_ms == 0; });
    if (!left.empty()) problem.layers[i] = std::move(left);
  }
  return problem;
}

/// The fastest plan of a problem that is found, without its bound and its switches.
ColdPlanning search(const ColdStages& stages, const ColdProblem& problem, bool quick) {
  constexpr std::size_t few = 24;
  ColdPlanning planning;
  ColdSchedule schedule;
  if (problem.preparing_cores == 0) {
    schedule = sequential(problem);
  } else {
    schedule = quick ? algorithm_1(problem, few) : algorithm_1(problem);
    planning.algorithm_1_ms = time_of(stages, problem, schedule);
  }
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

void add_switches(const ColdStages& stages, const ColdPlanOptions& options, ColdPlanning& planning) {
  ColdPlan& plan = planning.plan;
  plan.switches = planned_switches(stages, plan, options.cache != CachePolicy::none);
  if (plan.switches.empty()) return;
  plan.switched_ms = switched_ms(stages, plan);
  for (const PlannedSwitch& change : plan.switches) {
    const auto layer = static_cast<std::size_t>(change.layer);
    const KernelStages& kernel = stages.layers[layer].kernels[kernel_called(stages, layer, change.kernel)];
    if (change.cached) planning.cached_bytes += kernel.cached_bytes;
  }
}

/// Reading, transforming and creating.
double preparation_ms(const LayerStages& layer, const KernelStages& kernel, bool cached, bool made) {
  const double weights = cached ? kernel.read_cached_ms : layer.read_raw_ms + kernel.transform_ms;
  return weights + (made ? kernel.create_again_ms : kernel.create_ms);
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

std::vector<PlannedSwitch> planned_switches(const ColdStages& stages, const ColdPlan& plan, bool may_cache) {
  std::vector<std::pair<double, PlannedSwitch>> found;  // what is saved for a millisecond of preparation
  std::set<std::pair<int, std::string>> made;           // kernels of the plan, by the shape of their layers
  for (std::size_t i = 0; i < plan.layers.size(); ++i) made.emplace(stages.layers[i].shape, plan.layers[i].kernel);
  for (std::size_t i = 0; i < plan.layers.size(); ++i) {
    const LayerStages& layer = stages.layers[i];
    const KernelStages& present = layer.kernels[kernel_called(stages, i, plan.layers[i].kernel)];
    const KernelStages& fastest = layer.kernels[static_cast<std::size_t>(kernel_of(layer, KernelPolicy::warm))];
    const double saved = present.execute_ms - fastest.execute_ms;
    if (saved <= 0) continue;
    const bool again = made.count({layer.shape, fastest.name}) != 0;
    const bool cached = may_cache && fastest.transforms &&
                        preparation_ms(layer, fastest, true, again) < preparation_ms(layer, fastest, false, again);
    const double cost = preparation_ms(layer, fastest, cached, again);
    found.push_back(
        {saved / std::max(cost, std::numeric_limits<double>::min()), {static_cast<int>(i), fastest.name, cached}});
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

KernelPolicy kernel_policy(std::string_view name) {
  return static_cast<KernelPolicy>(policy_called(kernel_policies, name, "choice of kernels"));
}

CachePolicy cache_policy(std::string_view name) {
  return static_cast<CachePolicy>(policy_called(cache_policies, name, "choice of caching"));
}

ColdPlanning plan_cold_start(const ColdStages& stages, const ColdPlanOptions& options) {
  ColdProblem problem = cold_problem(stages, options.preparing_cores);
  const ColdBounds bounds = simple_bounds(problem);
  double lower_bound_ms = std::max({bounds.warm_ms, bounds.chain_ms, bounds.disk_ms});
  if (options.preparing_cores <= 1 && !options.quick)
    lower_bound_ms = std::max(lower_bound_ms, optimum(problem).lower_bound_ms);
  restrict(stages, options, problem);
  ColdPlanning planning = search(stages, problem, options.quick);
  const bool some_cost_once = std::any_of(stages.layers.begin(), stages.layers.end(), [](const LayerStages& layer) {
    return std::any_of(layer.kernels.begin(), layer.kernels.end(),
                       [](const auto& kernel) { return kernel.once_ms != 0; });
  });
  if (some_cost_once) {
    ColdPlanning other = search(stages, without_once(stages, std::move(problem)), options.quick);
    if (other.plan.predicted_ms < planning.plan.predicted_ms) {
      other.algorithm_1_ms = std::min(other.algorithm_1_ms, planning.algorithm_1_ms);
      planning = std::move(other);
    }
  }
  planning.plan.lower_bound_ms = stages.start_ms + lower_bound_ms;
  planning.plan.strategy = std::string(kernel_policies.at(static_cast<std::size_t>(options.kernels))) + " kernels, " +
                           cache_policies.at(static_cast<std::size_t>(options.cache)) + " cached, " +
                           (options.preparing_cores == 0 ? "sequential" : "pipelined");
  if (options.switches) add_switches(stages, options, planning);
  return planning;
}

double predicted_cold_ms(const ColdStages& stages, const ColdPlan& plan) {
  const ColdProblem problem = cold_problem(stages, plan.preparing_cores);
  return time_of(stages, problem, schedule_of(stages, problem, plan));
}

}  // namespace tenshot::trainer
