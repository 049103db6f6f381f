#pragma once

#include <Eigen/Core>

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

}  // namespace tenshot::trainer::kernels
