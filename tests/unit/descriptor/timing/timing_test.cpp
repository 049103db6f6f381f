#include "descriptor/timing/timing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "nasbench/support/error.h"
#include "nasbench/support/random.h"

namespace tenshot::descriptor {
namespace {

std::vector<double> one_to(int n) {
  std::vector<double> values(static_cast<std::size_t>(n));
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

TimingOptions without_warmup(int minimum_runs, int maximum_runs, double relative_precision) {
  TimingOptions options;
  options.warmup_runs = 0;
  options.warmup_ms = 0;
  options.minimum_runs = minimum_runs;
  options.maximum_runs = maximum_runs;
  options.relative_precision = relative_precision;
  return options;
}

TEST(Timing, Summarise_OddCountByHand) {
  // Sorted 1 2 3 4 100: quartiles 2 and 4; deviations from 3 are 2 1 0 1 97, their median is 1.
  const Timing timing = summarise({100, 1, 4, 2, 3});
  EXPECT_DOUBLE_EQ(timing.median_ms, 3);
  EXPECT_DOUBLE_EQ(timing.interquartile_range_ms, 2);
  EXPECT_DOUBLE_EQ(timing.stddev_ms, 1.4826);
  EXPECT_EQ(timing.runs, 5);
}

TEST(Timing, Summarise_EvenCountByHand) {
  // Sorted 1 2 4 8: median 3; quartiles at positions 0.75 and 2.25: 1.75 and 5; deviations 2 1 1 5, their median 1.5.
  const Timing timing = summarise({8, 1, 4, 2});
  EXPECT_DOUBLE_EQ(timing.median_ms, 3);
  EXPECT_DOUBLE_EQ(timing.interquartile_range_ms, 3.25);
  EXPECT_DOUBLE_EQ(timing.stddev_ms, 1.5 * 1.4826);
}

TEST(Timing, Summarise_OneRunHasNoSpread) {
  const Timing timing = summarise({7});
  EXPECT_DOUBLE_EQ(timing.median_ms, 7);
  EXPECT_DOUBLE_EQ(timing.interquartile_range_ms, 0);
  EXPECT_DOUBLE_EQ(timing.stddev_ms, 0);
}

TEST(Timing, Summarise_StddevOfNormalRunsIsTheirsDespiteOutliers) {
  Rng rng(1);
  std::vector<double> values;
  for (int i = 0; i < 2000; ++i) values.push_back(i % 50 == 0 ? 1000 : 10 + 0.5 * rng.normal());
  EXPECT_NEAR(summarise(values).stddev_ms, 0.5, 0.05);
}

TEST(Timing, MedianInterval_RanksByHand) {
  // P(Binomial(n, 1/2) < k) <= 2.5 %: n = 6: 1/64 for k = 1, 7/64 for k = 2. n = 10: 11/1024 for k = 2, 56/1024 for
  // k = 3. n = 30: ranks 10 and 21 in every table of the sign test.
  const Interval six = median_interval(one_to(6));
  EXPECT_EQ(six.lower, 1);
  EXPECT_EQ(six.upper, 6);
  const Interval ten = median_interval(one_to(10));
  EXPECT_EQ(ten.lower, 2);
  EXPECT_EQ(ten.upper, 9);
  const Interval thirty = median_interval(one_to(30));
  EXPECT_EQ(thirty.lower, 10);
  EXPECT_EQ(thirty.upper, 21);
}

TEST(Timing, MedianInterval_UnderSixValuesIsEverything) {
  const Interval five = median_interval(one_to(5));
  EXPECT_EQ(five.lower, -std::numeric_limits<double>::infinity());
  EXPECT_EQ(five.upper, std::numeric_limits<double>::infinity());
}

TEST(Timing, MedianInterval_CoversTheTrueMedianInNineteenOfTwentySamples) {
  Rng rng(2);
  constexpr int samples = 2000;
  int covered = 0;
  for (int s = 0; s < samples; ++s) {
    std::vector<double> values(30);
    for (double& value : values) value = rng.uniform();
    std::sort(values.begin(), values.end());
    const Interval interval = median_interval(values);
    covered += interval.lower <= 0.5 && 0.5 <= interval.upper;
  }
  EXPECT_GE(covered, samples * 0.94);
  EXPECT_LE(covered, samples * 0.98);  // 95.7 % is exact for thirty
}

TEST(Timing, MedianInterval_LargeSamplesDoNotUnderflow) {
  const Interval interval = median_interval(one_to(5000));
  EXPECT_NEAR(interval.lower, 2500 - 1.96 * 0.5 * 70.71, 2);  // normal approximation
  EXPECT_NEAR(interval.upper, 2501 + 1.96 * 0.5 * 70.71, 2);
}

TEST(Timing, Measure_StopsAtMinimumWhenAnyPrecisionWillDo) {
  int calls = 0;
  const Timing timing = measure([&] { ++calls; }, without_warmup(40, 100, 1e9));
  EXPECT_EQ(timing.runs, 40);
  EXPECT_EQ(calls, 40);
}

TEST(Timing, Measure_StopsAtMaximumWhenNeverPreciseEnough) {
  int calls = 0;
  const Timing timing = measure([&] { ++calls; }, without_warmup(10, 73, -1));
  EXPECT_EQ(timing.runs, 73);
  EXPECT_EQ(calls, 73);
}

TEST(Timing, Measure_WarmsUpAtLeastAsOftenAsAsked) {
  TimingOptions options = without_warmup(10, 10, 1);
  options.warmup_runs = 25;
  int calls = 0;
  measure([&] { ++calls; }, options);
  EXPECT_GE(calls, 35);
}

TEST(Timing, Measure_WarmupRunsAreNotInTheStatistics) {
  TimingOptions options = without_warmup(10, 10, 1);
  options.warmup_runs = 5;
  int calls = 0;
  const auto slow_at_first = [&] {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(calls++ < 5 ? 20 : 0);
    while (std::chrono::steady_clock::now() < end) {
    }
  };
  const Timing timing = measure(slow_at_first, options);
  EXPECT_GE(timing.warmup_total_ms, 100);
  EXPECT_LT(timing.median_ms, 20);
}

TEST(Timing, Measure_LoopTimeContainsTheRuns) {
  const Timing timing = measure([] {}, without_warmup(50, 50, 1));
  EXPECT_GT(timing.runs_total_ms, 0);
  EXPECT_GE(timing.loop_total_ms, timing.runs_total_ms);
}

TimingOptions in_turn(int runs, int rounds) {
  TimingOptions options;
  options.warmup_runs = 1;
  options.warmup_ms = 0;
  options.minimum_runs = 1;
  options.maximum_runs = runs;
  options.rounds = rounds;
  return options;
}

MachineWatch unwatched() {
  return {[] {}};
}

TEST(MeasureInTurn, SpreadsTheRunsOfEachNetworkOverTheRounds) {
  std::string order;
  const std::vector<std::function<void()>> networks = {[&] { order += 'a'; }, [&] { order += 'b'; }};
  std::size_t warm = 0;
  int asked = 0;
  const auto timings = measure_in_turn(networks, in_turn(5, 2), unwatched(), [&] {
    if (++asked == 2) warm = order.size();
    return true;
  });
  // Two of five runs in the first round, three in the second, each round begun by one that does not count.
  EXPECT_EQ(order.substr(warm), "aaabbbaaaabbbb");
  ASSERT_EQ(timings.networks.size(), 2u);
  for (const Timing& timing : timings.networks) {
    EXPECT_EQ(timing.runs, 5);
    EXPECT_GE(timing.loop_total_ms, timing.runs_total_ms);
  }
}

TEST(MeasureInTurn, ANetworkThatIsPreciseEnoughSitsOutTheOtherRounds) {
  TimingOptions options = in_turn(40, 4);
  options.minimum_runs = 15;
  options.relative_precision = std::numeric_limits<double>::infinity();  // any finite interval will do
  const TurnTimings timings = measure_in_turn({[] {}}, options, unwatched(), [] { return true; });
  EXPECT_EQ(timings.networks.at(0).runs, 20);  // two rounds of ten: the first gave fewer than the least number
}

TEST(MeasureInTurn, ReturnsNothingOnceToldToStop) {
  int asked = 0;
  EXPECT_TRUE(
      measure_in_turn({[] {}, [] {}}, in_turn(4, 2), unwatched(), [&] { return ++asked < 4; }).networks.empty());
  EXPECT_EQ(asked, 4);
}

/// A machine that is disturbed from the `from`-th to before the `until`-th look at its sentinel.
MachineWatch disturbed_between(int from, int until, double patience_s, std::vector<double>& spent_s) {
  MachineWatch watch{[] {}};
  watch.steady = [from, until, looks = 0](double) mutable { return ++looks < from || looks >= until; };
  watch.patient = [patience_s, &spent_s](double visit_s) {
    spent_s.push_back(visit_s);
    return patience_s > 0;
  };
  return watch;
}

TEST(MeasureInTurn, MakesADisturbedVisitAgainAfterTheOthers) {
  std::string order;
  std::vector<std::function<void()>> networks;
  for (int n = 0; n < 11; ++n) networks.emplace_back([&order, n] { order += static_cast<char>('a' + n); });
  std::size_t warm = 0;
  int asked = 0;
  std::vector<double> spent_s;
  // Asked before the first visit (steady), before it again with what is found after it (steady, then not).
  const TurnTimings timings = measure_in_turn(networks, in_turn(1, 1), disturbed_between(3, 4, 1, spent_s), [&] {
    if (++asked == 11) warm = order.size();
    return true;
  });
  // Ten networks, each run once for the caches and once timed; thrown away; the eleventh; the ten again.
  EXPECT_EQ(order.substr(warm), "aabbccddeeffgghhiijjkkaabbccddeeffgghhiijj");
  EXPECT_EQ(timings.thrown_away, 1);
  EXPECT_EQ(spent_s.size(), 1u);
  ASSERT_EQ(timings.networks.size(), 11u);
  for (const Timing& timing : timings.networks) EXPECT_EQ(timing.runs, 1);
}

TEST(MeasureInTurn, KeepsDisturbedVisitsWhenPatienceIsOver) {
  std::vector<double> spent_s;
  const TurnTimings timings =
      measure_in_turn({[] {}}, in_turn(4, 2), disturbed_between(1, 1000, 0, spent_s), [] { return true; });
  EXPECT_EQ(timings.thrown_away, 0);
  EXPECT_GE(spent_s.size(), 2u);
  EXPECT_EQ(timings.networks.at(0).runs, 4);
}

TEST(MeasureInTurn, LooksAgainBeforeAVisitUntilTheMachineIsSteady) {
  std::vector<double> spent_s;
  const TurnTimings timings =
      measure_in_turn({[] {}}, in_turn(4, 1), disturbed_between(1, 6, 1, spent_s), [] { return true; });
  EXPECT_EQ(timings.thrown_away, 0) << "no visit was made while the machine was disturbed";
  EXPECT_EQ(spent_s.size(), 5u);
  EXPECT_EQ(timings.networks.at(0).runs, 4);
}

}  // namespace
}  // namespace tenshot::descriptor
