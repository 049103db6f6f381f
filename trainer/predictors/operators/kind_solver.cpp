#include "trainer/predictors/operators/kind_solver.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "nasbench/support/median.h"

namespace tenshot::trainer::operators {
namespace {

constexpr double longest_move = 1.5;     ///< of a log cost in one step
constexpr double speed_variance = 0.25;  ///< of a device's log speed, beside what its kind's devices show

}  // namespace

KindSolution solve(const KindView& view, const LatencyProblem& problem, double noise, const PosteriorOptions& options) {
  const double residual_variance = std::pow(options.residual_share * noise, 2);
  const Eigen::VectorXd latency_ms = problem.log_latency.array().exp();
  MeasurementErrors errors(options, own_variance(problem, latency_ms, {noise}), 0);
  const Eigen::VectorXd& expected = view.kind->log_costs;
  const Eigen::MatrixXd covariance = view.kind->covariance.array() + speed_variance;
  const Eigen::MatrixXd residual_covariance =
      view.residual_factor * view.residual_factor.transpose() + residual_variance * problem.kernel;

  KindSolution solution;
  Eigen::VectorXd& log_costs = solution.log_costs;
  log_costs = expected;
  Eigen::VectorXd target;
  Eigen::MatrixXd gain, system;
  Eigen::LLT<Eigen::MatrixXd> factor;
  const Eigen::VectorXd first = problem.log_latency -
                                (view.features * expected.array().exp().matrix()).array().max(1e-300).log().matrix() -
                                view.residual;
  log_costs.array() += median({first.data(), first.data() + first.size()});
  const int steps = 2 * options.newton_steps;
  for (int step = 0; step < steps; ++step) {
    const Eigen::MatrixXd terms = view.features * log_costs.array().exp().matrix().asDiagonal();
    const Eigen::VectorXd latency = terms.rowwise().sum();
    const Eigen::MatrixXd slopes = latency.cwiseInverse().asDiagonal() * terms;
    target = problem.log_latency - latency.array().log().matrix() - view.residual + slopes * (log_costs - expected);
    gain = covariance * slopes.transpose();
    system = slopes * gain + residual_covariance;
    system.diagonal() += errors.variance;
    factor.compute(system);
    solution.weights = factor.solve(target);
    const Eigen::VectorXd move = expected + gain * solution.weights - log_costs;
    const double largest = move.cwiseAbs().maxCoeff();
    log_costs += move * std::min(1.0, longest_move / std::max(largest, 1e-9));
    errors.error = errors.variance.cwiseProduct(solution.weights);
    if (step + 1 == steps || (step > 2 && largest < 1e-3)) break;
    errors.weigh();
  }
  solution.covariance = covariance - gain * factor.solve(gain.transpose());
  solution.residual_weights = residual_variance * solution.weights;
  solution.log_evidence = log_evidence(factor, target, solution.weights, errors);
  return solution;
}

}  // namespace tenshot::trainer::operators
