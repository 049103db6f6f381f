#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace tenshot::sampling {

/// One kernel: a value for each dimension of its space, such as {56, 3, 1, 24, 64} for input size, kernel size, stride,
/// input channels and output channels.
using Configuration = std::vector<int>;

/// What kernels may look like. Zhang et al. (MobiSys 2021, §5.2) take it from the networks of a model zoo.
struct KernelSpace {
  /// [dimension] values as often as the zoo has them: the prior distribution P. Dimensions are drawn independently.
  std::vector<std::vector<int>> prior;
  /// [dimension] whether fine-grained sampling draws it anew (channels), or keeps it (all else).
  std::vector<bool> fine;
  /// Whether a configuration makes sense, a window that fits its image for one. Empty: all do.
  std::function<bool(const Configuration&)> allowed;
};

/// The options of Algorithm 2.
struct AdaptiveOptions {
  std::size_t initial = 10'000;        ///< N, drawn from the prior: more cover more of it
  std::size_t around = 10;             ///< M, drawn around each configuration with a large error
  double threshold = 0.1;              ///< e: done once the mean relative error on the test set is no larger
  std::size_t most_rounds = 20;        ///< rounds of fine-grained sampling
  std::size_t most_kernels = 100'000;  ///< measured in all
  std::uint64_t seed = 1;
};

/// Latencies of configurations, in their order; NaN where a runtime refuses one.
using MeasureKernels = std::function<std::vector<double>(const std::vector<Configuration>&)>;

struct MeasuredKernels {
  std::vector<Configuration> configurations;
  std::vector<double> latency_ms;
};

/// Trains on the first and gives the relative error |predicted − measured| / measured of each of the second.
using TestLearner = std::function<std::vector<double>(const MeasuredKernels& training, const MeasuredKernels& test)>;

struct AdaptiveSamples {
  MeasuredKernels training, test;
  std::vector<Configuration> refused;
  std::vector<double>
      errors;  ///< mean relative error on the test set, before fine-grained sampling and after each round
};

/// Adaptive data sampling (Zhang et al., MobiSys 2021, Algorithm 2): N configurations of the prior; then, as long as
/// the error is over the threshold, M around each configuration of the test set whose error is. No configuration is
/// measured twice. The same seed and measurements give the same samples. Throws InputError where no
/// kernel could be measured.
AdaptiveSamples sample_adaptively(const KernelSpace& space, const MeasureKernels& measure, const TestLearner& learner,
                                  const AdaptiveOptions& options);

}  // namespace tenshot::sampling
