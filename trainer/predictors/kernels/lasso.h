#pragma once

#include <Eigen/Core>
#include <optional>

namespace tenshot::trainer::kernels {

/// A line through standardised features whose weights are not negative (Li et al., 2024, Eq. 1):
/// latency = intercept + Σ weight · (feature − mean) / deviation.
struct Lasso {
  Eigen::VectorXd mean, deviation, weight;
  double intercept = 0;

  double predict(const Eigen::VectorXd& features) const;
};

/// Minimises (1/N) Σ ((f(x) − y) / y)² + α ‖w‖₁ over w ≥ 0 by coordinate descent; the intercept is free and
/// unpenalised. `features` is [N, k], y > 0. A feature that does not vary gets no weight. Where no α is given it is
/// that of 10⁻⁵, 10⁻⁴, …, 10² whose squared relative error over five folds of the rows is least: row i is of fold
/// i mod 5, so that rows in random order make random folds. There is at least one row.
Lasso fit_lasso(const Eigen::MatrixXd& features, const Eigen::VectorXd& latency_ms, std::optional<double> alpha = {});

}  // namespace tenshot::trainer::kernels
