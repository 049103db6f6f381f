#include "trainer/predictors/structured/own_fit.h"

#include <algorithm>
#include <cmath>

#include "nasbench/support/error.h"
#include "trainer/predictors/posterior/error_calibration.h"
#include "trainer/predictors/structured/entry_priors.h"
#include "trainer/predictors/structured/hypotheses.h"
#include "trainer/predictors/structured/library_fit.h"
#include "trainer/predictors/structured/pool_library.h"
#include "trainer/predictors/structured/prediction.h"

namespace tenshot::trainer::structured {
namespace {

constexpr double least_noise = 0.005;  ///< of log latency
constexpr double least_share = 0.02;   ///< of a device's scale: no prediction is below it

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

StructuredPosterior known_posterior(const StructuredLibrary& library, const std::string& id,
                                    const StructuredPosteriorOptions& options) {
  const auto found = std::find_if(library.entries.begin(), library.entries.end(),
                                  [&](const LibraryEntry& entry) { return entry.device == id; });
  if (found == library.entries.end()) throw InputError("the library has no entry for device " + id);
  const auto number = static_cast<std::size_t>(found - library.entries.begin());
  const CostGaussian prior = cost_prior(library, number, library_covariance(library), options);
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

OwnFits own_fits(const nasbench::StructureModel& model, const datasets::Pool& pool,
                 const StructuredPosteriorOptions& options) {
  const datasets::LatencyMatrix all = datasets::latency_matrix(pool);
  const std::vector<std::string> ids = datasets::device_ids(pool);
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
