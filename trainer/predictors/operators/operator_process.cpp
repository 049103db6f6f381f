#include "trainer/predictors/operators/operator_process.h"

#include <Eigen/Cholesky>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "nasbench/support/median.h"
#include "trainer/predictors/operators/operator_times.h"

namespace tenshot::trainer::operators {
namespace {

using Eigen::Index;

/// How far operators of different groups or functions are apart, in units of the other coordinates' spreads.
constexpr double group_distance = 1.5;
constexpr double function_distance = 1.5;
/// The spreads of tree_features() from the third on, over the operators of published networks.
constexpr std::array<double, 10> spreads = {1.4, 1.3, 0.8, 2.7, 1.9, 3.2, 10.5, 2.6, 2.8, 7.9};
constexpr Index functions = 64;  ///< more than the numbers of kinds and functions in tree_features()

constexpr double length = 4;           ///< over which operators of like shapes take like times
constexpr double linear_spread = 1.2;  ///< of the sum of the weights that other devices' log times have
constexpr std::array<double, 4> rests = {0.3, 0.6, 1, 1.5};  ///< tried in turn
constexpr std::array<double, 3> noises = {0.05, 0.1, 0.2};   ///< tried in turn: standard deviations of a log time

double matern(double distance) {
  const double scaled = std::sqrt(3.0) * distance / length;
  return (1 + scaled) * std::exp(-scaled);
}

}  // namespace

Eigen::VectorXd shape_coordinates(const nasbench::OperatorSpecification& operation) {
  const std::vector<float> features = tree_features(operation);
  const auto groups = static_cast<Index>(timed_group_count());
  Eigen::VectorXd point = Eigen::VectorXd::Zero(groups + functions + static_cast<Index>(spreads.size()));
  const auto group = static_cast<Index>(features[0]), function = static_cast<Index>(features[1]);
  if (group < groups) point[group] = group_distance;
  if (function < functions) point[groups + function] = function_distance;
  for (std::size_t f = 0; f < spreads.size(); ++f) {
    point[groups + functions + static_cast<Index>(f)] = features[f + 2] / spreads[f];
  }
  return point;
}

OperatorProcess::OperatorProcess(OperatorPoints timed, const Eigen::VectorXd& log_ms) : timed_(std::move(timed)) {
  mean_ = median({log_ms.data(), log_ms.data() + log_ms.size()});
  const Eigen::VectorXd centred = log_ms.array() - mean_;
  double best = -std::numeric_limits<double>::infinity();
  for (const double rest : rests) {
    const Eigen::MatrixXd shared = covariance(timed_, timed_, rest);
    for (const double noise : noises) {
      Eigen::MatrixXd system = shared;
      system.diagonal().array() += noise * noise;
      const Eigen::LLT<Eigen::MatrixXd> factor(system);
      const Eigen::VectorXd weights = factor.solve(centred);
      const double evidence =
          -0.5 * centred.dot(weights) - factor.matrixLLT().diagonal().array().log().sum();  // but for a constant
      if (!(evidence > best)) continue;
      best = evidence;
      rest_ = rest;
      weights_ = weights;
    }
  }
}

Eigen::MatrixXd OperatorProcess::covariance(const OperatorPoints& a, const OperatorPoints& b, double rest) const {
  const Eigen::VectorXd of_a = a.shapes.rowwise().squaredNorm(), of_b = b.shapes.rowwise().squaredNorm();
  Eigen::MatrixXd covariance = -2 * a.shapes * b.shapes.transpose();
  covariance.colwise() += of_a;
  covariance.rowwise() += of_b.transpose();
  covariance =
      covariance.unaryExpr([rest](double squared) { return rest * rest * matern(std::sqrt(std::max(squared, 0.0))); });
  covariance += linear_spread * linear_spread * a.elsewhere * b.elsewhere.transpose();
  return covariance.array() + 1;  // the level
}

Eigen::VectorXd OperatorProcess::predict(const OperatorPoints& operators) const {
  return (covariance(operators, timed_, rest_) * weights_).array() + mean_;
}

}  // namespace tenshot::trainer::operators
