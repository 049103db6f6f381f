#pragma once

#include <Eigen/Dense>
#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "trainer/core/archive_reader.h"
#include "trainer/predictors/kernels/latency_learner.h"

namespace tenshot::trainer::kernels {

/// A line through standardised features whose weights are not negative (Li et al., 2024, Eq. 1):
/// latency = intercept + Σ weight · (feature − mean) / deviation.
struct Lasso {
  Eigen::VectorXd mean, deviation, weight;
  double intercept = 0;
  double alpha = 0;  ///< of the penalty that was chosen

  double predict(const Eigen::VectorXd& features) const;
};

/// Minimises (1/N) Σ ((f(x) − y) / y)² + α ‖w‖₁ over w ≥ 0 by coordinate descent; the intercept is free and
/// unpenalised. `features` is [N, k], y > 0. A feature that does not vary gets no weight. Throws InputError where there
/// are no rows or a latency is not positive.
Lasso fit_lasso(const Eigen::MatrixXd& features, const Eigen::VectorXd& latency_ms, double alpha);

/// The penalty of 10⁻⁵, 10⁻⁴, …, 10² whose squared relative error over five folds of the rows is least, fitted to all
/// rows: row i is of fold i mod 5, so that rows in random order make random folds.
Lasso fit_lasso(const Eigen::MatrixXd& features, const Eigen::VectorXd& latency_ms);

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
