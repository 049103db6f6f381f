#include <array>
#include <map>
#include <set>

#include "trainer/cold/schedule.h"

namespace tenshot::trainer {
namespace {

constexpr double most_combinations = 4096;

/// The loads of Algorithm 1: T_Q of every core, and who prepares what.
class Balancer {
 public:
  Balancer(const ColdProblem& problem, const std::vector<std::size_t>& combination)
      : costs_(preparation_costs(problem, combination)),
        cores_(combination.size(), 0),
        loads_(static_cast<std::size_t>(problem.preparing_cores) + 1, 0) {
    for (std::size_t i = 0; i < combination.size(); ++i) {
      execution_ += problem.layers[i][combination[i]].execute_ms;
    }
  }

  std::vector<int> run() {
    if (loads_.size() == 1) return cores_;
    std::set<std::size_t> with_executing = {0};  // r_1 and w_1: line 3
    std::size_t next = 1;                        // s
    while (true) {
      spread(with_executing);
      while (move_one()) {
      }
      const double excess = *std::max_element(loads_.begin() + 1, loads_.end()) - loads_[0];
      if (excess <= 0) break;
      std::size_t i = next;
      while (i < costs_.size() && 2 * costs_[i] >= excess) ++i;  // line 9
      if (i == costs_.size()) break;
      with_executing.insert(i);
      next = i + 1;
    }
    return cores_;
  }

 private:
  /// Line 12: the others go to the preparing cores in turn.
  void spread(const std::set<std::size_t>& with_executing) {
    std::fill(loads_.begin(), loads_.end(), 0);
    loads_[0] = execution_;
    std::size_t turn = 0;
    for (std::size_t i = 0; i < costs_.size(); ++i) {
      if (with_executing.count(i) != 0) {
        cores_[i] = 0;
        loads_[0] += costs_[i];
      } else {
        cores_[i] = static_cast<int>(turn + 1);
        loads_[turn + 1] += costs_[i];
        turn = (turn + 1) % (loads_.size() - 1);
      }
    }
  }

  /// Lines 13 to 20: the largest preparation that evens out the busiest and the idlest core moves between them.
  bool move_one() {
    const auto busiest = std::max_element(loads_.begin() + 1, loads_.end());
    const auto idlest = std::min_element(loads_.begin() + 1, loads_.end());
    const double half = (*busiest - *idlest) / 2;
    const auto from = static_cast<int>(busiest - loads_.begin()), to = static_cast<int>(idlest - loads_.begin());
    std::size_t best = costs_.size();
    for (std::size_t i = 0; i < costs_.size(); ++i) {
      if (cores_[i] != from || costs_[i] >= half || costs_[i] <= 0) continue;
      if (best == costs_.size() || costs_[i] > costs_[best]) best = i;
    }
    if (best == costs_.size()) return false;
    cores_[best] = to;
    *busiest -= costs_[best];
    *idlest += costs_[best];
    return true;
  }

  std::vector<double> costs_;
  double execution_ = 0;
  std::vector<int> cores_;
  std::vector<double> loads_;
};

using Choices = std::vector<std::vector<std::size_t>>;  ///< useful candidates of every layer

std::vector<std::vector<std::size_t>> all_combinations(const Choices& choices) {
  std::vector<std::vector<std::size_t>> combinations = {{}};
  for (const std::vector<std::size_t>& layer : choices) {
    std::vector<std::vector<std::size_t>> longer;
    for (const std::vector<std::size_t>& combination : combinations) {
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
std::vector<std::vector<std::size_t>> weighted_combinations(const ColdProblem& problem, const Choices& choices,
                                                            std::size_t most_weights) {
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
  const std::size_t step = std::max<std::size_t>(1, weights.size() / most_weights);
  std::set<std::vector<std::size_t>> combinations;
  const auto add = [&](double weight) {
    std::vector<std::size_t> combination;
    for (std::size_t i = 0; i < choices.size(); ++i) {
      const auto cost = [&](std::size_t c) {
        return weight * problem.layers[i][c].prepare_ms + (1 - weight) * problem.layers[i][c].execute_ms;
      };
      combination.push_back(*std::min_element(choices[i].begin(), choices[i].end(),
                                              [&](std::size_t a, std::size_t b) { return cost(a) < cost(b); }));
    }
    combinations.insert(std::move(combination));
  };
  std::size_t number = 0;
  for (auto weight = weights.begin(); std::next(weight) != weights.end(); ++weight) {
    if (number++ % step == 0) add((*weight + *std::next(weight)) / 2);
  }
  return {combinations.begin(), combinations.end()};
}

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
  return Balancer(problem, combination).run();
}

ColdSchedule algorithm_1(const ColdProblem& problem, std::size_t most_weights) {
  Choices choices;
  double count = 1;
  for (const std::vector<ColdCandidate>& layer : problem.layers) {
    choices.push_back(useful_candidates(layer));
    count *= static_cast<double>(choices.back().size());
  }
  ColdSchedule best;
  double best_ms = std::numeric_limits<double>::infinity();
  const auto combinations =
      count <= most_combinations ? all_combinations(choices) : weighted_combinations(problem, choices, most_weights);
  for (const std::vector<std::size_t>& combination : combinations) {
    ColdSchedule schedule{combination, balanced_cores(problem, combination)};
    const double ms = simulate(problem, schedule).makespan();
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

ColdBounds simple_bounds(const ColdProblem& problem) {
  ColdBounds bounds;
  for (std::size_t i = problem.layers.size(); i > 0; --i) {
    double execute = std::numeric_limits<double>::infinity(), both = execute, read = execute;
    for (const ColdCandidate& candidate : problem.layers[i - 1]) {
      const double prepare = candidate.prepare_ms - candidate.create_saving_ms;
      execute = std::min(execute, candidate.execute_ms);
      both = std::min(both, prepare + candidate.execute_ms);
      read = std::min(read, candidate.read_ms);
    }
    bounds.disk_ms += read;
    bounds.chain_ms = std::max(bounds.chain_ms, both + bounds.warm_ms);
    bounds.warm_ms += execute;
  }
  return bounds;
}

}  // namespace tenshot::trainer
