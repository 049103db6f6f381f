#include "trainer/predictors/posterior/latency_solver.h"

#include <cmath>

#include "nasbench/support/error.h"
#include "nasbench/support/median.h"
#include "nasbench/support/numbers.h"

namespace tenshot::trainer {
namespace {

constexpr double prior_spread = 0.2;  ///< of log latency under a library entry, roughly
constexpr double smallest_density = 1e-300;

}  // namespace

MeasurementErrors::MeasurementErrors(const MixtureOptions& options, const Eigen::VectorXd& own_variance,
                                     double slow_step)
    : variance(own_variance),
      shift(Eigen::VectorXd::Zero(own_variance.size())),
      nu_(options.student_freedom),
      slow_share_(options.slow_share),
      gross_share_(options.gross_share),
      gross_precision_(1 / (options.gross_spread * options.gross_spread)),
      gross_density_(gross_share_ / (options.gross_spread * std::sqrt(2 * M_PI))),
      usual_density_((1 - gross_share_) / std::sqrt(2 * M_PI)),
      own_variance_(own_variance),
      slow_step_(slow_step) {
  if (nu_ > 0) {
    usual_density_ =
        (1 - gross_share_) * std::exp(std::lgamma((nu_ + 1) / 2) - std::lgamma(nu_ / 2)) / std::sqrt(nu_ * M_PI);
  }
}

MeasurementErrors::View MeasurementErrors::view_at(double error, double variance, double slow_step) const {
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
double MeasurementErrors::shape(double squared) const {
  if (nu_ <= 0) return std::exp(-0.5 * squared);
  if (nu_ != 4) return std::pow(1 + squared / nu_, -(nu_ + 1) / 2);
  const double base = 1 + squared / 4;  // the default, without a power
  return 1 / (base * base * std::sqrt(base));
}

void MeasurementErrors::distrust(const Eigen::VectorXd& first, double spread) {
  for (Eigen::Index i = 0; i < first.size(); ++i) {
    const double expected = own_variance_[i] + spread * spread;
    variance[i] *= view_at(first[i], expected, 0).variance / expected;
  }
}

void MeasurementErrors::weigh() {
  for (Eigen::Index i = 0; i < error.size(); ++i) {
    const View view = view_at(error[i], own_variance_[i], slow_step_);
    variance[i] = view.variance;
    shift[i] = view.shift;
  }
}

double MeasurementErrors::corrected(double gaussian) const {
  for (Eigen::Index i = 0; i < error.size(); ++i) {
    const double from_shift = error[i] - shift[i];
    gaussian += std::log(view_at(error[i], own_variance_[i], slow_step_).density) +
                0.5 * (std::log(2 * M_PI * variance[i]) + from_shift * from_shift / variance[i]);
  }
  return gaussian;
}

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

LatencySolution solve(const LatencyProblem& problem, const LatencyPrior& prior, const NoiseLevel& level,
                      const MixtureOptions& options) {
  const double residual_variance = std::pow(options.residual_share * level.noise, 2);
  MeasurementErrors errors(options, own_variance(problem, prior.mean, level), level.slow_step);
  Eigen::VectorXd latency = prior.mean, slopes, target, weights;
  Eigen::MatrixXd system;
  Eigen::LLT<Eigen::MatrixXd> factor;
  errors.distrust(problem.log_latency - latency.array().log().matrix(), prior_spread);
  for (int step = 0; step < options.newton_steps; ++step) {
    if (step > 0) errors.weigh();
    latency = latency.cwiseMax(problem.floor_ms);
    slopes = latency.cwiseInverse();
    system = prior.covariance.cwiseProduct(slopes * slopes.transpose()) + residual_variance * problem.kernel;
    system.diagonal() += errors.variance;
    target =
        problem.log_latency - errors.shift - latency.array().log().matrix() - slopes.cwiseProduct(prior.mean - latency);
    factor.compute(system);
    weights = factor.solve(target);
    latency = prior.mean + prior.covariance * slopes.cwiseProduct(weights);
    errors.error = errors.shift + errors.variance.cwiseProduct(weights);
  }
  return {log_evidence(factor, target, weights, errors),
          slopes.cwiseProduct(weights),
          residual_variance * weights,
          slopes,
          errors.variance,
          residual_variance};
}

double log_evidence(const Eigen::LLT<Eigen::MatrixXd>& factor, const Eigen::VectorXd& target,
                    const Eigen::VectorXd& weights, const MeasurementErrors& errors) {
  const double log_determinant = 2 * factor.matrixLLT().diagonal().array().log().sum();
  const auto n = static_cast<double>(target.size());
  return errors.corrected(-0.5 * (target.dot(weights) + log_determinant + n * std::log(2 * M_PI)));
}

}  // namespace tenshot::trainer
