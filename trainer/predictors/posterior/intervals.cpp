#include "trainer/predictors/posterior/intervals.h"

#include "nasbench/support/error.h"
#include "nasbench/support/numbers.h"
#include "trainer/core/archive_reader.h"

namespace tenshot::trainer {
namespace {

/// Inverse of the standard normal distribution function (Acklam's rational approximation, relative error under 1.2e-9).
double normal_quantile(double p) {
  constexpr double a[] = {-3.969683028665376e+01, 2.209460984245205e+02,  -2.759285104469687e+02,
                          1.383577518672690e+02,  -3.066479806614716e+01, 2.506628277459239e+00};
  constexpr double b[] = {-5.447609879822406e+01, 1.615858368580409e+02, -1.556989798598866e+02, 6.680131188771972e+01,
                          -1.328068155288572e+01};
  constexpr double c[] = {-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00,
                          -2.549732539343734e+00, 4.374664141464968e+00,  2.938163982698783e+00};
  constexpr double d[] = {7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00, 3.754408661907416e+00};
  if (p > 0.5) return -normal_quantile(1 - p);
  if (p < 0.02425) {
    const double q = std::sqrt(-2 * std::log(p));
    return (((((c[0] * q + c[1]) * q + c[2]) * q + c[3]) * q + c[4]) * q + c[5]) /
           ((((d[0] * q + d[1]) * q + d[2]) * q + d[3]) * q + 1);
  }
  const double q = p - 0.5;
  const double r = q * q;
  return (((((a[0] * r + a[1]) * r + a[2]) * r + a[3]) * r + a[4]) * r + a[5]) * q /
         (((((b[0] * r + b[1]) * r + b[2]) * r + b[3]) * r + b[4]) * r + 1);
}

}  // namespace

void put_calibration(Archive& archive, const IntervalCalibration& calibration) {
  const auto count = static_cast<std::int64_t>(calibration.probabilities.size());
  archive.put("calibration.probabilities", to_array(calibration.probabilities, {count}));
  archive.put("calibration.quantiles", to_array(calibration.quantiles, {count}));
}

IntervalCalibration get_calibration(const Archive& archive) {
  const std::string name = "calibration.probabilities";
  constexpr Range inside{1e-9, 1 - 1e-9};
  constexpr Range standard_deviations{-1e3, 1e3};
  IntervalCalibration calibration{checked_doubles(archive, name, inside), {}};
  const std::vector<double>& probabilities = calibration.probabilities;
  calibration.quantiles = checked_doubles(archive, "calibration.quantiles", standard_deviations, probabilities.size());
  for (std::size_t i = 1; i < probabilities.size(); ++i) {
    if (probabilities[i] > probabilities[i - 1]) continue;
    throw FormatError("array '" + name + "'[" + std::to_string(i) + "] is not greater than the one before it");
  }
  if (!std::is_sorted(calibration.quantiles.begin(), calibration.quantiles.end())) {
    throw FormatError("array 'calibration.quantiles' is not ascending");
  }
  // Beyond the outermost, quantiles grow as those of a normal distribution, which is 0 at one half.
  if (!probabilities.empty() && !(probabilities.front() < 0.5 && probabilities.back() > 0.5)) {
    throw FormatError("array '" + name + "' lies on one side of 0.5, expected probabilities on both");
  }
  return calibration;
}

double error_quantile(const IntervalCalibration& calibration, double probability) {
  const std::vector<double>& p = calibration.probabilities;
  const std::vector<double>& z = calibration.quantiles;
  if (p.empty()) return normal_quantile(probability);
  if (probability <= p.front()) return z.front() * normal_quantile(probability) / normal_quantile(p.front());
  if (probability >= p.back()) return z.back() * normal_quantile(probability) / normal_quantile(p.back());
  const auto above = std::upper_bound(p.begin(), p.end(), probability);
  const auto i = static_cast<std::size_t>(above - p.begin());
  return z[i - 1] + (z[i] - z[i - 1]) * (probability - p[i - 1]) / (p[i] - p[i - 1]);
}

Predictions predictions_of(const LogLatency& log_latency, const IntervalCalibration& calibration, double confidence) {
  if (!(confidence > 0 && confidence < 1)) {
    throw InputError("confidence " + shortest(confidence) + ": expected a number between 0 and 1, such as 0.9");
  }
  const double below = std::min(error_quantile(calibration, (1 - confidence) / 2), 0.0);
  const double above = std::max(error_quantile(calibration, (1 + confidence) / 2), 0.0);
  Predictions predictions;
  for (Eigen::Index a = 0; a < log_latency.mean.size(); ++a) {
    const double mean = log_latency.mean[a], deviation = log_latency.deviation[a];
    predictions.latency_ms.push_back(std::exp(mean));
    predictions.lower_ms.push_back(std::exp(mean + below * deviation));
    predictions.upper_ms.push_back(std::exp(mean + above * deviation));
  }
  return predictions;
}

}  // namespace tenshot::trainer
