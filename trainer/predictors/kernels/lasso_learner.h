#pragma once

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "trainer/core/archive_reader.h"
#include "trainer/predictors/kernels/lasso.h"
#include "trainer/predictors/kernels/latency_learner.h"

namespace tenshot::trainer::kernels {

/// latency = max(least, intercept + Σ slope · feature).
class LassoLearner : public LatencyLearner {
 public:
  /// Of the first features; with that penalty, or without one with the best over five folds.
  LassoLearner(const LatencyRows& rows, std::size_t first_features, std::optional<double> alpha = {})
      : least_(*std::min_element(rows.latency_ms.begin(), rows.latency_ms.end())) {
    const auto count = static_cast<Eigen::Index>(rows.latency_ms.size());
    const auto width = static_cast<Eigen::Index>(first_features);
    Eigen::MatrixXd features(count, width);
    for (Eigen::Index i = 0; i < count; ++i) {
      features.row(i) = Eigen::Map<const Eigen::RowVectorXd>(rows.features[static_cast<std::size_t>(i)].data(), width);
    }
    const Eigen::Map<const Eigen::VectorXd> latency_ms(rows.latency_ms.data(), count);
    const Lasso lasso = alpha ? fit_lasso(features, latency_ms, *alpha) : fit_lasso(features, latency_ms);
    const Eigen::VectorXd slope = lasso.weight.cwiseQuotient(lasso.deviation);
    slope_.assign(slope.data(), slope.data() + width);
    intercept_ = lasso.intercept - slope.dot(lasso.mean);
  }
  LassoLearner(const Archive& archive, const std::string& name, const JsonField& card, std::size_t width)
      : slope_(checked_doubles(archive, name + ".slope", not_negative, width)),
        intercept_(card.at("intercept").number(any_number)),
        least_(card.at("least_ms").number(positive)) {}
  double predict_ms(const std::vector<double>& features) const override {
    return std::max(std::inner_product(slope_.begin(), slope_.end(), features.begin(), intercept_), least_);
  }
  nlohmann::json put(Archive& archive, const std::string& name) const override {
    archive.put(name + ".slope", to_array(slope_, {static_cast<std::int64_t>(slope_.size())}));
    return {{"form", "lasso"}, {"intercept", intercept_}, {"least_ms", least_}};
  }
  nlohmann::json to_document() const override {
    return {{"slope", slope_}, {"intercept", intercept_}, {"least_ms", least_}};
  }

 private:
  std::vector<double> slope_;
  double intercept_ = 0, least_;
};

}  // namespace tenshot::trainer::kernels
