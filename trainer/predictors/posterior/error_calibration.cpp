#include "trainer/predictors/posterior/error_calibration.h"

#include <limits>
#include <utility>

#include "nasbench/support/numbers_below.h"
#include "nasbench/support/random.h"

namespace tenshot::trainer {
namespace {

/// The quantiles that are kept: dense where intervals end.
const std::vector<double> kept_probabilities = {0.005, 0.01, 0.025, 0.05, 0.075, 0.1,  0.15, 0.2,
                                                0.25,  0.3,  0.4,   0.5,  0.6,   0.7,  0.75, 0.8,
                                                0.85,  0.9,  0.925, 0.95, 0.975, 0.99, 0.995};

std::vector<double> weighted_quantiles(const std::vector<std::vector<double>>& errors,
                                       const std::vector<double>& probabilities, bool next_device) {
  std::vector<std::pair<double, double>> weighted;  // error, weight
  double total = 0;
  for (const std::vector<double>& of_device : errors) {
    for (const double error : of_device) weighted.emplace_back(error, 1.0 / static_cast<double>(of_device.size()));
    total += of_device.empty() ? 0 : 1;
  }
  std::sort(weighted.begin(), weighted.end());
  std::vector<double> quantiles;
  const double unknown = next_device ? std::min(1.0, total / 30) : 0;
  total += unknown;
  double below = unknown / 2;
  auto at = weighted.begin();
  for (const double probability : probabilities) {
    while (at + 1 != weighted.end() && below + at->second < probability * total) below += (at++)->second;
    quantiles.push_back(at->first);
  }
  return quantiles;
}

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t enough_errors = 40;  ///< for quantiles of a device's own

double within(const std::vector<LeftOutError>& errors, double share) {
  const auto hit = [&](const LeftOutError& e) { return std::abs(std::exp(-e.error) - 1) <= share; };
  return static_cast<double>(std::count_if(errors.begin(), errors.end(), hit)) / static_cast<double>(errors.size());
}

}  // namespace

double standardised(double error, double deviation) {
  constexpr double largest = 20;
  return std::clamp(error / deviation, -largest, largest);
}

IntervalCalibration calibration_of(const std::vector<std::vector<double>>& errors, bool next_device) {
  const bool any = std::any_of(errors.begin(), errors.end(), [](const auto& of_device) { return !of_device.empty(); });
  if (!any) return {};
  return {kept_probabilities, weighted_quantiles(errors, kept_probabilities, next_device)};
}

IntervalCalibration widened(const IntervalCalibration& calibration, std::vector<double> errors, double share) {
  for (double& error : errors) error = std::abs(error);
  const auto last = errors.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(errors.size()));
  std::nth_element(errors.begin(), last, errors.end());
  const double expected =
      (error_quantile(calibration, 0.5 + share / 2) - error_quantile(calibration, 0.5 - share / 2)) / 2;
  if (*last <= expected) return calibration;
  IntervalCalibration wider{kept_probabilities, {}};
  for (const double probability : kept_probabilities) {
    wider.quantiles.push_back(*last / expected * error_quantile(calibration, probability));
  }
  return wider;
}

std::vector<std::size_t> evenly_spaced(std::size_t count, std::size_t most) {
  std::vector<std::size_t> places(std::min(count, most));
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = i * count / places.size();
  return places;
}

void add_errors(const LogLatency& predicted, const std::vector<double>& measured_ms,
                std::vector<LeftOutError>& errors) {
  for (std::size_t n = 0; n < measured_ms.size(); ++n) {
    if (!std::isfinite(measured_ms[n])) continue;
    errors.push_back({std::log(measured_ms[n]) - predicted.mean[n], predicted.deviation[n]});
  }
}

OwnFits own_fits_of(const LeftOutErrors& errors, const datasets::Pool& pool) {
  std::vector<std::vector<double>> all;
  std::vector<double> together;
  for (const std::vector<LeftOutError>& of_device : errors) {
    all.emplace_back();
    for (const LeftOutError& e : of_device) all.back().push_back(standardised(e.error, e.deviation));
    together.insert(together.end(), all.back().begin(), all.back().end());
  }
  OwnFits fits{calibration_of(all).probabilities, {}};
  for (std::size_t d = 0; d < errors.size(); ++d) {
    const bool none = errors[d].empty(), few = all[d].size() < enough_errors;
    const IntervalCalibration own = few ? calibration_of({all[d], together}) : calibration_of({all[d]});
    fits.devices.push_back({pool.devices[d].latencies.size(), none ? nothing : within(errors[d], 0.1),
                            none ? nothing : within(errors[d], 0.2), own.quantiles});
  }
  return fits;
}

OwnFits left_out_fits(const datasets::Pool& pool, std::size_t networks, const AddErrors& add) {
  constexpr std::size_t parts = 5;
  std::vector<std::size_t> part_of = numbers_below(networks);
  for (std::size_t& number : part_of) number %= parts;
  Rng(1).shuffle(part_of);
  LeftOutErrors errors(pool.devices.size());
  for (std::size_t part = 0; part < parts; ++part) {
    std::vector<std::size_t> rest, left_out;
    for (std::size_t n = 0; n < networks; ++n) (part_of[n] == part ? left_out : rest).push_back(n);
    add(rest, left_out, errors);
  }
  return own_fits_of(errors, pool);
}

IntervalCalibration own_calibration(const OwnFits& fits, std::size_t device) {
  return {fits.probabilities, fits.devices.at(device).quantiles};
}

}  // namespace tenshot::trainer
