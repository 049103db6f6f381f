#include "trainer/core/metrics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "nasbench/support/error.h"
#include "nasbench/support/random.h"

namespace tenshot::trainer {
namespace {

TEST(ErrorBoundAccuracy, CountsTheBoundItselfAsWithin) {
  // Relative errors: 0, +10 %, −10 %, +10.1 %, −50 %.
  const std::vector<double> measured = {10, 10, 20, 1000, 4}, predicted = {10, 11, 18, 1101, 2};
  EXPECT_DOUBLE_EQ(error_bound_accuracy(predicted, measured, 0.10), 3.0 / 5);
  EXPECT_DOUBLE_EQ(error_bound_accuracy(predicted, measured, 0.01), 1.0 / 5);
  EXPECT_DOUBLE_EQ(error_bound_accuracy(predicted, measured, 0.50), 1.0);
}

TEST(Evaluate, MatchesHandComputedValues) {
  // Errors 1, −1, 2; relative 0.1, −0.05, 0.05.
  const std::vector<double> measured = {10, 20, 40}, predicted = {11, 19, 42};
  const Metrics metrics = evaluate({predicted, {10, 15, 43}, {12, 25, 44}}, measured);
  EXPECT_EQ(metrics.architectures, 3u);
  EXPECT_NEAR(metrics.rmse_ms, std::sqrt((1 + 1 + 4) / 3.0), 1e-12);
  EXPECT_NEAR(metrics.rmspe, std::sqrt((0.01 + 0.0025 + 0.0025) / 3), 1e-12);
  EXPECT_NEAR(metrics.mape, 0.2 / 3, 1e-12);
  EXPECT_DOUBLE_EQ(metrics.acc10, 1.0);
  EXPECT_DOUBLE_EQ(metrics.acc5, 2.0 / 3);
  EXPECT_DOUBLE_EQ(metrics.acc1, 0.0);
  EXPECT_DOUBLE_EQ(metrics.spearman, 1.0);
  EXPECT_DOUBLE_EQ(metrics.kendall, 1.0);
  EXPECT_NEAR(metrics.coverage, 2.0 / 3, 1e-12);
  EXPECT_NEAR(metrics.mean_relative_width, (2.0 / 11 + 10.0 / 19 + 1.0 / 42) / 3, 1e-12);
}

TEST(Evaluate, HasNoCoverageWithoutIntervals) {
  const Metrics metrics = evaluate({{1, 2}, {}, {}}, {1, 2});
  EXPECT_TRUE(std::isnan(metrics.coverage));
  EXPECT_TRUE(to_json(metrics).at("coverage").is_null());
}

TEST(Kendall, MatchesHandComputedValues) {
  EXPECT_DOUBLE_EQ(kendall({1, 2, 3, 4}, {4, 3, 2, 1}), -1);
  // Pairs of (1,1) (2,3) (3,2): two concordant, one discordant.
  EXPECT_NEAR(kendall({1, 2, 3}, {1, 3, 2}), 1.0 / 3, 1e-12);
  // One tie in a: concordant 2 of 3 pairs, τ-b = 2 / √(2·3).
  EXPECT_NEAR(kendall({1, 1, 2}, {1, 2, 3}), 2 / std::sqrt(6.0), 1e-12);
  EXPECT_TRUE(std::isnan(kendall({1, 1}, {1, 2})));
}

TEST(Kendall, EqualsTheSumOverAllPairs) {
  Rng rng(7);
  for (int round = 0; round < 50; ++round) {
    std::vector<double> a, b;
    for (int i = 0; i < 40; ++i) {
      a.push_back(static_cast<double>(rng.below(12)));
      b.push_back(static_cast<double>(rng.below(12)));
    }
    double sum = 0, untied_a = 0, untied_b = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const double da = (a[i] > a[j]) - (a[i] < a[j]), db = (b[i] > b[j]) - (b[i] < b[j]);
        sum += da * db;
        untied_a += da != 0;
        untied_b += db != 0;
      }
    }
    EXPECT_NEAR(kendall(a, b), sum / std::sqrt(untied_a * untied_b), 1e-12);
  }
}

}  // namespace
}  // namespace tenshot::trainer
