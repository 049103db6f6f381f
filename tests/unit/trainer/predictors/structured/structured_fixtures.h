#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "nasbench/structures/structures.h"
#include "nasbench/support/random.h"
#include "trainer/predictors/library/library.h"
#include "trainer/predictors/structured/explanation.h"
#include "trainer/predictors/structured/library_fit.h"
#include "trainer/predictors/structured/posterior.h"

namespace tenshot::test {

inline const nasbench::StructureModel& structures() { return nasbench::structures_of(nasbench::nasbench201()); }

inline std::vector<nasbench::Architecture> connected_architectures(std::size_t count, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<nasbench::Architecture> architectures;
  while (architectures.size() < count) {
    const auto architecture = nasbench::nasbench201().random(rng);
    if (!nasbench::nasbench201().connected(architecture)) continue;
    if (std::find(architectures.begin(), architectures.end(), architecture) != architectures.end()) continue;
    architectures.push_back(architecture);
  }
  return architectures;
}

/// Latencies of a device that follows `structure` exactly with these costs (base, skip, 1x1, 3x3, pool, add, relu,
/// multiply, reorder), times exp(noise · a standard normal draw).
inline std::vector<double> latencies_under(const std::string& structure, const std::vector<double>& costs,
                                           const std::vector<nasbench::Architecture>& architectures, double noise = 0,
                                           std::uint64_t seed = 1) {
  const auto& model = structures();
  const std::size_t index = model.structure_index(structure);
  const std::size_t alternatives = model.structures()[index].alternatives;
  std::vector<double> rows(alternatives * costs.size());
  std::vector<double> latencies;
  Rng rng(seed, 9);
  for (const auto& architecture : architectures) {
    model.evaluate(index, architecture, rows.data());
    double latency = 0;
    for (std::size_t a = 0; a < alternatives; ++a) {
      double sum = 0;
      for (std::size_t f = 0; f < costs.size(); ++f) sum += rows[a * costs.size() + f] * costs[f];
      latency = std::max(latency, sum);
    }
    latencies.push_back(latency * std::exp(noise * rng.normal()));
  }
  return latencies;
}

struct SyntheticPool {
  std::vector<std::string> devices;
  datasets::LatencyMatrix latencies;
};

/// Devices of several kinds, 300 architectures each.
inline SyntheticPool structured_pool(double noise = 0.01) {
  SyntheticPool pool;
  pool.latencies.architectures = connected_architectures(300, 1);
  const std::vector<std::pair<std::string, std::vector<double>>> kinds = {
      {"total", {5, 0.1, 2, 3, 0.5, 0, 0, 0, 0}},  {"total", {2, 0.2, 3, 8, 1.5, 0, 0, 0, 0}},
      {"live", {4, 0.3, 2.5, 6, 1, 0.3, 0, 0, 0}}, {"backward", {9, 0.2, 6, 20, 3, 0.5, 0, 0, 0}},
      {"cse", {3, 0, 2, 5, 1, 0.2, 0.3, 0.25, 0}}, {"layout", {3, 0, 2, 5, 0.6, 0.3, 0.2, 0.2, 0.4}},
      {"critical", {3, 0.3, 2, 5, 1, 0, 0, 0, 0}}};
  for (std::size_t d = 0; d < kinds.size(); ++d) {
    pool.devices.push_back("device" + std::to_string(d));
    pool.latencies.latency_ms.push_back(
        latencies_under(kinds[d].first, kinds[d].second, pool.latencies.architectures, noise, d));
  }
  return pool;
}

inline const trainer::structured::StructuredLibrary& synthetic_library() {
  static const trainer::structured::StructuredLibrary library = [] {
    const SyntheticPool pool = structured_pool();
    return trainer::structured::fit_library(structures(), pool.devices, pool.latencies);
  }();
  return library;
}

inline double share_within(const std::vector<double>& predicted, const std::vector<double>& measured, double bound) {
  std::size_t within = 0;
  for (std::size_t i = 0; i < measured.size(); ++i)
    within += std::fabs(predicted[i] - measured[i]) <= bound * measured[i];
  return static_cast<double>(within) / static_cast<double>(measured.size());
}

inline trainer::Predictions intervals(const trainer::structured::StructuredPosterior& posterior,
                                      const nasbench::StructureTable& table, double confidence) {
  return predictions_of(predict(posterior, table), posterior.calibration, confidence);
}

inline std::vector<double> predictions(const trainer::structured::StructuredPosterior& posterior,
                                       const std::vector<nasbench::Architecture>& architectures) {
  return intervals(posterior, structures().table(architectures), 0.9).latency_ms;
}

/// What a person is warned of in measurements of a device that synthetic_library() was adapted to.
inline std::vector<std::string> suspicions(const trainer::AdaptationSet& set,
                                           const trainer::structured::StructuredPosterior& posterior) {
  std::vector<std::string> found;
  for (const trainer::Remark& remark : explanation_lines(posterior, synthetic_library(), set, {}, true)) {
    if (remark.warns) found.push_back(remark.text);
  }
  return found;
}

/// The noise of a measurement as a person is told it, in percent.
inline double percent_of_noise(const trainer::AdaptationSet& set,
                               const trainer::structured::StructuredPosterior& posterior) {
  const std::string begins = "Noise of a measurement: ";
  for (const trainer::Remark& remark : explanation_lines(posterior, synthetic_library(), set, {}, true)) {
    if (remark.text.find(begins) == 0) return std::stod(remark.text.substr(begins.size()));
  }
  return HUGE_VAL;
}

/// Share within ±10 % of 500 architectures on a device of `structure`.
inline double accuracy(const trainer::structured::StructuredPosterior& posterior, const std::string& structure,
                       const std::vector<double>& costs) {
  const auto architectures = connected_architectures(500, 99);
  return share_within(predictions(posterior, architectures), latencies_under(structure, costs, architectures), 0.1);
}

}  // namespace tenshot::test
