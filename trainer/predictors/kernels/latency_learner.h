#pragma once

#include <vector>

namespace tenshot::trainer::kernels {

/// Predicts the latency of operators of one kind from their features.
class LatencyLearner {
 public:
  virtual ~LatencyLearner() = default;
  /// Milliseconds, over 0.
  virtual double predict_ms(const std::vector<double>& features) const = 0;
};

/// Rows of one kind of operator.
struct LatencyRows {
  std::vector<std::vector<double>> features;
  std::vector<double> latency_ms;  ///< positive
};

}  // namespace tenshot::trainer::kernels
