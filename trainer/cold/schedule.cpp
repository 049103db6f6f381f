#include "trainer/cold/schedule.h"

#include <functional>
#include <set>
#include <utility>

namespace tenshot::trainer {
namespace {

/// One core's operations, in order: layers to prepare, then all layers to execute, or none.
struct Core {
  std::vector<std::size_t> prepare;
  std::size_t executions = 0;
  std::size_t next = 0;
  double remaining = 0;  ///< work of the operation that runs
  bool busy = false;

  bool is_done() const { return !busy && next == prepare.size() + executions; }
  bool prepares() const { return next < prepare.size(); }
  std::size_t layer() const { return prepares() ? prepare[next] : next - prepare.size(); }
};

ColdCandidate candidate_of(const descriptor::LayerStages& layer, std::size_t index, bool cached) {
  const descriptor::KernelStages& kernel = layer.kernels[index];
  ColdCandidate candidate;
  candidate.kernel = static_cast<int>(index);
  candidate.cached = cached;
  candidate.read_ms = cached ? kernel.read_cached_ms : layer.read_raw_ms;
  candidate.prepare_ms = candidate.read_ms + kernel.create_ms;
  if (kernel.transforms && !cached) candidate.prepare_ms += kernel.transform_ms;
  candidate.create_saving_ms = std::max(0.0, kernel.create_ms - kernel.create_again_ms);
  candidate.execute_ms = kernel.first_ms;
  return candidate;
}

}  // namespace

ColdProblem cold_problem(const descriptor::ColdStages& stages, int preparing_cores) {
  ColdProblem problem;
  problem.preparing_cores = preparing_cores;
  problem.interference = stages.interference;
  for (const descriptor::LayerStages& layer : stages.layers) {
    std::vector<ColdCandidate> candidates;
    for (std::size_t k = 0; k < layer.kernels.size(); ++k) {
      candidates.push_back(candidate_of(layer, k, false));
      if (layer.kernels[k].transforms) candidates.push_back(candidate_of(layer, k, true));
    }
    problem.layers.push_back(std::move(candidates));
    problem.shapes.push_back(layer.shape);
  }
  return problem;
}

std::vector<double> preparation_costs(const ColdProblem& problem, const std::vector<std::size_t>& candidates) {
  std::set<std::pair<int, int>> made;  // shape and kernel
  std::vector<double> costs;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const ColdCandidate& candidate = problem.layers[i][candidates[i]];
    const bool first = made.emplace(problem.shapes[i], candidate.kernel).second;
    costs.push_back(candidate.prepare_ms - (first ? 0 : candidate.create_saving_ms));
  }
  return costs;
}

ColdTimeline simulate(const ColdProblem& problem, const ColdSchedule& schedule) {
  const std::size_t layers = problem.layers.size();
  const std::vector<double> costs = preparation_costs(problem, schedule.candidates);
  std::vector<Core> cores(static_cast<std::size_t>(problem.preparing_cores) + 1);
  cores[0].executions = layers;
  ColdTimeline timeline{std::vector<double>(layers, -1), std::vector<double>(layers)};  // −1: not prepared yet
  for (std::size_t i = 0; i < layers; ++i) {
    cores[static_cast<std::size_t>(schedule.cores[i])].prepare.push_back(i);
    timeline.disk_ms += problem.layers[i][schedule.candidates[i]].read_ms;
  }
  for (double now = 0; !cores[0].is_done();) {
    for (Core& core : cores) {
      if (core.busy || core.is_done()) continue;
      const std::size_t layer = core.layer();
      if (!core.prepares() && timeline.prepared[layer] < 0) continue;
      core.remaining = core.prepares() ? costs[layer] : problem.layers[layer][schedule.candidates[layer]].execute_ms;
      core.busy = true;
    }
    const bool both = cores[0].busy && std::any_of(cores.begin() + 1, cores.end(), std::mem_fn(&Core::busy));
    const auto slowdown = [&](const Core& core) {
      if (!both) return 1.0;
      return core.prepares() ? problem.interference.preparing : problem.interference.executing;
    };
    double step = std::numeric_limits<double>::infinity();
    for (const Core& core : cores) {
      if (core.busy) step = std::min(step, core.remaining * slowdown(core));
    }
    now += step;
    for (Core& core : cores) {
      if (!core.busy) continue;
      const double slow = slowdown(core);
      if (core.remaining * slow > step) {
        core.remaining -= step / slow;
        continue;
      }
      (core.prepares() ? timeline.prepared : timeline.executed)[core.layer()] = now;
      ++core.next;
      core.busy = false;
    }
  }
  return timeline;
}

}  // namespace tenshot::trainer
