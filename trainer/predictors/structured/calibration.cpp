#include "trainer/predictors/structured/calibration.h"

#include <map>

#include "datasets/tables/measurements.h"
#include "nasbench/support/numbers_below.h"
#include "nasbench/support/random.h"
#include "trainer/predictors/posterior/error_calibration.h"
#include "trainer/predictors/structured/library_fit.h"
#include "trainer/predictors/structured/structured_planning.h"

namespace tenshot::trainer::structured {
namespace {

using nasbench::Architecture;

datasets::LatencyMatrix part_of(const datasets::LatencyMatrix& all, const std::vector<std::size_t>& places) {
  datasets::LatencyMatrix part;
  part.latency_ms.resize(all.latency_ms.size());
  for (const std::size_t place : places) {
    part.architectures.push_back(all.architectures[place]);
    for (std::size_t d = 0; d < part.latency_ms.size(); ++d) part.latency_ms[d].push_back(all.latency_ms[d][place]);
  }
  return part;
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
std::vector<HeldOut> sampled_families(const std::vector<std::string>& devices,
                                      const StructuredCalibrationOptions& options) {
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
                    const std::vector<std::size_t>& chosen, const StructuredPosteriorOptions& options,
                    std::size_t most_predicted, std::vector<double>& errors) {
  AdaptationSet set;
  set.whole_milliseconds = datasets::are_whole_milliseconds(latency_ms);
  for (const std::size_t c : chosen) {
    if (!std::isfinite(latency_ms[c])) continue;
    set.add(pool.architectures[c], latency_ms[c]);
  }
  if (set.architectures.empty()) return;
  const StructuredPosterior posterior = adapt(rest, set, options);
  const std::vector<std::size_t> some = evenly_spaced(latency_ms.size(), most_predicted);
  const bool all = some.size() == latency_ms.size();
  const LogLatency predicted = predict(posterior, all ? table : rest.model->table(part_of(pool, some).architectures));
  for (std::size_t i = 0; i < some.size(); ++i) {
    const double truth_ms = latency_ms[some[i]];
    if (!std::isfinite(truth_ms)) continue;
    errors.push_back(standardised(std::log(truth_ms) - predicted.mean[i], predicted.deviation[i]));
  }
}

}  // namespace

IntervalCalibration calibrate(const StructuredLibrary& library, const std::vector<std::string>& devices,
                              const datasets::LatencyMatrix& latencies,
                              const StructuredPosteriorOptions& posterior_options,
                              const StructuredCalibrationOptions& options) {
  if (devices.size() < least_calibrated) return {};
  std::vector<std::size_t> connected;
  for (std::size_t a = 0; a < latencies.architectures.size(); ++a) {
    if (library.model->space().connected(latencies.architectures[a])) connected.push_back(a);
  }
  const datasets::LatencyMatrix pool = part_of(latencies, connected);
  const nasbench::StructureTable table = library.model->table(pool.architectures);
  const sampling::LatencyCovariance prior = prior_covariance(library, table, posterior_options);
  std::vector<std::size_t> candidates = numbers_below(pool.architectures.size());
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
        sampling::choose_informative(prior, candidates, options.samples, rng, planning);
    for (std::size_t h = 0; h < held_out.size(); ++h) {
      collect_errors(without(library, held_out[h].family), pool, table, pool.latency_ms[held_out[h].device], chosen,
                     posterior_options, predicted, errors[h]);
    }
  }
  return calibration_of(errors);
}

OwnFits own_fits(const nasbench::StructureModel& model, const datasets::Pool& pool,
                 const StructuredPosteriorOptions& options) {
  const datasets::LatencyMatrix all = datasets::latency_matrix(pool);
  const std::vector<std::string> ids = datasets::device_ids(pool);
  const std::vector<std::size_t> number_of_part = left_out_part_of(all.architectures.size());
  std::vector<std::vector<LeftOutError>> errors(ids.size());
  for (std::size_t part = 0; part < left_out_parts; ++part) {
    std::vector<std::size_t> rest, left_out, devices;
    for (std::size_t a = 0; a < number_of_part.size(); ++a) {
      if (number_of_part[a] != part) rest.push_back(a);
      if (number_of_part[a] == part && pool.space->connected(all.architectures[a])) left_out.push_back(a);
    }
    const datasets::LatencyMatrix fitted = part_of(all, rest);
    datasets::LatencyMatrix known{fitted.architectures, {}};
    std::vector<std::string> known_ids;
    for (std::size_t d = 0; d < ids.size(); ++d) {
      const std::vector<double>& row = fitted.latency_ms[d];
      const auto measured = std::count_if(row.begin(), row.end(), [](double v) { return std::isfinite(v); });
      if (static_cast<std::size_t>(measured) < model.features().size()) continue;  // too few are left
      devices.push_back(d);
      known_ids.push_back(ids[d]);
      known.latency_ms.push_back(row);
    }
    if (devices.empty() || left_out.empty()) continue;
    const StructuredLibrary library = fit_library(model, known_ids, known);
    const datasets::LatencyMatrix truth = part_of(all, left_out);
    const nasbench::StructureTable table = model.table(truth.architectures);
    for (const std::size_t d : devices) {
      const LogLatency predicted = predict(known_posterior(library, ids[d], options), table);
      for (std::size_t i = 0; i < left_out.size(); ++i) {
        const double truth_ms = truth.latency_ms[d][i];
        if (!std::isfinite(truth_ms)) continue;
        errors[d].push_back({std::log(truth_ms) - predicted.mean[i], predicted.deviation[i]});
      }
    }
  }
  std::vector<std::size_t> networks;
  for (const datasets::DeviceRuntime& device : pool.devices) networks.push_back(device.latencies.size());
  return own_fits_of(errors, networks);
}

}  // namespace tenshot::trainer::structured
