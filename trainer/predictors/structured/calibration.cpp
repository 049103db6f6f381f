#include "trainer/predictors/structured/calibration.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "nasbench/support/random.h"
#include "trainer/predictors/structured/planning.h"
#include "trainer/predictors/structured/prediction.h"

namespace tenshot::trainer::structured {
namespace {

using nasbench::Architecture;

constexpr double largest_error = 20;  ///< standard deviations; beyond this an error is an error of the measurement

/// The quantiles that are kept: dense where intervals end.
std::vector<double> kept_probabilities() {
  return {0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.15,  0.2,  0.25,  0.3,  0.4,  0.5,
          0.6,   0.7,  0.75,  0.8,  0.85,  0.9, 0.925, 0.95, 0.975, 0.99, 0.995};
}

/// The architectures of the pool that compute something, with what was measured of them.
datasets::LatencyMatrix connected_part(const nasbench::SearchSpace& space, const datasets::LatencyMatrix& latencies) {
  datasets::LatencyMatrix part;
  part.latency_ms.resize(latencies.latency_ms.size());
  for (std::size_t a = 0; a < latencies.architectures.size(); ++a) {
    if (!space.connected(latencies.architectures[a])) continue;
    part.architectures.push_back(latencies.architectures[a]);
    for (std::size_t d = 0; d < part.latency_ms.size(); ++d) {
      part.latency_ms[d].push_back(latencies.latency_ms[d][a]);
    }
  }
  return part;
}

bool is_whole(double value) { return !std::isfinite(value) || value == std::floor(value); }

/// Standardised errors on one held-out device.
void collect_errors(const StructuredLibrary& rest, const datasets::LatencyMatrix& pool,
                    const nasbench::StructureTable& table, const std::vector<double>& latency_ms,
                    const std::vector<std::size_t>& chosen, const PosteriorOptions& options,
                    std::vector<double>& errors) {
  Evidence evidence;
  evidence.whole_milliseconds = std::all_of(latency_ms.begin(), latency_ms.end(), is_whole);
  for (const std::size_t c : chosen) {
    if (!std::isfinite(latency_ms[c])) continue;
    evidence.architectures.push_back(pool.architectures[c]);
    evidence.latency_ms.push_back(latency_ms[c]);
  }
  if (evidence.architectures.empty()) return;
  const LogLatency predicted = predict(adapt(rest, evidence, options), table);
  for (std::size_t a = 0; a < latency_ms.size(); ++a) {
    if (!std::isfinite(latency_ms[a])) continue;
    const double error = (std::log(latency_ms[a]) - predicted.mean[a]) / predicted.deviation[a];
    errors.push_back(std::clamp(error, -largest_error, largest_error));
  }
}

std::vector<double> weighted_quantiles(const std::vector<std::vector<double>>& errors,
                                       const std::vector<double>& probabilities) {
  std::vector<std::pair<double, double>> weighted;  // error, weight
  double total = 0;
  for (const std::vector<double>& of_device : errors) {
    for (const double error : of_device) weighted.emplace_back(error, 1.0 / static_cast<double>(of_device.size()));
    total += of_device.empty() ? 0 : 1;
  }
  std::sort(weighted.begin(), weighted.end());
  std::vector<double> quantiles;
  double below = 0;
  auto at = weighted.begin();
  for (const double probability : probabilities) {
    while (at + 1 != weighted.end() && below + at->second < probability * total) below += (at++)->second;
    quantiles.push_back(at->first);
  }
  return quantiles;
}

}  // namespace

IntervalCalibration calibration_of(const std::vector<std::vector<double>>& errors) {
  const bool any = std::any_of(errors.begin(), errors.end(), [](const auto& of_device) { return !of_device.empty(); });
  if (!any) return {};
  IntervalCalibration calibration;
  calibration.probabilities = kept_probabilities();
  calibration.quantiles = weighted_quantiles(errors, calibration.probabilities);
  return calibration;
}

IntervalCalibration calibrate(const StructuredLibrary& library, const std::vector<std::string>& devices,
                              const datasets::LatencyMatrix& latencies, const PosteriorOptions& posterior_options,
                              const CalibrationOptions& options) {
  if (devices.size() < least_calibrated) return {};
  const datasets::LatencyMatrix pool = connected_part(library.model->space(), latencies);
  const nasbench::StructureTable table = library.model->table(pool.architectures);
  const sampling::LatencyCovariance prior = prior_covariance(library, table, posterior_options);
  std::vector<std::size_t> candidates(pool.architectures.size());
  std::iota(candidates.begin(), candidates.end(), 0);
  if (candidates.size() < 2 * options.samples) return {};

  std::vector<std::vector<double>> errors(devices.size());
  for (std::size_t repeat = 0; repeat < options.repeats; ++repeat) {
    Rng rng(options.seed, repeat);
    const std::vector<std::size_t> chosen = sampling::choose_informative(prior, candidates, {}, options.samples, rng);
    for (std::size_t d = 0; d < devices.size(); ++d) {
      collect_errors(without(library, {devices[d]}), pool, table, pool.latency_ms[d], chosen, posterior_options,
                     errors[d]);
    }
  }
  return calibration_of(errors);
}

}  // namespace tenshot::trainer::structured
