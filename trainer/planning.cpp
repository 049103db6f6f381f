#include "trainer/planning.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "sampling/sampler.h"

namespace tenshot::trainer {
namespace {

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

}  // namespace

std::vector<Architecture> plan(const PoolModel& model, const PlanRequest& request) {
  sampling::Candidates candidates;
  candidates.architectures =
      request.candidates.empty() ? datasets::latency_matrix(model.pool()).architectures : request.candidates;
  std::unordered_map<Architecture, std::size_t, nasbench::ArchitectureHash> index_of;
  for (std::size_t i = 0; i < candidates.architectures.size(); ++i) index_of.emplace(candidates.architectures[i], i);
  for (const Architecture& architecture : request.measured) {
    const auto [place, added] = index_of.emplace(architecture, candidates.architectures.size());
    if (added) candidates.architectures.push_back(architecture);
    candidates.measured.push_back(place->second);
  }
  candidates.pool_latency = pool_latency(model, candidates.architectures);
  Rng rng(request.seed);
  std::vector<Architecture> chosen;
  for (const std::size_t index : sampling::make_sampler(request.sampler)->choose(candidates, request.samples, rng)) {
    chosen.push_back(candidates.architectures[index]);
  }
  return chosen;
}

}  // namespace tenshot::trainer
