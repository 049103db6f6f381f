#include "sampling/architectures/information.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "nasbench/support/error.h"

namespace tenshot::sampling {
namespace {

/// Independent architectures with these standard deviations.
LatencyCovariance independent(const std::vector<float>& deviations) {
  LatencyCovariance covariance;
  covariance.size = deviations.size();
  CovarianceBlock block;
  block.columns = deviations.size();
  block.factor.resize(deviations.size() * deviations.size(), 0);
  for (std::size_t i = 0; i < deviations.size(); ++i) block.factor[i * deviations.size() + i] = deviations[i];
  covariance.blocks.push_back(std::move(block));
  return covariance;
}

LatencyCovariance random_covariance(std::size_t size, std::size_t columns, Rng& rng) {
  LatencyCovariance covariance;
  covariance.size = size;
  CovarianceBlock block;
  block.columns = columns;
  for (std::size_t i = 0; i < size * columns; ++i) block.factor.push_back(static_cast<float>(0.2 * rng.normal()));
  covariance.blocks.push_back(std::move(block));
  return covariance;
}

std::vector<std::size_t> first(std::size_t count) {
  std::vector<std::size_t> indices(count);
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  return indices;
}

InformationOptions all_candidates() {
  InformationOptions options;
  options.random_half = false;
  options.noise = 0.05;
  return options;
}

TEST(Information, OfIndependentArchitecturesChoosesTheLeastKnownFirst) {
  Rng rng(1);
  const auto covariance = independent({0.1F, 0.4F, 0.2F, 0.3F});
  EXPECT_EQ(choose_informative(covariance, first(4), 3, rng, all_candidates()), (std::vector<std::size_t>{1, 3, 2}));
}

TEST(Information, PrefersTheArchitectureThatTellsOfOthers) {
  // Architectures 0, 1, 2 share one cause (deviation 0.3 each); 3 stands alone with 0.4: 3 · 0.3⁴ / 0.0925 > 0.4⁴ /
  // 0.1625.
  LatencyCovariance covariance;
  covariance.size = 4;
  covariance.blocks.push_back({2, {0.3F, 0, 0, 0.4F}, {0, 0, 0, 1}});
  Rng rng(1);
  const auto chosen = choose_informative(covariance, first(4), 2, rng, all_candidates());
  EXPECT_LT(chosen[0], 3u);
  EXPECT_EQ(chosen[1], 3u);
}

TEST(Information, WithATolerance_OneThatNobodyCanTellDoesNotDecideAlone) {
  // Architectures 0, 1, 2 share one cause (deviation 0.3 each); 3 stands alone with 0.9, and has most of the variance.
  LatencyCovariance covariance;
  covariance.size = 4;
  covariance.blocks.push_back({2, {0.3F, 0, 0, 0.9F}, {0, 0, 0, 1}});
  Rng rng(1);
  InformationOptions options = all_candidates();
  EXPECT_EQ(choose_informative(covariance, first(4), 1, rng, options).front(), 3u);
  options.tolerance = 0.2;
  EXPECT_LT(choose_informative(covariance, first(4), 1, rng, options).front(), 3u);
}

TEST(Information, WithATolerance_ThatExceedsAllErrorsVariancesAreSummed) {
  Rng rng(4);
  const auto covariance = random_covariance(50, 8, rng);
  InformationOptions options = all_candidates();
  const auto of_sums = choose_informative(covariance, first(50), 5, rng, options);
  options.tolerance = 100;
  EXPECT_EQ(choose_informative(covariance, first(50), 5, rng, options), of_sums);
}

TEST(Information, ChoosesOnlyCandidates) {
  Rng rng(2);
  const auto covariance = random_covariance(50, 5, rng);
  const std::vector<std::size_t> candidates = {3, 7, 11, 13, 40, 41, 42, 43};
  const auto chosen = choose_informative(covariance, candidates, 4, rng);
  EXPECT_EQ(std::set<std::size_t>(chosen.begin(), chosen.end()).size(), 4u);
  for (const std::size_t c : chosen) EXPECT_TRUE(std::count(candidates.begin(), candidates.end(), c) == 1);
}

TEST(Information, RefusesToChooseMoreThanThereAre) {
  Rng rng(2);
  EXPECT_THROW(choose_informative(independent({1, 1, 1}), first(2), 3, rng), InputError);
}

TEST(Information, SameSeedSamePlanOtherSeedAnother) {
  Rng source(3);
  const auto covariance = random_covariance(300, 8, source);
  Rng a(10), b(10), c(11);
  const auto plan = choose_informative(covariance, first(300), 8, a);
  EXPECT_EQ(choose_informative(covariance, first(300), 8, b), plan);
  EXPECT_NE(choose_informative(covariance, first(300), 8, c), plan);
}

TEST(Information, GreedyChoiceAgreesWithTheFormulaOnAFullMatrix) {
  Rng rng(4);
  const std::size_t n = 40, columns = 6;
  const auto covariance = random_covariance(n, columns, rng);
  std::vector<std::vector<double>> k(n, std::vector<double>(n, 0));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t c = 0; c < columns; ++c) {
        k[i][j] += covariance.blocks[0].factor[i * columns + c] * covariance.blocks[0].factor[j * columns + c];
      }
    }
  }
  std::vector<std::size_t> expected;
  const double noise_variance = 0.05 * 0.05;
  for (int round = 0; round < 4; ++round) {
    std::size_t best = 0;
    double most = -1;
    for (std::size_t j = 0; j < n; ++j) {
      double removed = 0;
      for (std::size_t x = 0; x < n; ++x) removed += k[x][j] * k[x][j];
      removed /= k[j][j] + noise_variance;
      if (removed > most && std::count(expected.begin(), expected.end(), j) == 0) {
        most = removed;
        best = j;
      }
    }
    expected.push_back(best);
    const auto old = k;
    for (std::size_t x = 0; x < n; ++x) {
      for (std::size_t y = 0; y < n; ++y) {
        k[x][y] -= old[x][best] * old[best][y] / (old[best][best] + noise_variance);
      }
    }
  }
  EXPECT_EQ(choose_informative(covariance, first(n), 4, rng, all_candidates()), expected);
}

TEST(ExpectedVariance, OfOneArchitectureFollowsTheGaussianRule) {
  // v = 0.09, noise² = 0.0025: v·noise² / (v + noise²).
  const auto variance = expected_variance(independent({0.3F}), {0}, all_candidates());
  ASSERT_EQ(variance.size(), 2u);
  EXPECT_NEAR(variance[0], 0.09, 1e-6);
  EXPECT_NEAR(variance[1], 0.09 * 0.0025 / 0.0925, 1e-6);
}

TEST(ExpectedVariance, OfASingleArchitectureThatNothingTellsIsNotThatOfAll) {
  std::vector<float> deviations(20, 0.3F);
  deviations.back() = 30;  // variances of 0.09 and 900, noise² = 0.0025
  const auto variance = expected_variance(independent(deviations), {19}, all_candidates());
  const double before = std::pow(0.0925, 0.95) * std::pow(900.0025, 0.05);
  EXPECT_NEAR(variance[0], before - 0.0025, 1e-4) << "a mean would be 45";
  EXPECT_NEAR(variance[1], std::pow(0.0925, 0.95) * std::pow(0.005, 0.05) - 0.0025, 1e-4);
}

TEST(ExpectedVariance, NeverGrows) {
  Rng rng(5);
  const auto covariance = random_covariance(100, 10, rng);
  const auto plan = choose_informative(covariance, first(100), 10, rng);
  const auto variance = expected_variance(covariance, plan);
  EXPECT_TRUE(std::is_sorted(variance.rbegin(), variance.rend()));
  EXPECT_LT(variance.back(), 0.2 * variance.front());
}

}  // namespace
}  // namespace tenshot::sampling
