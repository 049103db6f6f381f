#include "trainer/cold/planned_schedule.h"

#include <algorithm>
#include <string>
#include <vector>

#include "nasbench/support/error.h"

namespace tenshot::trainer {

ColdSchedule schedule_of(const descriptor::ColdStages& stages, const ColdProblem& problem,
                         const descriptor::ColdPlan& plan) {
  if (plan.layers.size() != problem.layers.size()) throw InputError("the plan and the stages are of unlike networks");
  ColdSchedule schedule;
  for (std::size_t i = 0; i < problem.layers.size(); ++i) {
    const std::vector<ColdCandidate>& candidates = problem.layers[i];
    const auto found = std::find_if(candidates.begin(), candidates.end(), [&](const ColdCandidate& candidate) {
      return stages.layers[i].kernels[static_cast<std::size_t>(candidate.kernel)].name == plan.layers[i].kernel &&
             candidate.cached == plan.layers[i].cached;
    });
    if (found == candidates.end()) {
      throw InputError("layer " + std::to_string(i) + " has no kernel '" + plan.layers[i].kernel + "' in the stages");
    }
    schedule.candidates.push_back(static_cast<std::size_t>(found - candidates.begin()));
    schedule.cores.push_back(plan.layers[i].core);
  }
  return schedule;
}

double once_ms(const descriptor::ColdStages& stages, const ColdProblem& problem, const ColdSchedule& schedule) {
  double most = 0;  // one family has such costs: oneDNN's matrix products, which share their code
  for (std::size_t i = 0; i < problem.layers.size(); ++i) {
    const ColdCandidate& candidate = problem.layers[i][schedule.candidates[i]];
    most = std::max(most, stages.layers[i].kernels[static_cast<std::size_t>(candidate.kernel)].once_ms);
  }
  return most;
}

}  // namespace tenshot::trainer
