#include "trainer/predictors/kernels/lasso.h"

#include <cmath>

#include "nasbench/support/numbers_below.h"

namespace tenshot::trainer::kernels {
namespace {

constexpr std::size_t folds = 5;
constexpr int most_sweeps = 2000;
constexpr double tolerance = 1e-9;  ///< of a change of the prediction, relative to the latency

double best_alpha(const Eigen::MatrixXd& features, const Eigen::VectorXd& latency_ms) {
  double best = 1e-3, least = HUGE_VAL;
  for (int exponent = -5; exponent <= 2 && features.rows() >= static_cast<Eigen::Index>(folds); ++exponent) {
    const double alpha = std::pow(10.0, exponent);
    double error = 0;
    for (std::size_t fold = 0; fold < folds; ++fold) {
      const auto rows = static_cast<std::size_t>(features.rows());
      const auto others = numbers_of_fold(rows, fold, folds, false);
      const Lasso lasso = fit_lasso(features(others, Eigen::all), latency_ms(others), alpha);
      double of_fold = 0;
      for (std::size_t i = fold; i < rows; i += folds) {
        const auto row = static_cast<Eigen::Index>(i);
        of_fold += std::pow(lasso.predict(features.row(row)) / latency_ms[row] - 1, 2);
      }
      error += of_fold;
    }
    if (error < least) {
      least = error;
      best = alpha;
    }
  }
  return best;
}

}  // namespace

double Lasso::predict(const Eigen::VectorXd& features) const {
  return intercept + ((features - mean).array() / deviation.array() * weight.array()).sum();
}

Lasso fit_lasso(const Eigen::MatrixXd& features, const Eigen::VectorXd& latency_ms, std::optional<double> alpha) {
  const Eigen::Index n = features.rows(), k = features.cols();
  const double shrinkage = (alpha ? *alpha : best_alpha(features, latency_ms)) * static_cast<double>(n) / 2;
  Lasso lasso;
  lasso.mean = features.colwise().mean();
  lasso.deviation =
      ((features.rowwise() - lasso.mean.transpose()).array().square().colwise().sum() / static_cast<double>(n)).sqrt();
  const Eigen::ArrayXd scale = lasso.mean.array().abs().max(1e-12);
  lasso.deviation = (lasso.deviation.array() > 1e-9 * scale).select(lasso.deviation, HUGE_VAL);
  lasso.weight = Eigen::VectorXd::Zero(k);

  // In units of the latency: rows x/y, the intercept's column 1/y, and the target 1.
  const Eigen::VectorXd inverse = latency_ms.cwiseInverse();
  Eigen::MatrixXd x =
      (features.rowwise() - lasso.mean.transpose()).array().rowwise() / lasso.deviation.transpose().array();
  x = x.array().colwise() * inverse.array();
  const Eigen::VectorXd squares = x.colwise().squaredNorm();
  const double inverse_squares = inverse.squaredNorm();
  Eigen::VectorXd residual = Eigen::VectorXd::Ones(n);
  for (int sweep = 0; sweep < most_sweeps; ++sweep) {
    const double shift = inverse.dot(residual) / inverse_squares;
    lasso.intercept += shift;
    residual -= shift * inverse;
    double change = std::abs(shift) * inverse.maxCoeff();
    for (Eigen::Index j = 0; j < k; ++j) {
      if (!(squares[j] > 0)) continue;
      const double best = lasso.weight[j] + (x.col(j).dot(residual) - shrinkage) / squares[j];
      const double step = std::max(best, 0.0) - lasso.weight[j];
      if (step == 0) continue;
      lasso.weight[j] += step;
      residual -= step * x.col(j);
      change = std::max(change, std::abs(step) * x.col(j).cwiseAbs().maxCoeff());
    }
    if (change < tolerance) break;
  }
  return lasso;
}

}  // namespace tenshot::trainer::kernels
