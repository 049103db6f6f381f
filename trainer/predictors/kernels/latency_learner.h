#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "trainer/core/archive.h"

namespace tenshot::trainer::kernels {

/// Predicts the latency of operators of one kind from their features.
class LatencyLearner {
 public:
  virtual ~LatencyLearner() = default;
  /// Milliseconds, over 0.
  virtual double predict_ms(const std::vector<double>& features) const = 0;
  /// Keeps it in a file: adds arrays whose names begin with `name`, and returns what the card says of it, "form" among
  /// it; load_learner() reads both back.
  virtual nlohmann::json put(Archive& archive, const std::string& name) const = 0;
  /// The same as plain numbers.
  virtual nlohmann::json to_document() const = 0;
  /// What training has to say; may be empty.
  virtual std::string remark() const { return ""; }
};

/// Rows of one kind of operator.
struct LatencyRows {
  std::vector<std::vector<double>> features;
  std::vector<double> latency_ms;  ///< positive
};

/// The rows whose number is (or is not) `fold` modulo the number of folds.
LatencyRows of_fold(const LatencyRows& rows, std::size_t fold, std::size_t folds, bool inside);

}  // namespace tenshot::trainer::kernels
