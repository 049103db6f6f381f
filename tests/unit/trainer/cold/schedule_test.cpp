#include "trainer/cold/schedule.h"

#include <gtest/gtest.h>

#include "nasbench/support/random.h"

namespace tenshot::trainer {
namespace {

ColdCandidate candidate(double prepare_ms, double execute_ms, std::size_t kernel = 0) {
  return {kernel, false, prepare_ms, 0, execute_ms};
}

/// Layers with one candidate each.
ColdProblem fixed(const std::vector<std::pair<double, double>>& costs) {
  ColdProblem problem;
  for (const auto& [prepare, execute] : costs) {
    problem.shapes.push_back(static_cast<int>(problem.layers.size()));
    problem.layers.push_back({candidate(prepare, execute)});
  }
  return problem;
}

double makespan(const ColdProblem& problem, const std::vector<int>& cores) {
  return makespan(problem, {std::vector<std::size_t>(cores.size(), 0), cores});
}

TEST(ColdSimulation, OneCoreTakesTheSumOfAllOperations) {
  EXPECT_DOUBLE_EQ(makespan(fixed({{1, 2}, {3, 4}, {5, 6}}), {0, 0, 0}), 21);
}

TEST(ColdSimulation, ExecutionWaitsForItsOwnPreparation) {
  // Core 0: prepares 1 in [0, 1], executes it in [1, 3], waits for 2 until 5, executes it in [5, 6].
  EXPECT_DOUBLE_EQ(makespan(fixed({{1, 2}}), {0}), 3);
  EXPECT_DOUBLE_EQ(makespan(fixed({{1, 2}, {5, 1}}), {0, 1}), 6);
}

TEST(ColdSimulation, PreparingCoresWorkSideBySide) {
  ColdProblem problem = fixed({{1, 1}, {4, 1}, {4, 1}});
  EXPECT_DOUBLE_EQ(makespan(problem, {0, 1, 1}), 9);
  problem.preparing_cores = 2;
  EXPECT_DOUBLE_EQ(makespan(problem, {0, 1, 2}), 6);
}

TEST(ColdSimulation, NoStartIsFasterThanOneDiskReadsForAllCores) {
  ColdProblem problem = fixed({{3, 1}, {3, 1}});
  EXPECT_DOUBLE_EQ(makespan(problem, {0, 1}), 5);
  for (std::vector<ColdCandidate>& layer : problem.layers) layer[0].read_ms = 3;
  EXPECT_DOUBLE_EQ(makespan(problem, {0, 1}), 6);
  EXPECT_DOUBLE_EQ(makespan(problem, {0, 0}), 8);
  EXPECT_DOUBLE_EQ(simple_bound(problem), 6);
}

TEST(ColdSimulation, AKernelIsCreatedInFullOnceForItsShape) {
  ColdProblem problem;
  problem.shapes = {7, 7, 8};
  const ColdCandidate layer = {0, false, 5, 4, 1};
  problem.layers = {{layer}, {layer}, {layer}};
  EXPECT_DOUBLE_EQ(makespan(problem, {0, 0, 0}), 5 + 1 + 5 + 3);
}

TEST(ColdSimulation, InterferenceSlowsBothCoresDownOnlyWhileBothWork) {
  // Core 0 executes 1 in 4 ms of work, core 1 prepares 2 in 2 ms of work: both at half speed until 4, when the
  // preparation is done; 2 ms of the execution are left and take 2, then layer 2 takes 1.
  ColdProblem problem = fixed({{0, 4}, {2, 1}});
  problem.interference = {2, 2};
  EXPECT_DOUBLE_EQ(makespan(problem, {0, 1}), 7);
}

TEST(UsefulCandidates, DropTheOnesThatAreNoFasterInAnyStage) {
  EXPECT_EQ(useful_candidates({candidate(1, 9), candidate(2, 9), candidate(5, 5), candidate(5, 5), candidate(9, 6)}),
            (std::vector<std::size_t>{0, 2}));
}

TEST(Algorithm1, KeepsPreparationOffTheExecutingCoreWhereExecutionIsLonger) {
  const ColdSchedule schedule = algorithm_1(fixed({{1, 10}, {1, 10}, {1, 10}}));
  EXPECT_EQ(schedule.cores, (std::vector<int>{0, 1, 1}));
}

TEST(Algorithm1, MovesPreparationToTheExecutingCoreWhereItIsIdle) {
  // Alone the preparing core is busy for 40, the executing one for 6. Layer 2 moves, since 10 + 10 < 40 − 6.
  const ColdProblem problem = fixed({{1, 1}, {10, 1}, {10, 1}, {10, 1}, {10, 1}});
  const ColdSchedule schedule = algorithm_1(problem);
  EXPECT_EQ(schedule.cores, (std::vector<int>{0, 0, 1, 1, 1}));
  EXPECT_DOUBLE_EQ(makespan(problem, schedule), 31);
}

TEST(Algorithm1, BalancesThePreparingCores) {
  // In turn the cores get 8 + 1 and 1 + 0; moving a 1 makes it 8 and 2.
  ColdProblem problem = fixed({{0, 30}, {8, 1}, {1, 1}, {1, 1}});
  problem.preparing_cores = 2;
  EXPECT_EQ(balanced_cores(problem, {0, 0, 0, 0}), (std::vector<int>{0, 1, 2, 2}));
}

TEST(Algorithm1, TakesTheSlowerKernelThatIsPreparedFaster) {
  ColdProblem problem = fixed({{1, 5}, {1, 5}});
  problem.layers[0].push_back(candidate(50, 1, 1));
  const ColdSchedule schedule = algorithm_1(problem);
  EXPECT_EQ(schedule.candidates, (std::vector<std::size_t>{0, 0}));
}

/// The fastest of all schedules, by trying every one.
double fastest(const ColdProblem& problem) {
  const std::size_t layers = problem.layers.size();
  double best = 1e300;
  ColdSchedule schedule{std::vector<std::size_t>(layers, 0), std::vector<int>(layers, 0)};
  while (true) {
    best = std::min(best, makespan(problem, schedule));
    std::size_t i = 0;
    for (; i < layers; ++i) {
      if (++schedule.cores[i] <= problem.preparing_cores) break;
      schedule.cores[i] = 0;
      if (++schedule.candidates[i] < problem.layers[i].size()) break;
      schedule.candidates[i] = 0;
    }
    if (i == layers) return best;
  }
}

ColdProblem random_problem(Rng& rng, std::size_t layers, std::size_t candidates) {
  ColdProblem problem;
  for (std::size_t i = 0; i < layers; ++i) {
    problem.shapes.push_back(static_cast<int>(i));
    problem.layers.emplace_back();
    for (std::size_t c = 0; c < candidates; ++c) {
      problem.layers[i].push_back(candidate(10 * rng.uniform(), 5 * rng.uniform(), c));
    }
  }
  return problem;
}

TEST(Optimum, IsTheFastestOfAllSchedules) {
  Rng rng(1);
  for (int trial = 0; trial < 20; ++trial) {
    const ColdProblem problem = random_problem(rng, 5, 3);
    const ColdOptimum found = optimum(problem);
    EXPECT_NEAR(makespan(problem, found.schedule), fastest(problem), 1e-9);
    EXPECT_NEAR(found.lower_bound_ms, fastest(problem), 1e-9);
  }
}

TEST(Optimum, LowerBoundHoldsForSharedKernelsAndInterference) {
  Rng rng(2);
  for (int trial = 0; trial < 20; ++trial) {
    ColdProblem problem = random_problem(rng, 5, 2);
    problem.shapes = {0, 1, 0, 1, 1};
    problem.interference = {1.5, 1.2};
    for (auto& layer : problem.layers) {
      for (ColdCandidate& each : layer) each.create_saving_ms = each.prepare_ms * rng.uniform();
    }
    EXPECT_LE(optimum(problem).lower_bound_ms, fastest(problem) + 1e-9);
    EXPECT_LE(simple_bound(problem), fastest(problem) + 1e-9);
  }
}

TEST(Optimum, IsNoSlowerThanAlgorithm1OnLargeProblems) {
  Rng rng(3);
  const ColdProblem problem = random_problem(rng, 60, 4);
  const ColdOptimum found = optimum(problem);
  const double exact = makespan(problem, found.schedule);
  EXPECT_LE(exact, makespan(problem, algorithm_1(problem)) * 1.001);
  EXPECT_NEAR(exact, found.lower_bound_ms, 0.01 * exact);
}

TEST(SimpleBound, IsTheWarmLatencyOrTheLongestChain) {
  EXPECT_DOUBLE_EQ(simple_bound(fixed({{0, 2}, {1, 4}, {2, 6}})), 2 + 4 + 6);
  EXPECT_DOUBLE_EQ(simple_bound(fixed({{1, 2}, {30, 4}, {5, 6}})), 30 + 4 + 6);
}

}  // namespace
}  // namespace tenshot::trainer
