#include "trainer/cold/planner.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "nasbench/support/error.h"
#include "nasbench/support/text.h"
#include "trainer/cold/algorithm.h"
#include "trainer/cold/switching.h"

namespace tenshot::trainer {
namespace {

using descriptor::ColdStages;
using descriptor::KernelStages;
using descriptor::LayerStages;

constexpr std::array<std::pair<const char*, KernelPolicy>, 5> kernel_policies = {
    {{"planned", KernelPolicy::planned},
     {"warm", KernelPolicy::warm},
     {"preferred", KernelPolicy::preferred},
     {"untransformed", KernelPolicy::untransformed},
     {"compiled", KernelPolicy::compiled}}};
constexpr std::array<std::pair<const char*, CachePolicy>, 3> cache_policies = {
    {{"planned", CachePolicy::planned}, {"none", CachePolicy::none}, {"all", CachePolicy::all}}};

template <class Policies>
auto policy_called(const Policies& policies, std::string_view name, const char* what) {
  std::vector<std::string> names;
  for (const auto& [known, policy] : policies) {
    if (name == known) return policy;
    names.emplace_back(known);
  }
  throw InputError("'" + std::string(name) + "' is no " + what + "; expected one of " + joined(names));
}

template <class Policies, class Policy>
std::string name_of(const Policies& policies, Policy policy) {
  for (const auto& [name, known] : policies) {
    if (known == policy) return name;
  }
  return "";
}

const KernelStages& kernel_of(const ColdStages& stages, std::size_t layer, const ColdCandidate& candidate) {
  return stages.layers[layer].kernels[static_cast<std::size_t>(candidate.kernel)];
}

/// Whether a policy takes a kernel where it has the choice.
bool prefers(KernelPolicy policy, const KernelStages& kernel) {
  if (policy == KernelPolicy::untransformed) return !kernel.transforms;
  return policy != KernelPolicy::compiled || descriptor::is_compiled(kernel.name);
}

/// The kernel that a policy names; −1 where it names none. Where a layer has none that the policy prefers, it takes the
/// fastest of all.
int kernel_of(const LayerStages& layer, KernelPolicy policy) {
  if (policy == KernelPolicy::planned) return -1;
  if (policy == KernelPolicy::preferred) return 0;
  int best = -1;
  for (const bool only_preferred : {true, false}) {
    for (std::size_t k = 0; k < layer.kernels.size(); ++k) {
      const KernelStages& kernel = layer.kernels[k];
      if (only_preferred && !prefers(policy, kernel)) continue;
      if (best < 0 || kernel.execute_ms < layer.kernels[static_cast<std::size_t>(best)].execute_ms) {
        best = static_cast<int>(k);
      }
    }
    if (best >= 0) break;
  }
  return best;
}

/// The candidates that the options leave.
void restrict(const ColdStages& stages, const ColdPlanOptions& options, ColdProblem& problem) {
  for (std::size_t i = 0; i < problem.layers.size(); ++i) {
    const int kernel = kernel_of(stages.layers[i], options.kernels);
    std::vector<ColdCandidate> left;
    for (const ColdCandidate& candidate : problem.layers[i]) {
      if (kernel >= 0 && candidate.kernel != kernel) continue;
      const bool transforms = kernel_of(stages, i, candidate).transforms;
      if (options.cache == CachePolicy::none && candidate.cached) continue;
      if (options.cache == CachePolicy::all && transforms && !candidate.cached) continue;
      left.push_back(candidate);
    }
    problem.layers[i] = std::move(left);
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
ColdSchedule schedule_of(const ColdStages& stages, const ColdProblem& problem, const descriptor::ColdPlan& plan) {
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

/// What the kernels of a schedule cost once for the process, milliseconds.
double once_ms(const ColdStages& stages, const ColdProblem& problem, const ColdSchedule& schedule) {
  double most = 0;  // one family has such costs: oneDNN's matrix products, which share their code
  for (std::size_t i = 0; i < problem.layers.size(); ++i) {
    most = std::max(most, kernel_of(stages, i, problem.layers[i][schedule.candidates[i]]).once_ms);
  }
  return most;
}

descriptor::ColdPlan plan_of(const ColdStages& stages, const ColdProblem& problem, const ColdSchedule& schedule) {
  descriptor::ColdPlan plan;
  plan.model = stages.model;
  plan.model_sha256 = stages.model_sha256;
  plan.network_hash = stages.network_hash;
  plan.machine = stages.machine;
  plan.network = stages.network;
  plan.preparing_cores = problem.preparing_cores;
  for (std::size_t i = 0; i < problem.layers.size(); ++i) {
    const ColdCandidate& candidate = problem.layers[i][schedule.candidates[i]];
    const KernelStages& kernel = kernel_of(stages, i, candidate);
    plan.layers.push_back({kernel.name, candidate.cached, schedule.cores[i]});
    plan.warm_ms += kernel.execute_ms;
  }
  return plan;
}

}  // namespace

KernelPolicy kernel_policy(std::string_view name) { return policy_called(kernel_policies, name, "choice of kernels"); }
CachePolicy cache_policy(std::string_view name) { return policy_called(cache_policies, name, "choice of caching"); }

namespace {

/// The problem without the kernels that cost something once, for the layers that have others.
ColdProblem without_once(const ColdStages& stages, ColdProblem problem) {
  for (std::size_t i = 0; i < problem.layers.size(); ++i) {
    std::vector<ColdCandidate> left;
    for (const ColdCandidate& candidate : problem.layers[i]) {
      if (kernel_of(stages, i, candidate).once_ms == 0) left.push_back(candidate);
    }
    if (!left.empty()) problem.layers[i] = std::move(left);
  }
  return problem;
}

struct Found {
  ColdProblem problem;
  ColdSchedule schedule;
  double algorithm_1_ms = 0;
  double ms = 0;
};

Found search(const ColdStages& stages, ColdProblem problem, bool quick) {
  constexpr std::size_t few = 24;
  Found found{std::move(problem), {}, 0, 0};
  const auto time = [&](const ColdSchedule& schedule) {
    return stages.start_ms + once_ms(stages, found.problem, schedule) + simulate(found.problem, schedule).makespan();
  };
  if (found.problem.preparing_cores == 0) {
    found.schedule = sequential(found.problem);
  } else {
    found.schedule = quick ? algorithm_1(found.problem, few) : algorithm_1(found.problem);
    found.algorithm_1_ms = time(found.schedule);
    ColdSchedule other =
        found.problem.preparing_cores == 1 && !quick ? optimum(found.problem).schedule : found.schedule;
    if (time(other) < found.algorithm_1_ms) found.schedule = std::move(other);
  }
  found.ms = time(found.schedule);
  return found;
}

void add_switches(const ColdStages& stages, const ColdPlanOptions& options, ColdPlanning& planning) {
  descriptor::ColdPlan& plan = planning.plan;
  plan.switches = planned_switches(stages, plan, options.cache != CachePolicy::none);
  if (plan.switches.empty()) return;
  plan.switched_ms = switched_ms(stages, plan);
  for (const descriptor::PlannedSwitch& change : plan.switches) {
    if (!change.cached) continue;
    for (const KernelStages& kernel : stages.layers[static_cast<std::size_t>(change.layer)].kernels) {
      if (kernel.name == change.kernel) planning.cached_bytes += kernel.cached_bytes;
    }
  }
}

}  // namespace

ColdPlanning plan_cold_start(const ColdStages& stages, const ColdPlanOptions& options) {
  ColdProblem problem = cold_problem(stages, options.preparing_cores);
  const ColdBounds bounds = simple_bounds(problem);
  double lower_bound_ms = std::max({bounds.warm_ms, bounds.chain_ms, bounds.disk_ms});
  if (options.preparing_cores <= 1 && !options.quick)
    lower_bound_ms = std::max(lower_bound_ms, optimum(problem).lower_bound_ms);
  restrict(stages, options, problem);
  Found found = search(stages, problem, options.quick);
  Found other = search(stages, without_once(stages, std::move(problem)), options.quick);
  if (other.ms < found.ms) {
    if (found.algorithm_1_ms < other.algorithm_1_ms) other.algorithm_1_ms = found.algorithm_1_ms;
    found = std::move(other);
  }
  ColdPlanning planning;
  planning.algorithm_1_ms = found.algorithm_1_ms;
  planning.plan = plan_of(stages, found.problem, found.schedule);
  planning.plan.predicted_ms = found.ms;
  planning.plan.lower_bound_ms = stages.start_ms + lower_bound_ms;
  planning.plan.strategy = name_of(kernel_policies, options.kernels) + " kernels, " +
                           name_of(cache_policies, options.cache) + " cached, " +
                           (options.preparing_cores == 0 ? "sequential" : "pipelined");
  for (std::size_t i = 0; i < found.problem.layers.size(); ++i) {
    const ColdCandidate& candidate = found.problem.layers[i][found.schedule.candidates[i]];
    if (candidate.cached) planning.cached_bytes += kernel_of(stages, i, candidate).cached_bytes;
  }
  if (options.switches) add_switches(stages, options, planning);
  return planning;
}

double predicted_cold_ms(const ColdStages& stages, const descriptor::ColdPlan& plan) {
  const ColdProblem problem = cold_problem(stages, plan.preparing_cores);
  const ColdSchedule schedule = schedule_of(stages, problem, plan);
  return stages.start_ms + once_ms(stages, problem, schedule) + simulate(problem, schedule).makespan();
}

}  // namespace tenshot::trainer
