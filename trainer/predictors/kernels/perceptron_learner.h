#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "trainer/core/archive_reader.h"
#include "trainer/networks/feed_forward.h"
#include "trainer/predictors/kernels/latency_learner.h"

namespace tenshot::trainer::kernels {

/// Hidden layers over standardised features (Li et al., 2024, §4.2); latencies are in units of their mean.
class PerceptronLearner : public LatencyLearner {
 public:
  struct Options {
    int layers = 2;  ///< hidden ones
    int width = 64;
    double learning_rate = 5e-3;
    double weight_decay = 0;
    std::uint64_t seed = 1;
  };
  /// A fifth of the rows says when to stop.
  PerceptronLearner(const LatencyRows& rows, const Options& options);
  /// From what put() kept. Throws FormatError.
  PerceptronLearner(const Archive& archive, const std::string& name, const JsonField& card, std::size_t width);

  double predict_ms(const std::vector<double>& features) const override;
  nlohmann::json put(Archive& archive, const std::string& name) const override;
  nlohmann::json to_document() const override;

  double error() const { return error_; }  ///< mean squared relative one on the fifth

 private:
  void standardise(const LatencyRows& rows);
  std::vector<float> standardised(const std::vector<double>& features) const;
  std::vector<float> inputs_of(const LatencyRows& rows) const;
  double error_of(const std::vector<float>& predicted, const std::vector<double>& latency_ms) const;
  void train(const LatencyRows& training, const LatencyRows& held_out, const Options& options);

  std::vector<double> mean_, deviation_;  ///< of each feature; a deviation of 0 leaves out one that never varied
  FeedForward network_;
  double error_ = 0;
};

/// The best of two widths and two learning rates of two layers without weight decay, or of all that the paper names.
std::unique_ptr<PerceptronLearner> best_perceptron(const LatencyRows& rows, std::uint64_t seed, bool of_all);

}  // namespace tenshot::trainer::kernels
