#include "trainer/predictors/structured/explanation.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "trainer/core/adaptation.h"
#include "trainer/predictors/posterior/latency_solver.h"
#include "trainer/predictors/structured/prediction.h"
#include "trainer/predictors/structured/structured_planning.h"

namespace tenshot::trainer::structured {
namespace {

constexpr double believed = 1e-3;

std::vector<double> structure_weights(const StructuredPosterior& posterior) {
  std::vector<double> weights(posterior.model->structures().size(), 0);
  for (const Component& component : posterior.components) weights[component.structure] += component.weight;
  return weights;
}

std::vector<DeviceCosts::Structure> structure_beliefs(const StructuredPosterior& posterior) {
  const std::vector<double> weights = structure_weights(posterior);
  std::vector<DeviceCosts::Structure> beliefs;
  for (std::size_t s = 0; s < weights.size(); ++s) {
    const nasbench::Structure& structure = posterior.model->structures()[s];
    if (weights[s] >= believed) beliefs.push_back({structure.name, structure.meaning, weights[s]});
  }
  std::stable_sort(
      beliefs.begin(), beliefs.end(),
      [](const DeviceCosts::Structure& a, const DeviceCosts::Structure& b) { return a.probability > b.probability; });
  return beliefs;
}

/// Cost of feature `f` over the components whose structure uses it.
PartCost cost_of(const StructuredPosterior& posterior, std::size_t f) {
  PartCost cost;
  cost.name = posterior.model->features()[f].name;
  const auto index = static_cast<Eigen::Index>(f);
  double weight = 0;
  double square = 0;
  for (const Component& component : posterior.components) {
    if (!posterior.model->structures()[component.structure].uses[f]) continue;
    const double mean = component.costs_ms[index];
    weight += component.weight;
    cost.cost_ms += component.weight * mean;
    square += component.weight * (mean * mean + component.covariance_ms2(index, index));
  }
  if (weight <= 0) return cost;
  cost.cost_ms /= weight;
  cost.deviation_ms = std::sqrt(std::max(square / weight - cost.cost_ms * cost.cost_ms, 0.0));
  return cost;
}

/// Sum of weights of the components whose structure uses the feature.
double usage(const StructuredPosterior& posterior, std::size_t f) {
  double weight = 0;
  for (const Component& component : posterior.components) {
    if (posterior.model->structures()[component.structure].uses[f]) weight += component.weight;
  }
  return weight;
}

double median_noise(const StructuredPosterior& posterior) {
  std::map<double, double> weights;
  for (const Component& component : posterior.components) weights[component.noise] += component.weight;
  double below = 0;
  for (const auto& [noise, weight] : weights) {
    below += weight;
    if (below >= 0.5) return noise;
  }
  return weights.empty() ? 0 : weights.rbegin()->first;
}

/// The scale of measurements against the pool: how many times the pool's latency of the same networks they are, by the
/// device of the pool that is nearest.
struct PoolScale {
  double fastest_ratio = 0;  ///< to the slowest device of the pool
  double slowest_ratio = 0;  ///< to the fastest
};

PoolScale pool_scale(const StructuredLibrary& library, const AdaptationSet& set) {
  const nasbench::StructureTable table = library.model->table(set.architectures);
  PoolScale scale = {HUGE_VAL, 0};
  for (const LibraryEntry& entry : library.entries) {
    if (std::isnan(entry.log_rms)) continue;
    const Eigen::VectorXd paths = path_costs(entry.costs);
    std::vector<double> ratios;
    for (std::size_t a = 0; a < table.size; ++a) {
      const double* row = slowest_row(table, entry.structure, a, paths);
      const Eigen::Map<const Eigen::VectorXd> features(row, entry.costs.size());
      ratios.push_back(set.latency_ms[a] / (entry.median_ms * std::max(features.dot(entry.costs), smallest_relative)));
    }
    const double ratio = geometric_mean(ratios);
    scale.fastest_ratio = std::min(scale.fastest_ratio, ratio);
    scale.slowest_ratio = std::max(scale.slowest_ratio, ratio);
  }
  return scale;
}

void suspect_unit(const StructuredLibrary& library, const AdaptationSet& set, std::vector<Suspicion>& found) {
  constexpr double unlike = 30;
  const PoolScale scale = pool_scale(library, set);
  if (scale.slowest_ratio <= 0) return;
  if (scale.slowest_ratio < 1 / unlike) {
    found.push_back({Suspicion::Of::seconds, 0, 1 / scale.slowest_ratio});
  } else if (scale.fastest_ratio > unlike) {
    found.push_back({Suspicion::Of::microseconds, 0, scale.fastest_ratio});
  }
}

void suspect_outliers(const AdaptationSet& measured, const StructuredPosterior& posterior,
                      std::vector<Suspicion>& found) {
  constexpr double unexplained = 0.35;  // of log latency: a factor of 1.4
  const AdaptationSet set = without_removed(posterior.model->space(), measured);
  const std::size_t removed = measured.architectures.size() - set.architectures.size();
  if (removed > 0) found.push_back({Suspicion::Of::removed, removed});
  constexpr std::size_t most_named = 10;
  std::size_t outliers = 0;
  const LogLatency predicted = predict(posterior, posterior.model->table(set.architectures));
  for (std::size_t a = 0; a < set.architectures.size(); ++a) {
    const double error = std::log(set.latency_ms[a]) - predicted.mean[a];
    if (std::fabs(error) < std::max(unexplained, 4 * noise_of(posterior))) continue;
    if (++outliers > most_named) continue;
    found.push_back(
        {Suspicion::Of::outlier, 1, 0, set.latency_ms[a], std::exp(predicted.mean[a]), set.architectures[a]});
  }
  if (outliers > most_named) found.push_back({Suspicion::Of::more_outliers, outliers - most_named});
}

void suspect_content(const nasbench::SearchSpace& space, const AdaptationSet& set, std::vector<Suspicion>& found) {
  constexpr std::size_t enough = 5;
  const std::size_t count = set.architectures.size();
  if (count < enough) found.push_back({Suspicion::Of::few, count});
  const bool connected = std::any_of(set.architectures.begin(), set.architectures.end(),
                                     [&](const auto& architecture) { return space.connected(architecture); });
  if (!connected) found.push_back({Suspicion::Of::unconnected, count});
  const auto [least, most] = std::minmax_element(set.latency_ms.begin(), set.latency_ms.end());
  if (count > 2 && *least == *most) found.push_back({Suspicion::Of::equal, count, 0, *least});
}

}  // namespace

Explanation explain(const StructuredPosterior& posterior) {
  Explanation explanation;
  explanation.structures = structure_beliefs(posterior);
  explanation.noise = median_noise(posterior);
  for (std::size_t f = 0; f < posterior.model->features().size(); ++f) {
    if (usage(posterior, f) >= believed) explanation.costs.push_back(cost_of(posterior, f));
  }
  return explanation;
}

Explanation explain(const StructuredPosterior& posterior, const StructuredLibrary& library) {
  Explanation explanation = explain(posterior);
  std::vector<double> entry_weights(library.entries.size() + 1, 0);
  for (const Component& component : posterior.components) entry_weights[component.entry] += component.weight;
  const auto heaviest = std::max_element(entry_weights.begin(), entry_weights.end());
  const auto entry = static_cast<std::size_t>(heaviest - entry_weights.begin());
  explanation.nearest_device = entry < library.entries.size() ? library.entries[entry].device : "";
  return explanation;
}

std::vector<Suspicion> suspicions(const StructuredLibrary& library, const AdaptationSet& set,
                                  const StructuredPosterior& posterior, bool milliseconds) {
  std::vector<Suspicion> found;
  if (milliseconds) suspect_unit(library, set, found);
  suspect_content(library.model->space(), set, found);
  suspect_outliers(set, posterior, found);
  return found;
}

}  // namespace tenshot::trainer::structured
