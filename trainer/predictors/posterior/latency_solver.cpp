#include "trainer/predictors/posterior/latency_solver.h"

#include <cmath>

#include "nasbench/support/error.h"
#include "nasbench/support/median.h"
#include "nasbench/support/numbers.h"

namespace tenshot::trainer {
namespace {

constexpr double prior_spread = 0.2;  ///< of log latency under a library entry, roughly
constexpr double pi = 3.14159265358979323846;

}  // namespace

LatencyProblem latency_problem(const std::vector<double>& latency_ms, bool whole_milliseconds) {
  const Eigen::Map<const Eigen::VectorXd> latency(latency_ms.data(), static_cast<Eigen::Index>(latency_ms.size()));
  return {latency.array().log(), whole_milliseconds ? 1.0 / 12 : 0, floor_share * latency.minCoeff(), {}};
}

void require_latencies(std::size_t networks, const std::vector<double>& latency_ms, const std::string& network) {
  if (latency_ms.empty()) throw InputError("no measured " + network + ": expected at least one");
  if (networks != latency_ms.size()) {
    throw InputError(std::to_string(networks) + " " + network + "s with " + std::to_string(latency_ms.size()) +
                     " latencies: expected as many");
  }
  for (const double latency : latency_ms) {
    if (std::isfinite(latency) && latency > 0) continue;
    throw InputError("measured latency " + shortest(latency) + " ms: expected a finite, positive number");
  }
}

double scale_of(const Eigen::VectorXd& relative, const Eigen::VectorXd& log_latency) {
  const Eigen::VectorXd log_ratio = log_latency - relative.array().log().matrix();
  return std::exp(median({log_ratio.data(), log_ratio.data() + log_ratio.size()}));
}

LatencyPrior latency_prior(const Eigen::VectorXd& relative, double scale_ms, const Eigen::MatrixXd& covariance,
                           double closeness) {
  LatencyPrior prior = {scale_ms, scale_ms * relative, {}};
  prior.covariance = std::pow(closeness * scale_ms, 2) * covariance + prior.mean * prior.mean.transpose();
  return prior;
}

Eigen::MatrixXd LatencySolution::log_covariance(const Eigen::MatrixXd& of_costs, const LatencyProblem& problem) const {
  Eigen::MatrixXd covariance = of_costs + residual_variance * problem.kernel;
  covariance.diagonal() += noise_variance;
  return covariance;
}

Eigen::VectorXd own_variance(const LatencyProblem& problem, const Eigen::VectorXd& latency_ms,
                             const NoiseLevel& level) {
  return problem.clock_variance_ms2 * latency_ms.array().square().inverse() + level.noise * level.noise;
}

LatencySolver::LatencySolver(const LatencyProblem& problem, const MixtureOptions& options)
    : problem_(problem), options_(options), errors_(options) {}

LatencySolution LatencySolver::solve(const LatencyPrior& prior, const NoiseLevel& level) {
  const double residual_variance = std::pow(options_.residual_share * level.noise, 2);
  Eigen::VectorXd latency = prior.mean, slopes;
  errors_.begin(own_variance(problem_, prior.mean, level), level.slow_step);
  errors_.distrust(problem_.log_latency - latency.array().log().matrix(), prior_spread);
  for (int step = 0; step < options_.newton_steps; ++step) {
    if (step > 0) errors_.weigh();
    latency = latency.cwiseMax(problem_.floor_ms);
    slopes = latency.cwiseInverse();
    system_ = prior.covariance.cwiseProduct(slopes * slopes.transpose()) + residual_variance * problem_.kernel;
    system_.diagonal() += errors_.variance;
    target_ = problem_.log_latency - errors_.shift - latency.array().log().matrix() -
              slopes.cwiseProduct(prior.mean - latency);
    factor_.compute(system_);
    weights_ = factor_.solve(target_);
    latency = prior.mean + prior.covariance * slopes.cwiseProduct(weights_);
    errors_.error = errors_.shift + errors_.variance.cwiseProduct(weights_);
  }
  return {log_evidence(factor_, target_, weights_, errors_),
          slopes.cwiseProduct(weights_),
          residual_variance * weights_,
          slopes,
          errors_.variance,
          residual_variance};
}

double log_evidence(const Eigen::LLT<Eigen::MatrixXd>& factor, const Eigen::VectorXd& target,
                    const Eigen::VectorXd& weights, const MeasurementErrors& errors) {
  const double log_determinant = 2 * factor.matrixLLT().diagonal().array().log().sum();
  const auto n = static_cast<double>(target.size());
  return errors.corrected(-0.5 * (target.dot(weights) + log_determinant + n * std::log(2 * pi)));
}

}  // namespace tenshot::trainer
