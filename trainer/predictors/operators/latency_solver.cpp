#include "trainer/predictors/operators/latency_solver.h"

#include <cmath>

namespace tenshot::trainer::operators {
namespace {

constexpr double prior_spread = 0.2;  ///< of log latency under a library entry, roughly
constexpr double pi = 3.14159265358979323846;

}  // namespace

structured::MeasurementNoise measurement_noise_of(const PosteriorOptions& options) {
  structured::PosteriorOptions noise;
  noise.student_freedom = options.student_freedom;
  noise.gross_share = options.gross_share;
  noise.gross_spread = options.gross_spread;
  return structured::MeasurementNoise(noise);
}

LatencySolver::LatencySolver(const LatencyProblem& problem, const PosteriorOptions& options)
    : problem_(problem), options_(options), measurement_noise_(measurement_noise_of(options)) {}

LatencySolution LatencySolver::solve(const LatencyPrior& prior, double noise) {
  const Eigen::Index n = prior.mean.size();
  const double residual_variance = std::pow(options_.residual_share * noise, 2);
  const Eigen::VectorXd own_variance =
      problem_.clock_variance_ms2 * prior.mean.array().square().inverse() + noise * noise;
  Eigen::VectorXd latency = prior.mean, slopes;
  noise_ = own_variance;
  error_ = problem_.log_latency - latency.array().log().matrix();
  for (Eigen::Index i = 0; i < n; ++i) {  // what is far off already is not trusted from the start
    const double expected = own_variance[i] + prior_spread * prior_spread;
    noise_[i] *= measurement_noise_.at(error_[i], expected, 0).variance / expected;
  }
  for (int step = 0; step < options_.newton_steps; ++step) {
    latency = latency.cwiseMax(problem_.floor_ms);
    slopes = latency.cwiseInverse();
    system_ = prior.covariance.cwiseProduct(slopes * slopes.transpose()) + residual_variance * problem_.kernel;
    system_.diagonal() += noise_;
    residual_ = problem_.log_latency - latency.array().log().matrix() - slopes.cwiseProduct(prior.mean - latency);
    factor_.compute(system_);
    weights_ = factor_.solve(residual_);
    latency = prior.mean + prior.covariance * slopes.cwiseProduct(weights_);
    error_ = noise_.cwiseProduct(weights_);
    if (step + 1 == options_.newton_steps) break;
    for (Eigen::Index i = 0; i < n; ++i) noise_[i] = measurement_noise_.at(error_[i], own_variance[i], 0).variance;
  }
  return {log_evidence(measurement_noise_, factor_, residual_, weights_, error_, noise_, own_variance),
          slopes.cwiseProduct(weights_), residual_variance * weights_, slopes, noise_};
}

double log_evidence(const structured::MeasurementNoise& measurement_noise, const Eigen::LLT<Eigen::MatrixXd>& factor,
                    const Eigen::VectorXd& target, const Eigen::VectorXd& weights, const Eigen::VectorXd& error,
                    const Eigen::VectorXd& variance, const Eigen::VectorXd& own_variance) {
  const auto n = static_cast<double>(target.size());
  const double log_determinant = 2 * factor.matrixLLT().diagonal().array().log().sum();
  double sum = -0.5 * (target.dot(weights) + log_determinant + n * std::log(2 * pi));
  for (Eigen::Index i = 0; i < target.size(); ++i) {
    sum += std::log(measurement_noise.at(error[i], own_variance[i], 0).density) +
           0.5 * (std::log(2 * pi * variance[i]) + error[i] * error[i] / variance[i]);
  }
  return sum;
}

}  // namespace tenshot::trainer::operators
