#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "trainer/cold/schedule.h"

namespace tenshot::trainer {
namespace {

constexpr double most_combinations = 4096;
constexpr std::size_t few_weights = 24;

/// Lines 13 to 20: moves the largest preparation that evens out the busiest core and the idlest; false if none does.
bool move_one(const std::vector<double>& costs, std::vector<int>& cores, std::vector<double>& loads) {
  const auto busiest = std::max_element(loads.begin() + 1, loads.end());
  const auto idlest = std::min_element(loads.begin() + 1, loads.end());
  const double half = (*busiest - *idlest) / 2;
  std::size_t best = costs.size();
  for (std::size_t i = 0; i < costs.size(); ++i) {
    if (cores[i] != busiest - loads.begin() || costs[i] >= half || costs[i] <= 0) continue;
    if (best == costs.size() || costs[i] > costs[best]) best = i;
  }
  if (best == costs.size()) return false;
  cores[best] = static_cast<int>(idlest - loads.begin());
  *busiest -= costs[best];
  *idlest += costs[best];
  return true;
}

using Combination = std::vector<std::size_t>;           ///< a candidate of every layer
using Choices = std::vector<std::vector<std::size_t>>;  ///< useful candidates of every layer

std::vector<Combination> all_combinations(const Choices& choices) {
  std::vector<Combination> combinations = {{}};
  for (const std::vector<std::size_t>& layer : choices) {
    std::vector<Combination> longer;
    for (const Combination& combination : combinations) {
      for (const std::size_t candidate : layer) {
        longer.push_back(combination);
        longer.back().push_back(candidate);
      }
    }
    combinations = std::move(longer);
  }
  return combinations;
}

/// For every λ at which some layer changes its mind, what each layer takes.
std::vector<Combination> weighted_combinations(const ColdProblem& problem, const Choices& choices, bool quick) {
  std::set<double> weights = {0, 1};
  for (std::size_t i = 0; i < choices.size(); ++i) {
    for (const std::size_t a : choices[i]) {
      for (const std::size_t b : choices[i]) {
        const ColdCandidate &x = problem.layers[i][a], &y = problem.layers[i][b];
        const double faster = y.prepare_ms - x.prepare_ms, slower = x.execute_ms - y.execute_ms;
        if (faster > 0 && slower > 0) weights.insert(slower / (slower + faster));
      }
    }
  }
  const std::size_t step = quick ? std::max<std::size_t>(1, weights.size() / few_weights) : 1;
  std::set<Combination> combinations;
  std::size_t number = 0;
  for (auto at = weights.begin(); std::next(at) != weights.end(); ++at) {
    if (number++ % step != 0) continue;
    const double weight = (*at + *std::next(at)) / 2;
    Combination combination;
    for (std::size_t i = 0; i < choices.size(); ++i) {
      const auto cost = [&](std::size_t c) {
        return weight * problem.layers[i][c].prepare_ms + (1 - weight) * problem.layers[i][c].execute_ms;
      };
      combination.push_back(*std::min_element(choices[i].begin(), choices[i].end(),
                                              [&](std::size_t a, std::size_t b) { return cost(a) < cost(b); }));
    }
    combinations.insert(std::move(combination));
  }
  return {combinations.begin(), combinations.end()};
}

/// Layers so far. With H prepared on the executing core, E executed, and P_i the time when the preparing core is done
/// with layer i, the makespan is max(H + E, max over i of P_i + the executions from i on): `sum` and `wait`.
struct State {
  double preparing = 0;  ///< P of the last layer that the preparing core took
  double sum = 0;
  double wait = 0;
  const State* before = nullptr;  ///< of the layer before
  std::size_t candidate = 0;
  int core = 0;

  double makespan() const { return std::max(sum, wait); }
};

constexpr std::size_t most_states = 4000;
constexpr double relative_step = 1e-5;  // of the makespan: the grid that states are thinned to where there are too many

/// States that no other is at most as large as in all three numbers.
std::vector<State> undominated(std::vector<State> states) {
  std::sort(states.begin(), states.end(), [](const State& a, const State& b) {
    return std::tie(a.preparing, a.sum, a.wait) < std::tie(b.preparing, b.sum, b.wait);
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

/// A bound by Lagrangian relaxation: the makespan is at least core 0's work, and for every layer i what is prepared up
/// to i and executed from i on; so it is at least any mean of both, for whose weights every layer is chosen on its own.
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

}  // namespace

std::vector<std::size_t> useful_candidates(const std::vector<ColdCandidate>& candidates) {
  std::vector<std::size_t> useful;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    bool beaten = false;
    for (std::size_t j = 0; j < candidates.size() && !beaten; ++j) {
      const ColdCandidate &a = candidates[i], &b = candidates[j];
      const bool no_slower = b.prepare_ms <= a.prepare_ms && b.execute_ms <= a.execute_ms;
      const bool equal = b.prepare_ms == a.prepare_ms && b.execute_ms == a.execute_ms;
      beaten = no_slower && (!equal || j < i);
    }
    if (!beaten) useful.push_back(i);
  }
  return useful;
}

std::vector<int> balanced_cores(const ColdProblem& problem, const std::vector<std::size_t>& combination) {
  const std::vector<double> costs = preparation_costs(problem, combination);
  const auto preparing_cores = static_cast<std::size_t>(problem.preparing_cores);
  std::vector<int> cores(costs.size(), 0);
  if (preparing_cores == 0) return cores;
  double execution = 0;
  for (std::size_t i = 0; i < costs.size(); ++i) execution += problem.layers[i][combination[i]].execute_ms;
  std::set<std::size_t> with_executing = {0};  // r_1 and w_1: line 3
  for (std::size_t s = 1;; ++s) {
    std::vector<double> loads(preparing_cores + 1, 0);
    loads[0] = execution;
    std::size_t turn = 0;
    for (std::size_t i = 0; i < costs.size(); ++i) {  // line 12: the others go to the preparing cores in turn
      cores[i] = with_executing.count(i) != 0 ? 0 : static_cast<int>(1 + turn++ % preparing_cores);
      loads[static_cast<std::size_t>(cores[i])] += costs[i];
    }
    while (move_one(costs, cores, loads)) {
    }
    const double excess = *std::max_element(loads.begin() + 1, loads.end()) - loads[0];
    if (excess <= 0) return cores;
    while (s < costs.size() && 2 * costs[s] >= excess) ++s;  // line 9
    if (s == costs.size()) return cores;
    with_executing.insert(s);
  }
}

ColdSchedule algorithm_1(const ColdProblem& problem, bool quick) {
  Choices choices;
  double count = 1;
  for (const std::vector<ColdCandidate>& layer : problem.layers) {
    choices.push_back(useful_candidates(layer));
    count *= static_cast<double>(choices.back().size());
  }
  ColdSchedule best;
  double best_ms = std::numeric_limits<double>::infinity();
  const auto combinations =
      count <= most_combinations ? all_combinations(choices) : weighted_combinations(problem, choices, quick);
  for (const std::vector<std::size_t>& combination : combinations) {
    ColdSchedule schedule{combination, balanced_cores(problem, combination)};
    const double ms = makespan(problem, schedule);
    if (ms >= best_ms) continue;
    best_ms = ms;
    best = std::move(schedule);
  }
  return best;
}

ColdOptimum optimum(const ColdProblem& problem) {
  std::vector<std::vector<State>> layers = {{State{}}};
  std::set<int> shapes;
  std::vector<std::vector<ColdCandidate>> cheapest;
  double lost = 0;
  for (std::size_t i = 0; i < problem.layers.size(); ++i) {
    const bool may_be_made = !shapes.insert(problem.shapes[i]).second;
    std::vector<ColdCandidate>& candidates = cheapest.emplace_back(problem.layers[i]);
    for (ColdCandidate& candidate : candidates) {
      if (may_be_made) candidate.prepare_ms -= candidate.create_saving_ms;
    }
    std::vector<State> next;
    for (const std::size_t c : useful_candidates(candidates)) {
      const double prepare = candidates[c].prepare_ms, execute = candidates[c].execute_ms;
      for (const State& state : layers.back()) {
        next.push_back({state.preparing, state.sum + prepare + execute, state.wait + execute, &state, c, 0});
        if (problem.preparing_cores == 0) continue;
        const double ready = state.preparing + prepare;
        next.push_back({ready, state.sum + execute, std::max(state.wait, ready) + execute, &state, c, 1});
      }
    }
    next = undominated(std::move(next));
    double step = 0;
    for (const State& state : next) step = std::max(step, state.makespan() * relative_step);
    for (; next.size() > most_states && step > 0; step *= 2) {
      next = thinned(next, step);
      lost += step;
    }
    layers.push_back(std::move(next));
  }
  const std::vector<State>& last = layers.back();
  const State* state = &*std::min_element(last.begin(), last.end(),
                                          [](const State& a, const State& b) { return a.makespan() < b.makespan(); });
  ColdOptimum result;
  result.lower_bound_ms = state->makespan() - lost;
  if (problem.preparing_cores == 1) result.lower_bound_ms = std::max(result.lower_bound_ms, relaxation_bound(cheapest));
  result.schedule = {Combination(problem.layers.size()), std::vector<int>(problem.layers.size())};
  for (std::size_t i = problem.layers.size(); i-- > 0; state = state->before) {
    result.schedule.candidates[i] = state->candidate;
    result.schedule.cores[i] = state->core;
  }
  return result;
}

double simple_bound(const ColdProblem& problem) {
  double warm_ms = 0, chain_ms = 0, disk_ms = 0;
  for (std::size_t i = problem.layers.size(); i > 0; --i) {
    double execute = std::numeric_limits<double>::infinity(), both = execute, read = execute;
    for (const ColdCandidate& candidate : problem.layers[i - 1]) {
      const double prepare = candidate.prepare_ms - candidate.create_saving_ms;
      execute = std::min(execute, candidate.execute_ms);
      both = std::min(both, prepare + candidate.execute_ms);
      read = std::min(read, candidate.read_ms);
    }
    disk_ms += read;
    chain_ms = std::max(chain_ms, both + warm_ms);
    warm_ms += execute;
  }
  return std::max({warm_ms, chain_ms, disk_ms});
}

}  // namespace tenshot::trainer
