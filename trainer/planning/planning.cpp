#include "trainer/planning/planning.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "nasbench/support/error.h"
#include "sampling/architectures/information.h"
#include "sampling/architectures/sampler.h"
#include "trainer/predictors/operators/operators_model.h"
#include "trainer/predictors/structured/planning.h"
#include "trainer/predictors/structured/structured_model.h"

namespace tenshot::trainer {
namespace {

using ArchitectureSet = std::unordered_set<Architecture, nasbench::ArchitectureHash>;

std::vector<Architecture> candidates_of(const PoolModel& model, const PlanRequest& request) {
  return request.candidates.empty() ? datasets::latency_matrix(model.pool()).architectures : request.candidates;
}

/// Latency [device][candidate]: measured where the pool has it, else what the model expects.
std::vector<std::vector<double>> pool_latency(const PoolModel& model, const std::vector<Architecture>& candidates) {
  std::vector<std::vector<double>> latency_ms;
  std::vector<std::vector<double>> expected_ms;  // costs a prediction of every candidate: only once one is missing
  for (std::size_t d = 0; d < model.pool().devices.size(); ++d) {
    std::unordered_map<Architecture, double, nasbench::ArchitectureHash> measured_ms;
    for (const auto& row : model.pool().devices[d].latencies) measured_ms.emplace(row.architecture, row.latency_ms);
    latency_ms.emplace_back();
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const auto found = measured_ms.find(candidates[i]);
      if (found == measured_ms.end() && expected_ms.empty()) expected_ms = model.predict_pool(candidates);
      latency_ms.back().push_back(found == measured_ms.end() ? expected_ms[d][i] : found->second);
    }
  }
  return latency_ms;
}

std::vector<Architecture> plan_by_ranking(const PoolModel& model, const PlanRequest& request, Rng& rng) {
  sampling::Candidates candidates;
  candidates.architectures = candidates_of(model, request);
  std::unordered_map<Architecture, std::size_t, nasbench::ArchitectureHash> index_of;
  for (std::size_t i = 0; i < candidates.architectures.size(); ++i) index_of.emplace(candidates.architectures[i], i);
  for (const Architecture& architecture : request.measured.architectures) {
    const auto [place, added] = index_of.emplace(architecture, candidates.architectures.size());
    if (added) candidates.architectures.push_back(architecture);
    candidates.measured.push_back(place->second);
  }
  const std::unique_ptr<sampling::Sampler> sampler = sampling::make_sampler(request.sampler);
  if (sampler->ranks()) candidates.pool_latency = pool_latency(model, candidates.architectures);
  std::vector<Architecture> chosen;
  for (const std::size_t index : sampler->choose(candidates, request.samples, rng)) {
    chosen.push_back(candidates.architectures[index]);
  }
  return chosen;
}

/// What is uncertain about the candidates, and the noise to expect of a measurement.
struct Uncertainty {
  sampling::LatencyCovariance covariance;
  std::optional<double> noise;
};

Uncertainty structured_uncertainty(const PoolModel& model, const PlanRequest& request,
                                   const std::vector<Architecture>& candidates) {
  const structured::StructuredLibrary library = library_of(model);
  const nasbench::StructureTable table = library.model->table(candidates);
  std::optional<structured::DescribedDevice> known;
  if (request.measured.descriptor) known = described_device(model, library, *request.measured.descriptor);
  const structured::DescribedDevice* described = known ? &*known : nullptr;
  if (request.measured.architectures.empty()) {
    return {structured::prior_covariance(library, table, {}, described), std::nullopt};
  }
  const structured::StructuredPosterior posterior = structured::adapt(
      library, {request.measured.architectures, request.measured.latency_ms, request.measured.whole_milliseconds}, {},
      described);
  return {structured::posterior_covariance(posterior, table), structured::noise_of(posterior)};
}

Uncertainty uncertainty(const PoolModel& model, const PlanRequest& request,
                        const std::vector<Architecture>& candidates) {
  if (model.kind() != "operators" && nasbench::has_structures(*model.pool().space)) {
    return structured_uncertainty(model, request, candidates);
  }
  operators::PlanningView view = operators::planning_view(model, candidates, request.measured);
  return {std::move(view.covariance), view.noise};
}

std::vector<Architecture> plan_by_information(const PoolModel& model, const PlanRequest& request, Rng& rng) {
  const SearchSpace& space = *model.pool().space;
  std::vector<Architecture> connected;
  for (const Architecture& architecture : candidates_of(model, request)) {
    if (space.connected(architecture)) connected.push_back(architecture);
  }
  const ArchitectureSet measured(request.measured.architectures.begin(), request.measured.architectures.end());
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < connected.size(); ++i) {
    if (measured.count(connected[i]) == 0) open.push_back(i);
  }
  const Uncertainty uncertain = uncertainty(model, request, connected);
  sampling::InformationOptions options;
  if (uncertain.noise) options.noise = *uncertain.noise;
  if (measured.empty() && request.noise) options.noise = *request.noise;
  if (!measured.empty()) options.random_half = false;
  std::vector<Architecture> chosen;
  for (const std::size_t index :
       sampling::choose_informative(uncertain.covariance, open, {}, request.samples, rng, options)) {
    chosen.push_back(connected[index]);
  }
  return chosen;
}

}  // namespace

std::vector<std::string> plan_samplers() {
  std::vector<std::string> names = sampling::sampler_names();
  names.insert(names.begin(), "information");
  return names;
}

std::vector<Architecture> plan(const PoolModel& model, const PlanRequest& request) {
  if (request.measured.architectures.size() != request.measured.latency_ms.size()) {
    throw InputError("planning after measurements needs a latency for each of them");
  }
  Rng rng(request.seed);
  return request.sampler == "information" ? plan_by_information(model, request, rng)
                                          : plan_by_ranking(model, request, rng);
}

}  // namespace tenshot::trainer
