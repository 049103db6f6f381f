#include "sampling/operators/adaptive_sampling.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "nasbench/support/error.h"
#include "nasbench/support/random.h"

namespace tenshot::sampling {
namespace {

constexpr double test_share = 0.2;  ///< of new configurations, that goes into the test set: against overfitting
/// Factors of a configuration's channels, for those around it.
constexpr double smallest_channels = 0.4, largest_channels = 1.2;

class AdaptiveSampler {
 public:
  AdaptiveSampler(const KernelSpace& space, const MeasureKernels& measure, const TestLearner& learner,
                  const AdaptiveOptions& options)
      : space_(space), measure_(measure), learner_(learner), options_(options), rng_(options.seed) {}

  AdaptiveSamples run() {
    keep_measured(drawn_from_prior());
    if (samples_.training.latency_ms.empty() || samples_.test.latency_ms.empty()) {
      throw InputError(
          "adaptive sampling has no kernels to learn from or to test on: " + std::to_string(samples_.refused.size()) +
          " of " + std::to_string(seen_.size()) + " were refused");
    }
    std::vector<double> errors = test();
    for (std::size_t round = 0; round < options_.most_rounds && samples_.errors.back() > options_.threshold; ++round) {
      const std::vector<Configuration> around = drawn_around(errors);
      if (around.empty()) break;
      keep_measured(around);
      errors = test();
    }
    return std::move(samples_);
  }

 private:
  bool is_new(const Configuration& configuration) {
    if (seen_.size() >= options_.most_kernels) return false;
    if (space_.allowed && !space_.allowed(configuration)) return false;
    return seen_.insert(configuration).second;
  }

  std::vector<Configuration> drawn_from_prior() {
    std::vector<Configuration> drawn;
    // Spaces may have fewer configurations than are wanted.
    for (std::size_t tries = 0; drawn.size() < options_.initial && tries < 20 * options_.initial; ++tries) {
      Configuration configuration;
      for (const std::vector<int>& values : space_.prior) configuration.push_back(values[rng_.below(values.size())]);
      if (is_new(configuration)) drawn.push_back(configuration);
    }
    return drawn;
  }

  /// FineGrainedSample: the test set's configurations whose errors are large, with other channels.
  std::vector<Configuration> drawn_around(const std::vector<double>& errors) {
    std::vector<Configuration> drawn;
    for (std::size_t i = 0; i < errors.size(); ++i) {
      if (errors[i] <= options_.threshold) continue;
      for (std::size_t m = 0; m < options_.around; ++m) {
        Configuration configuration = samples_.test.configurations[i];
        for (std::size_t d = 0; d < configuration.size(); ++d) {
          if (!space_.fine[d]) continue;
          const int least = std::max(1, static_cast<int>(std::floor(smallest_channels * configuration[d])));
          const int most = std::max(least, static_cast<int>(std::floor(largest_channels * configuration[d])));
          configuration[d] = least + static_cast<int>(rng_.below(static_cast<std::uint64_t>(most - least) + 1));
        }
        if (is_new(configuration)) drawn.push_back(configuration);
      }
    }
    return drawn;
  }

  void keep_measured(const std::vector<Configuration>& configurations) {
    const std::vector<double> latency_ms = measure_(configurations);
    for (std::size_t i = 0; i < configurations.size(); ++i) {
      if (!(latency_ms[i] > 0)) {
        samples_.refused.push_back(configurations[i]);
        continue;
      }
      bool tests = rng_.uniform() < test_share;
      if (samples_.test.latency_ms.empty()) tests = true;  // of both sets there is one kernel at least
      if (samples_.training.latency_ms.empty()) tests = false;
      MeasuredKernels& to = tests ? samples_.test : samples_.training;
      to.configurations.push_back(configurations[i]);
      to.latency_ms.push_back(latency_ms[i]);
    }
  }

  std::vector<double> test() {
    std::vector<double> errors = learner_(samples_.training, samples_.test);
    const double sum = std::accumulate(errors.begin(), errors.end(), 0.0);
    samples_.errors.push_back(sum / static_cast<double>(errors.size()));
    return errors;
  }

  const KernelSpace& space_;
  const MeasureKernels& measure_;
  const TestLearner& learner_;
  const AdaptiveOptions& options_;
  Rng rng_;
  std::set<Configuration> seen_;
  AdaptiveSamples samples_;
};

}  // namespace

AdaptiveSamples sample_adaptively(const KernelSpace& space, const MeasureKernels& measure, const TestLearner& learner,
                                  const AdaptiveOptions& options) {
  return AdaptiveSampler(space, measure, learner, options).run();
}

}  // namespace tenshot::sampling
