#include "trainer/cold/schedule.h"

#include <algorithm>
#include <functional>
#include <limits>
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

}  // namespace

ColdProblem cold_problem(const descriptor::ColdStages& stages, int preparing_cores) {
  ColdProblem problem;
  problem.preparing_cores = preparing_cores;
  problem.interference = stages.interference;
  for (const descriptor::LayerStages& layer : stages.layers) {
    std::vector<ColdCandidate>& candidates = problem.layers.emplace_back();
    for (std::size_t k = 0; k < layer.kernels.size(); ++k) {
      const descriptor::KernelStages& kernel = layer.kernels[k];
      const double saving = std::max(0.0, kernel.create_ms - kernel.create_again_ms);
      const double raw = layer.read_raw_ms, transform = kernel.transforms ? kernel.transform_ms : 0;
      candidates.push_back({k, false, raw + kernel.create_ms + transform, saving, kernel.first_ms, raw});
      if (!kernel.transforms) continue;
      const double cached = kernel.read_cached_ms;
      candidates.push_back({k, true, cached + kernel.create_ms, saving, kernel.first_ms, cached});
    }
    problem.shapes.push_back(layer.shape);
  }
  return problem;
}

std::vector<double> preparation_costs(const ColdProblem& problem, const std::vector<std::size_t>& candidates) {
  std::set<std::pair<int, std::size_t>> made;  // shape and kernel
  std::vector<double> costs;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const ColdCandidate& candidate = problem.layers[i][candidates[i]];
    const bool first = made.emplace(problem.shapes[i], candidate.kernel).second;
    costs.push_back(candidate.prepare_ms - (first ? 0 : candidate.create_saving_ms));
  }
  return costs;
}

double makespan(const ColdProblem& problem, const ColdSchedule& schedule) {
  const std::size_t layers = problem.layers.size();
  const std::vector<double> costs = preparation_costs(problem, schedule.candidates);
  std::vector<Core> cores(static_cast<std::size_t>(problem.preparing_cores) + 1);
  cores[0].executions = layers;
  std::vector<bool> prepared(layers, false);
  double disk_ms = 0, now = 0;
  for (std::size_t i = 0; i < layers; ++i) {
    cores[static_cast<std::size_t>(schedule.cores[i])].prepare.push_back(i);
    disk_ms += problem.layers[i][schedule.candidates[i]].read_ms;
  }
  while (!cores[0].is_done()) {
    for (Core& core : cores) {
      if (core.busy || core.is_done()) continue;
      const std::size_t layer = core.layer();
      if (!core.prepares() && !prepared[layer]) continue;
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
      if (core.prepares()) prepared[core.layer()] = true;
      ++core.next;
      core.busy = false;
    }
  }
  return std::max(now, disk_ms);
}

}  // namespace tenshot::trainer
