#include <cmath>
#include <map>
#include <set>

#include "datasets/tables/measurements.h"
#include "nasbench/support/numbers_below.h"
#include "nasbench/support/random.h"
#include "trainer/core/adaptation.h"
#include "trainer/predictors/posterior/error_calibration.h"
#include "trainer/predictors/structured/library_fit.h"
#include "trainer/predictors/structured/structured_planning.h"

namespace tenshot::trainer::structured {
namespace {

datasets::LatencyMatrix part_of(const datasets::LatencyMatrix& all, const std::vector<std::size_t>& places) {
  datasets::LatencyMatrix part;
  part.latency_ms.resize(all.latency_ms.size());
  for (const std::size_t place : places) {
    part.architectures.push_back(all.architectures[place]);
    for (std::size_t d = 0; d < part.latency_ms.size(); ++d) part.latency_ms[d].push_back(all.latency_ms[d][place]);
  }
  return part;
}

struct HeldOut {
  std::size_t device = 0;
  std::vector<std::string> family;
};

/// Every device alone; or of a large library some as drawn, each with its family, one of each before the second of any.
std::vector<HeldOut> held_out_devices(const StructuredLibrary& library, const StructuredCalibrationOptions& options) {
  const bool every_alone = library.cluster_of.empty();
  const std::size_t devices = library.entries.size() - 1;
  std::map<std::size_t, std::vector<std::size_t>> members;
  for (std::size_t d = 0; d < devices; ++d) {
    members[every_alone || options.families.empty() ? d : options.families[d]].push_back(d);
  }
  std::vector<std::vector<std::size_t>> families;
  for (auto& [number, of_family] : members) families.push_back(std::move(of_family));
  if (!every_alone) {
    constexpr std::uint64_t stream = 1000;  // repeats have those from 0
    Rng rng(options.seed, stream);
    rng.shuffle(families);
    for (std::vector<std::size_t>& of_family : families) rng.shuffle(of_family);
  }
  std::vector<HeldOut> held_out;
  const std::size_t count = every_alone ? devices : std::min(devices, options.most_devices);
  for (std::size_t round = 0; held_out.size() < count; ++round) {
    for (const std::vector<std::size_t>& of_family : families) {
      if (round >= of_family.size() || held_out.size() == count) continue;
      held_out.push_back({of_family[round], {}});
      for (const std::size_t d : of_family) held_out.back().family.push_back(library.entries[d].device);
    }
  }
  return held_out;
}

}  // namespace

IntervalCalibration calibrate(const StructuredLibrary& library, const datasets::LatencyMatrix& latencies,
                              const StructuredPosteriorOptions& posterior_options,
                              const StructuredCalibrationOptions& options) {
  if (library.entries.size() - 1 < least_calibrated) return {};
  const std::vector<std::size_t> connected = connected_of(latencies.architectures, library.model->space());
  const datasets::LatencyMatrix pool = part_of(latencies, connected);
  const std::size_t count = connected.size();
  if (count < 2 * options.samples) return {};
  const nasbench::StructureTable all = library.model->table(pool.architectures);
  const sampling::LatencyCovariance prior = prior_covariance(library, all, posterior_options);
  const bool exhaustive = library.cluster_of.empty();
  const datasets::LatencyMatrix predicted =
      part_of(pool, evenly_spaced(count, exhaustive ? count : options.most_architectures));
  const nasbench::StructureTable table = exhaustive ? all : library.model->table(predicted.architectures);
  const std::vector<HeldOut> held_out = held_out_devices(library, options);
  std::vector<std::vector<double>> errors(held_out.size());
  sampling::InformationOptions planning;
  planning.noise = posterior_options.planning_noise;
  for (std::size_t repeat = 0; repeat < options.repeats; ++repeat) {
    Rng rng(options.seed, repeat);
    const datasets::LatencyMatrix chosen =
        part_of(pool, sampling::choose_informative(prior, numbers_below(count), options.samples, rng, planning));
    const std::set<Architecture> measured(chosen.architectures.begin(), chosen.architectures.end());
    for (std::size_t h = 0; h < held_out.size(); ++h) {
      const std::size_t device = held_out[h].device;
      AdaptationSet set;
      set.whole_milliseconds = datasets::are_whole_milliseconds(pool.latency_ms[device]);
      for (std::size_t c = 0; c < chosen.architectures.size(); ++c) {
        const double latency_ms = chosen.latency_ms[device][c];
        if (std::isfinite(latency_ms)) set.add(chosen.architectures[c], latency_ms);
      }
      if (set.architectures.empty()) continue;
      const StructuredPosterior posterior = adapt(without(library, held_out[h].family), set, posterior_options);
      std::vector<double> unmeasured_ms = predicted.latency_ms[device];
      for (std::size_t a = 0; a < unmeasured_ms.size(); ++a) {
        if (measured.count(predicted.architectures[a]) > 0) unmeasured_ms[a] = std::nan("");
      }
      std::vector<LeftOutError> found;
      add_errors(predict(posterior, table), unmeasured_ms, found);
      for (const LeftOutError& e : found) errors[h].push_back(standardised(e.error, e.deviation));
    }
  }
  return calibration_of(errors);
}

IntervalCalibration calibration_of_many(const StructuredLibrary& library, const AdaptationSet& set,
                                        const StructuredPosteriorOptions& options, const DescribedDevice* described) {
  constexpr std::size_t many = 20, parts = 5, enough = 60;
  AdaptationSet connected = trainer::part_of(set, connected_of(set.architectures, library.model->space()));
  connected = trainer::part_of(connected, fastest_first(connected.latency_ms));  // files' order says nothing
  const std::size_t count = connected.architectures.size();
  if (count < many) return library.calibration;
  std::vector<double> errors;
  for (std::size_t part = 0; part < parts && errors.size() < enough; ++part) {
    std::vector<std::size_t> rest, left_out;
    for (std::size_t i = 0; i < count; ++i) (i % parts == part ? left_out : rest).push_back(i);
    const StructuredPosterior posterior = adapt(library, trainer::part_of(connected, rest), options, described);
    const AdaptationSet asked = trainer::part_of(connected, left_out);
    std::vector<LeftOutError> found;
    add_errors(predict(posterior, library.model->table(asked.architectures)), asked.latency_ms, found);
    for (const LeftOutError& e : found) errors.push_back(standardised(e.error, e.deviation));
  }
  return widened(library.calibration, std::move(errors), 0.9);
}

OwnFits own_fits(const nasbench::StructureModel& model, const datasets::Pool& pool,
                 const StructuredPosteriorOptions& options) {
  const datasets::LatencyMatrix all = datasets::latency_matrix(pool);
  const std::vector<std::string> ids = datasets::device_ids(pool);
  return left_out_fits(pool, all.architectures.size(), [&](const auto& rest, const auto& left_out, auto& errors) {
    std::vector<std::size_t> asked, devices;
    for (const std::size_t a : left_out) {
      if (pool.space->connected(all.architectures[a])) asked.push_back(a);
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
    if (devices.empty() || asked.empty()) return;
    const StructuredLibrary library = fit_library(model, known_ids, known);
    const datasets::LatencyMatrix truth = part_of(all, asked);
    const nasbench::StructureTable table = model.table(truth.architectures);
    for (const std::size_t d : devices) {
      add_errors(predict(known_posterior(library, ids[d], options), table), truth.latency_ms[d], errors[d]);
    }
  });
}

}  // namespace tenshot::trainer::structured
