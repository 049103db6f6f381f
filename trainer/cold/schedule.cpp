#include "trainer/cold/schedule.h"

#include <functional>
#include <set>
#include <utility>

namespace tenshot::trainer {
namespace {

/// One core's operations, in order: layers to prepare, then layers to execute.
struct Core {
  std::vector<std::size_t> prepare, execute;
  std::size_t next = 0;
  double remaining = 0;  ///< work of the operation that runs
  bool busy = false;

  bool is_done() const { return !busy && next == prepare.size() + execute.size(); }
  bool prepares() const { return next < prepare.size(); }
  std::size_t layer() const { return prepares() ? prepare[next] : execute[next - prepare.size()]; }
};

class Simulation {
 public:
  Simulation(const ColdProblem& problem, const ColdSchedule& schedule)
      : problem_(problem),
        schedule_(schedule),
        costs_(preparation_costs(problem, schedule.candidates)),
        cores_(static_cast<std::size_t>(problem.preparing_cores) + 1),
        prepared_(problem.layers.size(), -1) {
    for (std::size_t i = 0; i < problem.layers.size(); ++i) {
      cores_[static_cast<std::size_t>(schedule.cores[i])].prepare.push_back(i);
      cores_[0].execute.push_back(i);
      timeline_.disk_ms += problem.layers[i][schedule.candidates[i]].read_ms;
    }
    timeline_.prepared.resize(problem.layers.size());
    timeline_.executed.resize(problem.layers.size());
  }

  ColdTimeline run() {
    while (!cores_[0].is_done()) {
      for (Core& core : cores_) start(core);
      advance();
    }
    return std::move(timeline_);
  }

 private:
  void start(Core& core) {
    if (core.busy || core.is_done()) return;
    const std::size_t layer = core.layer();
    if (!core.prepares() && prepared_[layer] < 0) return;
    core.remaining = core.prepares() ? costs_[layer] : problem_.layers[layer][schedule_.candidates[layer]].execute_ms;
    core.busy = true;
  }

  void advance() {
    const bool both = cores_[0].busy && std::any_of(cores_.begin() + 1, cores_.end(), std::mem_fn(&Core::busy));
    const auto slowdown = [&](const Core& core) {
      if (!both) return 1.0;
      return core.prepares() ? problem_.interference.preparing : problem_.interference.executing;
    };
    double step = std::numeric_limits<double>::infinity();
    for (const Core& core : cores_) {
      if (core.busy) step = std::min(step, core.remaining * slowdown(core));
    }
    now_ += step;
    for (Core& core : cores_) {
      if (!core.busy) continue;
      const double slow = slowdown(core);
      if (core.remaining * slow > step) {
        core.remaining -= step / slow;
      } else {
        finished_.push_back(&core);
      }
    }
    for (Core* core : finished_) finish(*core);
    finished_.clear();
  }

  void finish(Core& core) {
    const std::size_t layer = core.layer();
    (core.prepares() ? timeline_.prepared : timeline_.executed)[layer] = now_;
    if (core.prepares()) prepared_[layer] = now_;
    ++core.next;
    core.busy = false;
  }

  const ColdProblem& problem_;
  const ColdSchedule& schedule_;
  std::vector<double> costs_;
  std::vector<Core> cores_;
  std::vector<double> prepared_;  ///< −1 until then
  std::vector<Core*> finished_;   ///< in this step
  ColdTimeline timeline_;
  double now_ = 0;
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
  return Simulation(problem, schedule).run();
}

}  // namespace tenshot::trainer
