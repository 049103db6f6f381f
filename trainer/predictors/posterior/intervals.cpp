#include "trainer/predictors/posterior/intervals.h"

#include "nasbench/support/error.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/quantiles.h"
#include "trainer/core/archive_reader.h"

namespace tenshot::trainer {

void put_calibration(Archive& archive, const IntervalCalibration& calibration) {
  archive.put("calibration.probabilities", to_array(calibration.probabilities));
  archive.put("calibration.quantiles", to_array(calibration.quantiles));
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
  // Quantiles grow beyond the outermost as a normal distribution's. One half, which is 0, is alone without intervals.
  if (probabilities.size() > 1 && !(probabilities.front() < 0.5 && probabilities.back() > 0.5)) {
    throw FormatError("array '" + name + "' lies on one side of 0.5, expected probabilities on both");
  }
  return calibration;
}

double error_quantile(const IntervalCalibration& calibration, double probability) {
  const std::vector<double>& p = calibration.probabilities;
  const std::vector<double>& z = calibration.quantiles;
  if (p.empty()) return normal_quantile(probability);
  if (probability <= p.front()) return z.front() * (normal_quantile(probability) / normal_quantile(p.front()));
  if (probability >= p.back()) return z.back() * (normal_quantile(probability) / normal_quantile(p.back()));
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
