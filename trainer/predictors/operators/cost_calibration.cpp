#include "trainer/predictors/operators/cost_calibration.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "nasbench/support/random.h"
#include "trainer/predictors/operators/cost_planning.h"
#include "trainer/predictors/structured/calibration.h"

namespace tenshot::trainer::operators {
namespace {

using Eigen::Index;

constexpr double largest_error = 20;  ///< standard deviations; beyond this an error is an error of the measurement

/// Networks that the library knows, from which a held-out device measures, and others that it predicts.
struct NetworkSplit {
  std::vector<Index> known;
  std::vector<Index> predicted;
};

NetworkSplit split_networks(Index networks, bool new_ones, std::size_t most_predicted, Rng& rng) {
  std::vector<Index> order(static_cast<std::size_t>(networks));
  std::iota(order.begin(), order.end(), Index{0});
  rng.shuffle(order);
  const std::size_t predicted = std::min(order.size() / 3, most_predicted);
  NetworkSplit split{{order.begin() + static_cast<std::ptrdiff_t>(predicted), order.end()},
                     {order.begin(), order.begin() + static_cast<std::ptrdiff_t>(predicted)}};
  constexpr std::size_t enough_candidates = 1000;
  if (!new_ones && split.known.size() > enough_candidates) split.known.resize(enough_candidates);
  std::sort(split.known.begin(), split.known.end());
  return split;
}

Eigen::MatrixXd rows_of(const Eigen::MatrixXd& matrix, const std::vector<Index>& rows) {
  Eigen::MatrixXd part(static_cast<Index>(rows.size()), matrix.cols());
  for (std::size_t i = 0; i < rows.size(); ++i) part.row(static_cast<Index>(i)) = matrix.row(rows[i]);
  return part;
}

PoolNumbers networks_of(const PoolNumbers& pool, const std::vector<Index>& networks) {
  return {rows_of(pool.features, networks), pool.operator_features,
          rows_of(pool.latency_ms.transpose(), networks).transpose()};
}

bool is_whole(double value) { return !std::isfinite(value) || value == std::floor(value); }

/// Standardised errors on one held-out device that measured `chosen` of the split's known networks.
void collect_errors(const CostLibrary& rest, const PoolNumbers& pool, const NetworkSplit& split,
                    const std::vector<std::size_t>& chosen, Index device, const PosteriorOptions& options,
                    std::vector<double>& errors) {
  AdaptationFeatures set;
  std::vector<Index> measured;
  const Eigen::VectorXd latency_ms = pool.latency_ms.row(device);
  set.whole_milliseconds = std::all_of(latency_ms.data(), latency_ms.data() + latency_ms.size(), is_whole);
  for (const std::size_t c : chosen) {
    if (!std::isfinite(latency_ms[split.known[c]])) continue;
    measured.push_back(split.known[c]);
    set.latency_ms.push_back(latency_ms[split.known[c]]);
  }
  if (measured.empty()) return;
  set.features = rows_of(pool.features, measured);
  const LogLatency predicted = predict(adapt(rest, set, options), table_of(rows_of(pool.features, split.predicted)));
  for (std::size_t i = 0; i < split.predicted.size(); ++i) {
    const double truth = latency_ms[split.predicted[i]];
    if (!std::isfinite(truth)) continue;
    const auto at = static_cast<Index>(i);
    errors.push_back(
        std::clamp((std::log(truth) - predicted.mean[at]) / predicted.deviation[at], -largest_error, largest_error));
  }
}

/// Devices to hold out, evenly spaced, one after the other.
std::vector<std::size_t> held_out(std::size_t devices, std::size_t most) {
  std::vector<std::size_t> chosen;
  const std::size_t count = std::min(devices, most);
  for (std::size_t i = 0; i < count; ++i) chosen.push_back(i * devices / count);
  return chosen;
}

}  // namespace

structured::IntervalCalibration calibrate(const PoolNumbers& pool, const CostLibrary& library,
                                          const std::vector<std::size_t>& families,
                                          const LibraryOptions& library_options,
                                          const PosteriorOptions& posterior_options,
                                          const CalibrationOptions& options) {
  const std::set<std::size_t> distinct(families.begin(), families.end());
  if (distinct.size() < 3 || pool.features.rows() < static_cast<Index>(3 * options.samples)) return {};
  std::vector<std::vector<double>> errors(families.size());
  for (std::size_t repeat = 0; repeat < options.repeats; ++repeat) {
    Rng rng(options.seed, repeat);
    const bool compared = library.places.compared();
    const NetworkSplit split = split_networks(pool.features.rows(), compared, options.most_networks, rng);
    const PoolNumbers known = networks_of(pool, split.known);
    const CostLibrary refitted = compared ? fit_library(known, library_options) : library;
    std::vector<std::size_t> candidates(split.known.size());
    std::iota(candidates.begin(), candidates.end(), std::size_t{0});
    sampling::InformationOptions planning;
    planning.noise = expected_noise(refitted);
    const sampling::LatencyCovariance prior = prior_covariance(refitted, known.features, posterior_options);
    const std::vector<std::size_t> chosen =
        sampling::choose_informative(prior, candidates, {}, options.samples, rng, planning);
    for (const std::size_t device : held_out(families.size(), options.most_devices)) {
      std::vector<std::size_t> others;
      for (std::size_t d = 0; d < families.size(); ++d) {
        if (families[d] != families[device]) others.push_back(d);
      }
      collect_errors(with_devices(refitted, others), pool, split, chosen, static_cast<Index>(device), posterior_options,
                     errors[device]);
    }
  }
  return structured::calibration_of(errors);
}

}  // namespace tenshot::trainer::operators
