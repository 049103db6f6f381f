#include "trainer/predictors/operators/latency_solver.h"

#include <cmath>

namespace tenshot::trainer::operators {
namespace {

constexpr double prior_spread = 0.2;  ///< of log latency under a library entry, roughly
constexpr double pi = 3.14159265358979323846;

structured::PosteriorOptions noise_options(const PosteriorOptions& options) {
  structured::PosteriorOptions noise;
  noise.student_freedom = options.student_freedom;
  noise.gross_share = options.gross_share;
  noise.gross_spread = options.gross_spread;
  return noise;
}

}  // namespace

LatencySolver::LatencySolver(const LatencyProblem& problem, const PosteriorOptions& options)
    : problem_(problem), options_(options), measurement_noise_(noise_options(options)) {}

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
  return {log_evidence(own_variance), slopes.cwiseProduct(weights_), residual_variance * weights_, slopes, noise_};
}

/// Gaussian evidence with each measurement's Gaussian in place, corrected by what the noise says of each error.
double LatencySolver::log_evidence(const Eigen::VectorXd& own_variance) const {
  const auto n = static_cast<double>(residual_.size());
  const double log_determinant = 2 * factor_.matrixLLT().diagonal().array().log().sum();
  double sum = -0.5 * (residual_.dot(weights_) + log_determinant + n * std::log(2 * pi));
  for (Eigen::Index i = 0; i < residual_.size(); ++i) {
    sum += std::log(measurement_noise_.at(error_[i], own_variance[i], 0).density) +
           0.5 * (std::log(2 * pi * noise_[i]) + error_[i] * error_[i] / noise_[i]);
  }
  return sum;
}

}  // namespace tenshot::trainer::operators
