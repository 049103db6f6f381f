#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>

#include "trainer/cold/algorithm.h"

namespace tenshot::trainer {
namespace {

/// Layers so far. With H prepared on the executing core, E executed, and P_i the time when the preparing core is done
/// with layer i, the makespan is max(H + E, max over i of P_i + the executions from i on): of these two `sum` and
/// `wait` are what is known so far.
struct State {
  double preparing = 0;  ///< P of the last layer that the preparing core took
  double sum = 0;
  double wait = 0;
  int before = -1;  ///< state of the layer before
  std::size_t candidate = 0;
  int core = 0;
};

constexpr std::size_t most_states = 4000;
constexpr double relative_step = 1e-5;  // of the makespan: the grid that states are thinned to where there are too many

/// States that no other is at most as large as in all three numbers.
std::vector<State> undominated(std::vector<State> states) {
  std::sort(states.begin(), states.end(), [](const State& a, const State& b) {
    if (a.preparing != b.preparing) return a.preparing < b.preparing;
    if (a.sum != b.sum) return a.sum < b.sum;
    return a.wait < b.wait;
  });
  std::map<double, double> stairs;  // sum → wait, falling
  std::vector<State> kept;
  for (const State& state : states) {
    auto above = stairs.upper_bound(state.sum);
    if (above != stairs.begin() && std::prev(above)->second <= state.wait) continue;
    while (above != stairs.end() && above->second >= state.wait) above = stairs.erase(above);
    stairs[state.sum] = state.wait;
    kept.push_back(state);
  }
  return kept;
}

/// One state for each cell of a grid: what is lost is less than a step.
std::vector<State> thinned(const std::vector<State>& states, double step) {
  std::map<std::array<long long, 3>, State> cells;
  const auto cell = [step](double value) { return static_cast<long long>(value / step); };
  for (const State& state : states) {
    cells.emplace(std::array<long long, 3>{cell(state.preparing), cell(state.sum), cell(state.wait)}, state);
  }
  std::vector<State> kept;
  for (const auto& [place, state] : cells) kept.push_back(state);
  return kept;
}

/// A bound by Lagrangian relaxation: the makespan is at least what core 0 works in all, and at least, for every layer
/// i, what the preparing core works up to i and core 0 executes from i on; so it is at least any mean of the two, and
/// for given weights every layer is chosen on its own.
double relaxation_bound(const std::vector<std::vector<ColdCandidate>>& layers) {
  constexpr int weights = 50;
  double bound = 0;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    for (int w = 0; w <= weights; ++w) {
      const double all = static_cast<double>(w) / weights, wait = 1 - all;
      double sum = 0;
      for (std::size_t j = 0; j < layers.size(); ++j) {
        double least = std::numeric_limits<double>::infinity();
        for (const ColdCandidate& candidate : layers[j]) {
          const double execute = candidate.execute_ms * (j < i ? all : 1);
          const double elsewhere = j <= i ? wait * candidate.prepare_ms : 0;
          least = std::min(least, execute + std::min(all * candidate.prepare_ms, elsewhere));
        }
        sum += least;
      }
      bound = std::max(bound, sum);
    }
  }
  return bound;
}

double makespan(const State& state) { return std::max(state.sum, state.wait); }

}  // namespace

ColdOptimum optimum(const ColdProblem& problem) {
  std::vector<std::vector<State>> layers = {{State{}}};
  std::set<int> shapes;
  std::vector<std::vector<ColdCandidate>> cheapest;
  double lost = 0;
  for (std::size_t i = 0; i < problem.layers.size(); ++i) {
    const bool may_be_made = !shapes.insert(problem.shapes[i]).second;
    std::vector<ColdCandidate> candidates = problem.layers[i];
    for (ColdCandidate& candidate : candidates) {
      if (may_be_made) candidate.prepare_ms -= candidate.create_saving_ms;
    }
    std::vector<State> next;
    for (const std::size_t c : useful_candidates(candidates)) {
      const double prepare = candidates[c].prepare_ms, execute = candidates[c].execute_ms;
      for (std::size_t s = 0; s < layers.back().size(); ++s) {
        const State& state = layers.back()[s];
        const int before = static_cast<int>(s);
        next.push_back({state.preparing, state.sum + prepare + execute, state.wait + execute, before, c, 0});
        if (problem.preparing_cores == 0) continue;
        const double ready = state.preparing + prepare;
        next.push_back({ready, state.sum + execute, std::max(state.wait, ready) + execute, before, c, 1});
      }
    }
    cheapest.push_back(std::move(candidates));
    next = undominated(std::move(next));
    double step = 0;
    for (const State& state : next) step = std::max(step, makespan(state) * relative_step);
    for (; next.size() > most_states && step > 0; step *= 2) {
      next = thinned(next, step);
      lost += step;
    }
    layers.push_back(std::move(next));
  }
  const std::vector<State>& last = layers.back();
  auto best =
      static_cast<int>(std::min_element(last.begin(), last.end(),
                                        [](const State& a, const State& b) { return makespan(a) < makespan(b); }) -
                       last.begin());
  ColdOptimum result;
  result.lower_bound_ms = makespan(last[static_cast<std::size_t>(best)]) - lost;
  if (problem.preparing_cores == 1) result.lower_bound_ms = std::max(result.lower_bound_ms, relaxation_bound(cheapest));
  result.schedule.candidates.resize(problem.layers.size());
  result.schedule.cores.resize(problem.layers.size());
  for (std::size_t i = problem.layers.size(); i > 0; --i) {
    const State& state = layers[i][static_cast<std::size_t>(best)];
    result.schedule.candidates[i - 1] = state.candidate;
    result.schedule.cores[i - 1] = state.core;
    best = state.before;
  }
  return result;
}

}  // namespace tenshot::trainer
