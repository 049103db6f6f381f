#include "trainer/planning/planning.h"

#include <algorithm>

#include "nasbench/support/error.h"
#include "sampling/architectures/information.h"
#include "sampling/architectures/sampler.h"
#include "trainer/core/adaptation.h"
#include "trainer/core/knowledge.h"
#include "trainer/predictors/operators/cost_planning.h"
#include "trainer/predictors/structured/library_fit.h"
#include "trainer/predictors/structured/structured_planning.h"

namespace tenshot::trainer {
namespace {

constexpr const char* by_information = "information";

using nasbench::ArchitectureSet;

/// The connected networks to choose from. Throws InputError where there are none.
std::vector<Architecture> candidates_of(const datasets::Pool& pool, const PlanRequest& request) {
  if (!request.candidates.empty()) return not_measured(*pool.space, request.candidates, {}, request.candidates.size());
  std::vector<Architecture> known = known_architectures(pool);
  // A plan names networks: of two with one name, it can only mean one.
  const auto names_another = [&](const Architecture& a) { return pool.space->parse(pool.space->format(a)) != a; };
  known.erase(std::remove_if(known.begin(), known.end(), names_another), known.end());
  if (!known.empty()) return known;
  throw InputError("this checkpoint names no networks that could be measured; name yours by --networks DIR|FILE");
}

std::vector<Architecture> plan_by_ranking(const datasets::Pool& pool, const ExpectedOnPool& expected,
                                          const PlanRequest& request) {
  Rng rng(request.seed);
  sampling::Candidates candidates;
  candidates.architectures = candidates_of(pool, request);
  nasbench::ArchitectureMap<std::size_t> index_of;
  for (std::size_t i = 0; i < candidates.architectures.size(); ++i) index_of.emplace(candidates.architectures[i], i);
  for (const Architecture& architecture : request.measured.architectures) {
    const auto [place, added] = index_of.emplace(architecture, candidates.architectures.size());
    if (added) candidates.architectures.push_back(architecture);
    candidates.measured.push_back(place->second);
  }
  const sampling::Sampler& sampler = sampling::sampler_named(request.sampler);
  if (sampler.ranks) candidates.pool_latency = measured_or_expected(pool, candidates.architectures, expected);
  std::vector<Architecture> chosen;
  for (const std::size_t index : sampler.choose(candidates, request.samples, rng)) {
    chosen.push_back(candidates.architectures[index]);
  }
  return chosen;
}

std::vector<Architecture> plan_by_information(const datasets::Pool& pool, const PlanningPrior& prior,
                                              const PlanRequest& request) {
  std::vector<Architecture> connected = candidates_of(pool, request);
  const auto is_apart = [&](const Architecture& architecture) { return !pool.space->connected(architecture); };
  connected.erase(std::remove_if(connected.begin(), connected.end(), is_apart), connected.end());
  const ArchitectureSet measured(request.measured.architectures.begin(), request.measured.architectures.end());
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < connected.size(); ++i) {
    if (measured.count(connected[i]) == 0) open.push_back(i);
  }
  const PlanningView uncertain = prior.view(connected, request.measured);
  sampling::InformationOptions options = uncertain.options;
  if (request.profiled && uncertain.profiled_noise > 0) options.noise = uncertain.profiled_noise;
  if (measured.empty() && request.noise) options.noise = *request.noise;
  if (!measured.empty()) options.random_half = false;
  std::vector<Architecture> chosen;
  Rng rng(request.seed);
  for (const std::size_t index :
       sampling::choose_informative(uncertain.covariance, open, request.samples, rng, options)) {
    chosen.push_back(connected[index]);
  }
  return chosen;
}

}  // namespace

bool chooses_by_prior(const std::string& sampler) { return sampler == by_information; }

std::vector<std::string> plan_samplers() {
  std::vector<std::string> names = sampling::sampler_names();
  names.insert(names.begin(), by_information);
  return names;
}

std::shared_ptr<const PlanningPrior> planning_prior(const datasets::Pool& pool) {
  if (!nasbench::has_structures(*pool.space)) return operators::planning_prior(pool);
  return structured::planning_prior(pool, structured::library_of(pool));
}

std::vector<Architecture> plan(const datasets::Pool& pool, const PlanningPrior* prior, const PlanRequest& request) {
  if (chooses_by_prior(request.sampler)) return plan_by_information(pool, *prior, request);
  const auto expected = [&](const auto& architectures) { return prior->predict_pool(architectures); };
  return plan_by_ranking(pool, expected, request);
}

std::vector<Architecture> plan(const PoolModel& model, const PlanRequest& request) {
  if (chooses_by_prior(request.sampler)) {
    const std::shared_ptr<const PlanningPrior> own = model.planning_prior();
    return plan(model.pool(), (own != nullptr ? own : planning_prior(model.pool())).get(), request);
  }
  const auto expected = [&](const auto& architectures) { return model.predict_pool(architectures); };
  return plan_by_ranking(model.pool(), expected, request);
}

}  // namespace tenshot::trainer
