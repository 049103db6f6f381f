#include "trainer/predictors/structured/calibration.h"

#include <algorithm>
#include <cmath>
#include <map>
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

/// Of `count` places at most `most`, evenly spaced.
std::vector<std::size_t> evenly_spaced(std::size_t count, std::size_t most) {
  std::vector<std::size_t> places(std::min(count, most));
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = i * count / places.size();
  return places;
}

nasbench::StructureTable part_of(const datasets::LatencyMatrix& pool, const std::vector<std::size_t>& places,
                                 const nasbench::StructureModel& model) {
  std::vector<Architecture> architectures;
  for (const std::size_t place : places) architectures.push_back(pool.architectures[place]);
  return model.table(architectures);
}

/// A device that is predicted, and all that the library must not know then.
struct HeldOut {
  std::size_t device = 0;
  std::vector<std::string> family;
};

std::vector<HeldOut> each_alone(const std::vector<std::string>& devices) {
  std::vector<HeldOut> held_out;
  for (std::size_t d = 0; d < devices.size(); ++d) held_out.push_back({d, {devices[d]}});
  return held_out;
}

/// Devices in a drawn order, one of each family before the second of any.
std::vector<HeldOut> sampled_families(const std::vector<std::string>& devices, const CalibrationOptions& options) {
  std::map<std::size_t, std::vector<std::size_t>> members;
  for (std::size_t d = 0; d < devices.size(); ++d) {
    members[options.families.empty() ? d : options.families[d]].push_back(d);
  }
  std::vector<std::vector<std::size_t>> families;
  for (auto& [number, of_family] : members) families.push_back(std::move(of_family));
  constexpr std::uint64_t stream = 1000;  // repeats have those from 0
  Rng rng(options.seed, stream);
  rng.shuffle(families);
  for (std::vector<std::size_t>& of_family : families) rng.shuffle(of_family);
  std::vector<HeldOut> held_out;
  const std::size_t count = std::min(devices.size(), options.most_devices);
  for (std::size_t round = 0; held_out.size() < count; ++round) {
    for (const std::vector<std::size_t>& of_family : families) {
      if (round >= of_family.size() || held_out.size() == count) continue;
      HeldOut one{of_family[round], {}};
      for (const std::size_t d : of_family) one.family.push_back(devices[d]);
      held_out.push_back(std::move(one));
    }
  }
  return held_out;
}

/// Standardised errors on one held-out device, over at most `most_predicted` architectures.
void collect_errors(const StructuredLibrary& rest, const datasets::LatencyMatrix& pool,
                    const nasbench::StructureTable& table, const std::vector<double>& latency_ms,
                    const std::vector<std::size_t>& chosen, const PosteriorOptions& options, std::size_t most_predicted,
                    std::vector<double>& errors) {
  AdaptationSet set;
  set.whole_milliseconds = std::all_of(latency_ms.begin(), latency_ms.end(), is_whole);
  for (const std::size_t c : chosen) {
    if (!std::isfinite(latency_ms[c])) continue;
    set.architectures.push_back(pool.architectures[c]);
    set.latency_ms.push_back(latency_ms[c]);
  }
  if (set.architectures.empty()) return;
  const StructuredPosterior posterior = adapt(rest, set, options);
  const std::vector<std::size_t> some = evenly_spaced(latency_ms.size(), most_predicted);
  const bool all = some.size() == latency_ms.size();
  const LogLatency predicted = predict(posterior, all ? table : part_of(pool, some, *rest.model));
  for (std::size_t i = 0; i < some.size(); ++i) {
    const double truth_ms = latency_ms[some[i]];
    if (!std::isfinite(truth_ms)) continue;
    const double error = (std::log(truth_ms) - predicted.mean[i]) / predicted.deviation[i];
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

  const bool exhaustive = library.cluster_of.empty();
  const std::vector<HeldOut> held_out = exhaustive ? each_alone(devices) : sampled_families(devices, options);
  const std::size_t predicted = exhaustive ? candidates.size() : options.most_architectures;
  std::vector<std::vector<double>> errors(held_out.size());
  sampling::InformationOptions planning;
  planning.noise = posterior_options.planning_noise;
  for (std::size_t repeat = 0; repeat < options.repeats; ++repeat) {
    Rng rng(options.seed, repeat);
    const std::vector<std::size_t> chosen =
        sampling::choose_informative(prior, candidates, {}, options.samples, rng, planning);
    for (std::size_t h = 0; h < held_out.size(); ++h) {
      collect_errors(without(library, held_out[h].family), pool, table, pool.latency_ms[held_out[h].device], chosen,
                     posterior_options, predicted, errors[h]);
    }
  }
  return calibration_of(errors);
}

}  // namespace tenshot::trainer::structured
