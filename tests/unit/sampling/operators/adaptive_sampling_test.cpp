#include "sampling/operators/adaptive_sampling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <set>

#include "nasbench/support/error.h"

namespace tenshot::sampling {
namespace {

/// Input size, kernel size, output channels.
KernelSpace some_space() {
  return {{{56, 28, 14, 14, 7}, {3, 3, 1, 3, 5}, {64, 128, 256, 256, 512}}, {false, false, true}, {}};
}

/// A staircase in the channels: eight at a time.
double staircase_ms(const Configuration& c) { return 1e-4 * c[0] * c[0] * c[1] * std::ceil(c[2] / 8.0); }

std::vector<double> measure(const std::vector<Configuration>& configurations) {
  std::vector<double> latency_ms;
  for (const Configuration& c : configurations) latency_ms.push_back(staircase_ms(c));
  return latency_ms;
}

/// Predicts what the training set has of the same size and kernel with the closest channels.
std::vector<double> nearest(const MeasuredKernels& training, const MeasuredKernels& test) {
  std::vector<double> errors;
  for (std::size_t t = 0; t < test.latency_ms.size(); ++t) {
    const Configuration& wanted = test.configurations[t];
    double predicted = training.latency_ms.front(), closest = HUGE_VAL;
    for (std::size_t i = 0; i < training.latency_ms.size(); ++i) {
      const Configuration& c = training.configurations[i];
      const double distance =
          1e4 * std::abs(c[0] - wanted[0]) + 1e3 * std::abs(c[1] - wanted[1]) + std::abs(c[2] - wanted[2]);
      if (distance >= closest) continue;
      closest = distance;
      predicted = training.latency_ms[i];
    }
    errors.push_back(std::abs(predicted / test.latency_ms[t] - 1));
  }
  return errors;
}

AdaptiveOptions options() {
  AdaptiveOptions result;
  result.initial = 30;
  result.threshold = 0.03;
  return result;
}

TEST(AdaptiveSampling, SamplesUntilTheErrorIsUnderTheThreshold) {
  const AdaptiveSamples samples = sample_adaptively(some_space(), measure, nearest, options());
  ASSERT_GE(samples.errors.size(), 2U);
  EXPECT_GT(samples.errors.front(), 0.03);
  EXPECT_LE(samples.errors.back(), 0.03);
  AdaptiveOptions lenient = options();
  lenient.threshold = 10;
  EXPECT_EQ(sample_adaptively(some_space(), measure, nearest, lenient).errors.size(), 1U);
}

TEST(AdaptiveSampling, KeepsAllButTheChannelsOfWhatItSamplesAround) {
  const KernelSpace space = some_space();
  std::set<std::pair<int, int>> known;
  for (const int size : space.prior[0]) {
    for (const int kernel : space.prior[1]) known.emplace(size, kernel);
  }
  const AdaptiveSamples samples = sample_adaptively(space, measure, nearest, options());
  std::set<Configuration> all;
  for (const MeasuredKernels* kernels : {&samples.training, &samples.test}) {
    ASSERT_EQ(kernels->configurations.size(), kernels->latency_ms.size());
    for (const Configuration& c : kernels->configurations) {
      EXPECT_EQ(known.count({c[0], c[1]}), 1U);
      EXPECT_TRUE(all.insert(c).second) << "measured twice";
    }
  }
  EXPECT_GT(all.size(), 30U);
}

TEST(AdaptiveSampling, DrawsChannelsInThePapersRange) {
  // Around 24 and 64 channels are 9 to 28 and 25 to 76 (§5.2).
  std::vector<int> sizes(50);
  std::iota(sizes.begin(), sizes.end(), 1);
  const KernelSpace space = {{sizes, {24}, {64}}, {false, true, true}, {}};
  AdaptiveOptions many = options();
  many.around = 1000;
  many.most_rounds = 1;
  std::vector<Configuration> drawn;
  const auto record = [&](const std::vector<Configuration>& configurations) {
    drawn = configurations;
    return std::vector<double>(configurations.size(), 1.0);
  };
  const auto bad = [](const MeasuredKernels&, const MeasuredKernels& test) {
    return std::vector<double>(test.configurations.size(), 1.0);
  };
  sample_adaptively(space, record, bad, many);
  ASSERT_GT(drawn.size(), 500U);
  Configuration least = drawn.front(), most = least;
  for (const Configuration& c : drawn) {
    for (const std::size_t d : {1, 2}) {
      least[d] = std::min(least[d], c[d]);
      most[d] = std::max(most[d], c[d]);
    }
  }
  EXPECT_EQ(least, (Configuration{least[0], 9, 25}));
  EXPECT_EQ(most, (Configuration{most[0], 28, 76}));
}

TEST(AdaptiveSampling, IsTheSameForTheSameSeed) {
  const AdaptiveSamples one = sample_adaptively(some_space(), measure, nearest, options());
  const AdaptiveSamples again = sample_adaptively(some_space(), measure, nearest, options());
  EXPECT_EQ(one.training.configurations, again.training.configurations);
  EXPECT_EQ(one.errors, again.errors);
  AdaptiveOptions other = options();
  other.seed = 2;
  EXPECT_NE(sample_adaptively(some_space(), measure, nearest, other).training.configurations,
            one.training.configurations);
}

TEST(AdaptiveSampling, RefusedKernelsAreLeftOutAndListed) {
  const auto picky = [](const std::vector<Configuration>& configurations) {
    std::vector<double> latency_ms = measure(configurations);
    for (std::size_t i = 0; i < configurations.size(); ++i) {
      if (configurations[i][0] == 56) latency_ms[i] = std::nan("");
    }
    return latency_ms;
  };
  const AdaptiveSamples samples = sample_adaptively(some_space(), picky, nearest, options());
  EXPECT_FALSE(samples.refused.empty());
  for (const Configuration& c : samples.refused) EXPECT_EQ(c[0], 56);
  for (const Configuration& c : samples.training.configurations) EXPECT_NE(c[0], 56);
  const auto never = [](const std::vector<Configuration>& c) { return std::vector<double>(c.size(), std::nan("")); };
  EXPECT_THROW(sample_adaptively(some_space(), never, nearest, options()), InputError);
}

TEST(AdaptiveSampling, StaysInTheSpaceAndUnderItsLimit) {
  KernelSpace space = some_space();
  space.allowed = [](const Configuration& c) { return c[1] <= 3; };
  AdaptiveOptions limited = options();
  limited.most_kernels = 40;
  const AdaptiveSamples samples = sample_adaptively(space, measure, nearest, limited);
  EXPECT_LE(samples.training.latency_ms.size() + samples.test.latency_ms.size(), 40U);
  for (const Configuration& c : samples.training.configurations) EXPECT_LE(c[1], 3);
}

}  // namespace
}  // namespace tenshot::sampling
