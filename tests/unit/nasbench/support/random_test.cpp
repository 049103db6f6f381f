#include "nasbench/support/random.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

namespace tenshot {
namespace {

constexpr int draws = 200'000;

// Computed by an independent implementation of MT19937-64 and SplitMix64.
TEST(Rng, SeedsAndStreams_GiveFixedBits) {
  Rng first(1);
  EXPECT_EQ(first.bits(), 15680271392084457219U);
  EXPECT_EQ(first.bits(), 5851735717111353748U);
  EXPECT_EQ(first.bits(), 11759230582921984864U);
  EXPECT_EQ(Rng(1, 1).bits(), 14160483124688033854U);
  EXPECT_EQ(Rng(2).bits(), 2014289171594349108U);
}

TEST(Rng, Distributions_GiveFixedValues) {
  Rng below(1);
  for (const std::uint64_t expected : {4, 3, 4, 0, 1, 1, 0, 4, 0, 0, 2, 0}) EXPECT_EQ(below.below(5), expected);

  Rng uniform(1);
  for (const double expected : {0.8500292154230136, 0.3172232288651575, 0.6374691672381}) {
    EXPECT_EQ(uniform.uniform(), expected);
  }

  Rng normal(1);
  for (const double expected : {-0.7985334742384639, -1.1949501355410512, -0.1728307663679939}) {
    EXPECT_NEAR(normal.normal(), expected, 1e-14);
  }

  std::vector<int> values = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  Rng(1).shuffle(values);
  EXPECT_EQ(values, (std::vector<int>{4, 3, 6, 5, 8, 7, 2, 0, 1, 9}));
}

TEST(Rng, Below_IsUniform) {
  Rng rng(3);
  constexpr std::size_t bound = 7;
  std::array<int, bound> counts{};
  for (int i = 0; i < draws; ++i) {
    const std::uint64_t value = rng.below(bound);
    ASSERT_LT(value, bound);
    ++counts[value];
  }
  double chi_squared = 0;
  constexpr double expected = static_cast<double>(draws) / bound;
  for (const int count : counts) chi_squared += (count - expected) * (count - expected) / expected;
  EXPECT_LT(chi_squared, 22.5);  // the 99.9 % quantile at 6 degrees of freedom
}

TEST(Rng, BelowOne_IsZero) {
  Rng rng(4);
  EXPECT_EQ(rng.below(1), 0U);
}

TEST(Rng, BelowABoundBeyondHalfTheRange_ReachesBothHalves) {
  Rng rng(5);
  constexpr std::uint64_t bound = (1ULL << 63) + (1ULL << 62);  // a remainder alone would favour the low third twice
  int low = 0;
  for (int i = 0; i < draws; ++i) low += rng.below(bound) < (1ULL << 62) ? 1 : 0;
  EXPECT_NEAR(static_cast<double>(low) / draws, 1.0 / 3.0, 0.005);
}

TEST(Rng, Uniform_HasItsMomentsAndBounds) {
  Rng rng(6);
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < draws; ++i) {
    const double value = rng.uniform();
    ASSERT_GE(value, 0.0);
    ASSERT_LT(value, 1.0);
    sum += value;
    squares += value * value;
  }
  EXPECT_NEAR(sum / draws, 0.5, 0.003);
  EXPECT_NEAR(squares / draws, 1.0 / 3.0, 0.003);
}

TEST(Rng, Normal_HasItsMoments) {
  Rng rng(7);
  double sum = 0;
  double squares = 0;
  double fourths = 0;
  for (int i = 0; i < draws; ++i) {
    const double value = rng.normal();
    ASSERT_TRUE(std::isfinite(value));
    sum += value;
    squares += value * value;
    fourths += value * value * value * value;
  }
  EXPECT_NEAR(sum / draws, 0.0, 0.01);
  EXPECT_NEAR(squares / draws, 1.0, 0.02);
  EXPECT_NEAR(fourths / draws, 3.0, 0.15);
}

TEST(Rng, Shuffle_PutsEveryValueEverywhereEquallyOften) {
  constexpr int trials = 60'000;
  std::array<std::array<int, 4>, 4> counts{};
  Rng rng(8);
  for (int t = 0; t < trials; ++t) {
    std::vector<std::size_t> values = {0, 1, 2, 3};
    rng.shuffle(values);
    for (std::size_t place = 0; place < 4; ++place) ++counts[values[place]][place];
  }
  for (const auto& row : counts) {
    for (const int count : row) EXPECT_NEAR(count, trials / 4.0, 500);
  }
}

TEST(Rng, ShuffleOfNothing_IsNothing) {
  std::vector<int> empty;
  Rng(9).shuffle(empty);
  EXPECT_TRUE(empty.empty());
}

}  // namespace
}  // namespace tenshot
