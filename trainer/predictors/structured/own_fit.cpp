#include "trainer/predictors/structured/own_fit.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "nasbench/support/error.h"
#include "nasbench/support/random.h"
#include "trainer/predictors/structured/calibration.h"
#include "trainer/predictors/structured/cost_prior.h"
#include "trainer/predictors/structured/hypotheses.h"
#include "trainer/predictors/structured/library_fit.h"
#include "trainer/predictors/structured/pool_library.h"
#include "trainer/predictors/structured/prediction.h"

namespace tenshot::trainer::structured {
namespace {

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
constexpr double largest_error = 20;       ///< standard deviations; beyond this an error is an error of the measurement
constexpr double least_noise = 0.005;      ///< of log latency
constexpr std::size_t enough_errors = 40;  ///< for quantiles of a device's own
constexpr double least_share = 0.02;       ///< of a device's scale: no prediction is below it

double within(const std::vector<LeftOutError>& errors, double share) {
  const auto hit = [&](const LeftOutError& e) { return std::abs(std::exp(-e.error) - 1) <= share; };
  return static_cast<double>(std::count_if(errors.begin(), errors.end(), hit)) / static_cast<double>(errors.size());
}

std::vector<double> standardised(const std::vector<LeftOutError>& errors) {
  std::vector<double> result;
  for (const LeftOutError& e : errors) {
    result.push_back(std::clamp(e.error / e.deviation, -largest_error, largest_error));
  }
  return result;
}

/// The latencies without those of one part; devices that have too few left are named in `devices` no more.
datasets::LatencyMatrix without_part(const datasets::LatencyMatrix& all, const std::vector<std::size_t>& part_of,
                                     std::size_t part, std::size_t fewest, std::vector<std::size_t>& devices) {
  datasets::LatencyMatrix rest;
  for (std::size_t a = 0; a < all.architectures.size(); ++a) {
    if (part_of[a] != part) rest.architectures.push_back(all.architectures[a]);
  }
  devices.clear();
  for (std::size_t d = 0; d < all.latency_ms.size(); ++d) {
    std::vector<double> row;
    for (std::size_t a = 0; a < all.architectures.size(); ++a) {
      if (part_of[a] != part) row.push_back(all.latency_ms[d][a]);
    }
    const auto measured = std::count_if(row.begin(), row.end(), [](double v) { return std::isfinite(v); });
    if (static_cast<std::size_t>(measured) < fewest) continue;
    rest.latency_ms.push_back(std::move(row));
    devices.push_back(d);
  }
  return rest;
}

}  // namespace

std::vector<std::size_t> left_out_part_of(std::size_t networks) {
  std::vector<std::size_t> part(networks);
  for (std::size_t n = 0; n < networks; ++n) part[n] = n % left_out_parts;
  Rng rng(1);
  rng.shuffle(part);
  return part;
}

OwnFits own_fits_of(const std::vector<std::vector<LeftOutError>>& errors, const std::vector<std::size_t>& networks) {
  std::vector<std::vector<double>> all;
  for (const auto& of_device : errors) all.push_back(standardised(of_device));
  const IntervalCalibration common = calibration_of(all);
  OwnFits fits;
  fits.probabilities = common.probabilities;
  std::vector<double> together;
  for (const auto& of_device : all) together.insert(together.end(), of_device.begin(), of_device.end());
  for (std::size_t d = 0; d < errors.size(); ++d) {
    OwnFit fit;
    fit.networks = networks[d];
    fit.within_10 = errors[d].empty() ? nothing : within(errors[d], 0.1);
    fit.within_20 = errors[d].empty() ? nothing : within(errors[d], 0.2);
    const bool few = all[d].size() < enough_errors;
    fit.quantiles = few ? calibration_of({all[d], together}).quantiles : calibration_of({all[d]}).quantiles;
    fits.devices.push_back(std::move(fit));
  }
  return fits;
}

IntervalCalibration own_calibration(const OwnFits& fits, std::size_t device) {
  return {fits.probabilities, fits.devices.at(device).quantiles};
}

StructuredPosterior known_posterior(const StructuredLibrary& library, const std::string& id,
                                    const PosteriorOptions& options) {
  const auto found = std::find_if(library.entries.begin(), library.entries.end(),
                                  [&](const LibraryEntry& entry) { return entry.device == id; });
  if (found == library.entries.end()) throw InputError("the library has no entry for device " + id);
  const auto number = static_cast<std::size_t>(found - library.entries.begin());
  const CostPrior prior = cost_prior(library, number, library_covariance(library), options);
  const double closeness = *std::min_element(options.closeness.begin(), options.closeness.end());
  Component component;
  component.structure = found->structure;
  component.entry = number;
  component.noise = std::max(found->log_rms, least_noise);
  component.weight = 1;
  component.costs_ms = found->median_ms * found->costs;
  component.path_costs_ms = path_costs(component.costs_ms, found->median_ms);
  component.covariance_ms2 = prior_covariance_ms2(prior, found->median_ms, closeness);
  StructuredPosterior posterior;
  posterior.model = library.model;
  posterior.floor_ms = least_share * found->median_ms;
  posterior.components.push_back(std::move(component));
  return posterior;
}

OwnFits own_fits(const nasbench::StructureModel& model, const datasets::Pool& pool, const PosteriorOptions& options) {
  const datasets::LatencyMatrix all = datasets::latency_matrix(pool);
  const std::vector<std::string> ids = ids_of(pool);
  const std::vector<std::size_t> part_of = left_out_part_of(all.architectures.size());
  std::vector<std::vector<LeftOutError>> errors(ids.size());
  for (std::size_t part = 0; part < left_out_parts; ++part) {
    std::vector<std::size_t> devices;
    const datasets::LatencyMatrix rest = without_part(all, part_of, part, model.features().size(), devices);
    if (devices.empty()) continue;
    std::vector<std::string> known;
    for (const std::size_t d : devices) known.push_back(ids[d]);
    const StructuredLibrary library = fit_library(model, known, rest);
    std::vector<nasbench::Architecture> architectures;
    std::vector<std::size_t> places;
    for (std::size_t a = 0; a < part_of.size(); ++a) {
      if (part_of[a] != part || !pool.space->connected(all.architectures[a])) continue;
      architectures.push_back(all.architectures[a]);
      places.push_back(a);
    }
    if (architectures.empty()) continue;
    const nasbench::StructureTable table = model.table(architectures);
    for (const std::size_t d : devices) {
      const LogLatency predicted = predict(known_posterior(library, ids[d], options), table);
      for (std::size_t i = 0; i < places.size(); ++i) {
        const double truth_ms = all.latency_ms[d][places[i]];
        if (std::isfinite(truth_ms))
          errors[d].push_back({std::log(truth_ms) - predicted.mean[i], predicted.deviation[i]});
      }
    }
  }
  std::vector<std::size_t> networks;
  for (const datasets::DeviceRuntime& device : pool.devices) networks.push_back(device.latencies.size());
  return own_fits_of(errors, networks);
}

}  // namespace tenshot::trainer::structured
