#include <algorithm>
#include <cmath>
#include <numeric>

#include "nasbench/support/numbers_below.h"
#include "nasbench/support/random.h"
#include "trainer/core/libtorch.h"
#include "trainer/networks/feed_forward.h"
#include "trainer/networks/regression_network.h"
#include "trainer/predictors/kernels/learners.h"

namespace tenshot::trainer::kernels {
namespace {

struct PerceptronOptions {
  int layers;  ///< hidden ones
  int width;
  double learning_rate, weight_decay;
  std::uint64_t seed;
};

/// Hidden layers over standardised features (Li et al., 2024, §4.2); latencies are in units of their mean.
class PerceptronLearner : public LatencyLearner {
 public:
  /// A fifth of the rows says when to stop.
  PerceptronLearner(const LatencyRows& rows, const PerceptronOptions& options) {
    const std::size_t count = rows.latency_ms.size();
    network_.scale_ms =
        std::accumulate(rows.latency_ms.begin(), rows.latency_ms.end(), 0.0) / static_cast<double>(count);
    network_.floor_ms = *std::min_element(rows.latency_ms.begin(), rows.latency_ms.end());
    standardise(rows);
    const LatencyRows training = of_fold(rows, 0, 5, false), held_out = of_fold(rows, 0, 5, true);
    train(count > 1 ? training : rows, held_out, options);
  }
  PerceptronLearner(const Archive& archive, const std::string& name, const JsonField& card, std::size_t width)
      : mean_(checked_doubles(archive, name + ".mean", any_number, width)),
        deviation_(checked_doubles(archive, name + ".deviation", not_negative, width)),
        network_{get_layers(archive, name + ".layer", width), card.at("scale_ms").number(positive),
                 card.at("floor_ms").number(positive)} {}

  double predict_ms(const std::vector<double>& features) const override {
    const double answer = evaluate_layers(network_.layers, standardised({features})).front();
    return std::max(answer * network_.scale_ms, network_.floor_ms);
  }
  nlohmann::json put(Archive& archive, const std::string& name) const override {
    archive.put(name + ".mean", to_array(mean_));
    archive.put(name + ".deviation", to_array(deviation_));
    put_layers(archive, name + ".layer", network_.layers);
    return {{"form", "perceptron"}, {"scale_ms", network_.scale_ms}, {"floor_ms", network_.floor_ms}};
  }
  nlohmann::json to_document() const override {
    return {{"mean", mean_}, {"deviation", deviation_}, {"network", trainer::to_document(network_)}};
  }
  double error() const { return error_; }  ///< mean squared relative one on the fifth

 private:
  void standardise(const LatencyRows& rows) {
    const auto count = static_cast<double>(rows.latency_ms.size());
    mean_.assign(rows.features.front().size(), 0);
    deviation_ = mean_;
    for (const std::vector<double>& row : rows.features) {
      for (std::size_t j = 0; j < row.size(); ++j) mean_[j] += row[j] / count;
    }
    for (const std::vector<double>& row : rows.features) {
      for (std::size_t j = 0; j < row.size(); ++j) deviation_[j] += std::pow(row[j] - mean_[j], 2) / count;
    }
    // A feature that is the same in all rows varies by rounding alone, and says nothing of rows where it is another.
    constexpr double rounding = 1e-9;
    for (std::size_t j = 0; j < mean_.size(); ++j) {
      const double deviation = std::sqrt(deviation_[j]);
      deviation_[j] = deviation > rounding * std::abs(mean_[j]) ? deviation : 0;
    }
  }

  std::vector<float> standardised(const std::vector<std::vector<double>>& rows) const {
    std::vector<float> inputs;
    for (const std::vector<double>& row : rows) {
      for (std::size_t j = 0; j < row.size(); ++j) {
        inputs.push_back(deviation_[j] > 0 ? static_cast<float>((row[j] - mean_[j]) / deviation_[j]) : 0.0F);
      }
    }
    return inputs;
  }

  double error_of(const std::vector<float>& predicted, const std::vector<double>& latency_ms) const {
    double sum = 0;
    for (std::size_t i = 0; i < predicted.size(); ++i) {
      sum += std::pow(std::max(predicted[i] * network_.scale_ms, network_.floor_ms) / latency_ms[i] - 1, 2);
    }
    return sum / static_cast<double>(predicted.size());
  }

  void train(const LatencyRows& training, const LatencyRows& held_out, const PerceptronOptions& options) {
    constexpr int most_epochs = 400, patience = 50;  // Li et al., §4.2: stop after 50 epochs without improvement
    constexpr std::size_t batch = 128;
    const std::vector<float> inputs = standardised(training.features), tests = standardised(held_out.features);
    const std::size_t width = mean_.size(), count = training.latency_ms.size();
    const std::vector<int> hidden(static_cast<std::size_t>(options.layers), options.width);
    RegressionNetwork network(static_cast<int>(width), hidden, options.seed);
    std::vector<std::size_t> order = numbers_below(count);
    Rng rng(options.seed, 1);
    error_ = HUGE_VAL;
    for (int epoch = 0, last = 0; epoch < most_epochs && epoch - last < patience; ++epoch) {
      rng.shuffle(order);
      for (std::size_t begin = 0; begin < count; begin += batch) {
        TrainingSet step;
        step.width = static_cast<int>(width);
        for (std::size_t i = begin; i < std::min(begin + batch, count); ++i) {
          const auto from = inputs.begin() + static_cast<std::ptrdiff_t>(order[i] * width);
          step.inputs.insert(step.inputs.end(), from, from + static_cast<std::ptrdiff_t>(width));
          step.targets.push_back(static_cast<float>(training.latency_ms[order[i]] / network_.scale_ms));
        }
        step.units = step.targets;
        network.train_step(step, options.learning_rate, options.weight_decay);
      }
      const double error = error_of(network.evaluate(tests), held_out.latency_ms);
      if (!(error < error_)) continue;
      error_ = error;
      network_.layers = network.layers();
      last = epoch;
    }
    if (network_.layers.empty()) network_.layers = network.layers();
  }

  std::vector<double> mean_, deviation_;  ///< of each feature; a deviation of 0 leaves out one that never varied
  FeedForward network_;
  double error_ = 0;
};

}  // namespace

std::unique_ptr<LatencyLearner> best_perceptron(const LatencyRows& rows, std::uint64_t seed, bool of_all) {
  const LibTorchThreads threads(1);  // the layers are small, and the same seed gives the same bytes
  std::unique_ptr<PerceptronLearner> best;
  for (const int layers : of_all ? std::vector<int>{1, 2, 3, 4, 5, 6} : std::vector<int>{2}) {
    for (const int width : of_all ? std::vector<int>{64, 128, 256, 512} : std::vector<int>{64, 128}) {
      for (const double rate : of_all ? std::vector<double>{5e-3, 5e-4, 5e-5} : std::vector<double>{5e-3, 5e-4}) {
        for (const double decay : of_all ? std::vector<double>{1e-3, 1e-4, 1e-5} : std::vector<double>{0}) {
          auto learner = std::make_unique<PerceptronLearner>(rows, PerceptronOptions{layers, width, rate, decay, seed});
          if (best == nullptr || learner->error() < best->error()) best = std::move(learner);
        }
      }
    }
  }
  return best;
}

std::unique_ptr<LatencyLearner> load_perceptron(const Archive& archive, const std::string& name, const JsonField& card,
                                                std::size_t width) {
  return std::make_unique<PerceptronLearner>(archive, name, card, width);
}

}  // namespace tenshot::trainer::kernels
