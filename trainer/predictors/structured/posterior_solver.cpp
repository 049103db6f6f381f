#include "trainer/predictors/structured/posterior_solver.h"

#include <cmath>

namespace tenshot::trainer::structured {
namespace {

constexpr double prior_spread = 0.2;  ///< of log latency under a library entry, roughly
constexpr double pi = 3.14159265358979323846;

double log_normal(double error, double variance) {
  return -0.5 * (std::log(2 * pi * variance) + error * error / variance);
}
constexpr double smallest_density = 1e-300;

}  // namespace

MeasurementNoise::MeasurementNoise(const PosteriorOptions& options)
    : nu_(options.student_freedom),
      slow_share_(options.slow_share),
      gross_share_(options.gross_share),
      gross_precision_(1 / (options.gross_spread * options.gross_spread)),
      gross_density_(gross_share_ / (options.gross_spread * std::sqrt(2 * pi))) {
  usual_density_ = (1 - gross_share_) / std::sqrt(2 * pi);
  if (nu_ > 0) {
    usual_density_ =
        (1 - gross_share_) * std::exp(std::lgamma((nu_ + 1) / 2) - std::lgamma(nu_ / 2)) / std::sqrt(nu_ * pi);
  }
}

MeasurementNoise::View MeasurementNoise::at(double error, double variance, double slow_step) const {
  const double deviation = std::sqrt(variance);
  const double squared = error * error / variance;
  double density = usual_density_ * shape(squared) / deviation + smallest_density;
  double precision = density * precision_at(squared) / variance;  // precisions are weighted by densities throughout
  double pulled = 0;
  if (slow_step > 0) {
    const double from_slow = error - slow_step;
    const double slow_squared = from_slow * from_slow / variance;
    const double slow_density = slow_share_ * usual_density_ * shape(slow_squared) / deviation;
    const double slow_precision = slow_density * precision_at(slow_squared) / variance;
    density = (1 - slow_share_) * density + slow_density;
    precision = (1 - slow_share_) * precision + slow_precision;
    pulled = slow_precision * slow_step;
  }
  if (gross_share_ > 0) {
    const double gross = gross_density_ * std::exp(-0.5 * error * error * gross_precision_);
    density += gross;
    precision += gross * gross_precision_;
  }
  return {density / precision, density, pulled / precision};
}

/// The density's dependence on error² / variance.
double MeasurementNoise::shape(double squared) const {
  if (nu_ <= 0) return std::exp(-0.5 * squared);
  if (nu_ != 4) return std::pow(1 + squared / nu_, -(nu_ + 1) / 2);
  const double base = 1 + squared / 4;  // the default, without a power
  return 1 / (base * base * std::sqrt(base));
}

LatencySolver::LatencySolver(const Problem& problem)
    : problem_(problem), measurement_noise_(problem.options), n_(problem.log_latency.size()) {
  system_.resize(n_, n_);
}

void LatencySolver::solve(const LatencyPrior& prior, HypothesisFit& candidate) {
  const double residual_scale = problem_.options.residual_share * candidate.noise;
  const Eigen::VectorXd own_variance =
      problem_.clock_variance_ms2 * prior.mean.array().square().inverse() + candidate.noise * candidate.noise;
  Eigen::VectorXd latency = prior.mean;
  noise_ = own_variance;
  shift_ = Eigen::VectorXd::Zero(n_);
  error_ = problem_.log_latency - latency.array().log().matrix();
  for (Eigen::Index i = 0; i < n_; ++i) {  // what is far off already is not trusted from the start
    const double expected = own_variance[i] + prior_spread * prior_spread;
    noise_[i] *= measurement_noise_.at(error_[i], expected, 0).variance / expected;
  }
  for (int step = 0; step < problem_.options.newton_steps; ++step) {
    latency = latency.cwiseMax(problem_.floor_ms);
    slopes_ = latency.cwiseInverse();
    system_ = prior.covariance.cwiseProduct(slopes_ * slopes_.transpose());
    system_ += residual_scale * residual_scale * problem_.kernel;
    system_.diagonal() += noise_;
    residual_ =
        problem_.log_latency - shift_ - latency.array().log().matrix() - slopes_.cwiseProduct(prior.mean - latency);
    factor_.compute(system_);
    weights_ = factor_.solve(residual_);
    latency = prior.mean + prior.covariance * slopes_.cwiseProduct(weights_);
    error_ = shift_ + noise_.cwiseProduct(weights_);
    if (step + 1 == problem_.options.newton_steps) break;
    for (Eigen::Index i = 0; i < n_; ++i) {
      const MeasurementNoise::View view = measurement_noise_.at(error_[i], own_variance[i], candidate.slow_step);
      noise_[i] = view.variance;
      shift_[i] = view.shift;
    }
  }
  candidate.log_evidence = log_evidence(own_variance, candidate.slow_step);
  candidate.noise_variance = noise_;
  candidate.scale_ms = prior.scale_ms;
  candidate.slopes = slopes_;
  candidate.pull = slopes_.cwiseProduct(weights_);
  candidate.residual_weights = residual_scale * residual_scale * weights_;
}

/// Gaussian evidence with each measurement's Gaussian in place, corrected by what the noise says of each error.
double LatencySolver::log_evidence(const Eigen::VectorXd& own_variance, double slow_step) const {
  double log_determinant = 0;
  for (Eigen::Index i = 0; i < n_; ++i) log_determinant += 2 * std::log(factor_.matrixLLT()(i, i));
  double sum = -0.5 * (residual_.dot(weights_) + log_determinant + static_cast<double>(n_) * std::log(2 * pi));
  for (Eigen::Index i = 0; i < n_; ++i) {
    sum += std::log(measurement_noise_.at(error_[i], own_variance[i], slow_step).density) -
           log_normal(error_[i] - shift_[i], noise_[i]);
  }
  return sum;
}

}  // namespace tenshot::trainer::structured
