#include "trainer/predictors/posterior/measurement_noise.h"

#include <cmath>

namespace tenshot::trainer {
namespace {

constexpr double pi = 3.14159265358979323846;

constexpr double smallest_density = 1e-300;

}  // namespace

MeasurementNoise::MeasurementNoise(const MixtureOptions& options)
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

void MeasurementErrors::begin(const Eigen::VectorXd& own_variance, double slow_step) {
  variance = own_variance_ = own_variance;
  shift = Eigen::VectorXd::Zero(own_variance.size());
  slow_step_ = slow_step;
}

void MeasurementErrors::distrust(const Eigen::VectorXd& first, double spread) {
  for (Eigen::Index i = 0; i < first.size(); ++i) {
    const double expected = own_variance_[i] + spread * spread;
    variance[i] *= noise_.at(first[i], expected, 0).variance / expected;
  }
}

void MeasurementErrors::weigh() {
  for (Eigen::Index i = 0; i < error.size(); ++i) {
    const MeasurementNoise::View view = noise_.at(error[i], own_variance_[i], slow_step_);
    variance[i] = view.variance;
    shift[i] = view.shift;
  }
}

double MeasurementErrors::corrected(double gaussian) const {
  for (Eigen::Index i = 0; i < error.size(); ++i) {
    const double from_shift = error[i] - shift[i];
    gaussian += std::log(noise_.at(error[i], own_variance_[i], slow_step_).density) +
                0.5 * (std::log(2 * pi * variance[i]) + from_shift * from_shift / variance[i]);
  }
  return gaussian;
}

}  // namespace tenshot::trainer
