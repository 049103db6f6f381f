#include "trainer/predictors/structured/explanation.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <numeric>

#include "nasbench/support/numbers.h"
#include "trainer/core/adaptation.h"
#include "trainer/predictors/structured/planning.h"
#include "trainer/predictors/structured/prediction.h"

namespace tenshot::trainer::structured {
namespace {

constexpr double believed = 1e-3;

std::string rounded(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

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
DeviceCosts::Cost cost_of(const StructuredPosterior& posterior, std::size_t f) {
  DeviceCosts::Cost cost;
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

PoolScale pool_scale(const StructuredLibrary& library, const Evidence& evidence) {
  const nasbench::StructureTable table = library.model->table(evidence.architectures);
  PoolScale scale = {HUGE_VAL, 0};
  for (const LibraryEntry& entry : library.entries) {
    if (std::isnan(entry.log_rms)) continue;
    const Eigen::VectorXd paths = path_costs(entry.costs);
    std::vector<double> ratios;
    for (std::size_t a = 0; a < table.size; ++a) {
      const double* row = slowest_row(table, entry.structure, a, paths);
      const Eigen::Map<const Eigen::VectorXd> features(row, entry.costs.size());
      ratios.push_back(evidence.latency_ms[a] /
                       (entry.median_ms * std::max(features.dot(entry.costs), smallest_relative)));
    }
    const double ratio = geometric_mean(ratios);
    scale.fastest_ratio = std::min(scale.fastest_ratio, ratio);
    scale.slowest_ratio = std::max(scale.slowest_ratio, ratio);
  }
  return scale;
}

void warn_of_unit(const StructuredLibrary& library, const Evidence& evidence, std::vector<std::string>& warnings) {
  constexpr double unlike = 30;
  const PoolScale scale = pool_scale(library, evidence);
  if (scale.slowest_ratio <= 0) return;
  if (scale.slowest_ratio < 1 / unlike) {
    warnings.push_back("the latencies are " + rounded(1 / scale.slowest_ratio) +
                       " times below the fastest device of the pool: are they in seconds? Milliseconds are expected");
  } else if (scale.fastest_ratio > unlike) {
    warnings.push_back("the latencies are " + rounded(scale.fastest_ratio) +
                       " times above the slowest device of the pool: are they in microseconds? Milliseconds are "
                       "expected");
  }
}

void warn_of_outliers(const Evidence& measured, const StructuredPosterior& posterior,
                      std::vector<std::string>& warnings) {
  constexpr double unexplained = 0.35;  // of log latency: a factor of 1.4
  const Evidence evidence = without_removed(posterior.model->space(), measured);
  const std::size_t removed = measured.architectures.size() - evidence.architectures.size();
  if (removed > 0) {
    warnings.push_back(std::to_string(removed) +
                       (removed == 1 ? " measured network connects" : " measured networks connect") +
                       " no input to an output and took next to nothing: the runtime removes such networks, and they "
                       "are left out");
  }
  constexpr std::size_t most_named = 10;
  std::size_t outliers = 0;
  const LogLatency predicted = predict(posterior, posterior.model->table(evidence.architectures));
  for (std::size_t a = 0; a < evidence.architectures.size(); ++a) {
    const double error = std::log(evidence.latency_ms[a]) - predicted.mean[a];
    if (std::fabs(error) < std::max(unexplained, 4 * noise_of(posterior))) continue;
    if (++outliers > most_named) continue;
    warnings.push_back(posterior.model->space().format(evidence.architectures[a]) + " measured " +
                       rounded(evidence.latency_ms[a]) + " ms where the others suggest " +
                       rounded(std::exp(predicted.mean[a])) + " ms: measure it again");
  }
  if (outliers > most_named) {
    warnings.push_back(std::to_string(outliers - most_named) +
                       " more measurements are as far from what the others suggest");
  }
}

void warn_of_content(const nasbench::SearchSpace& space, const Evidence& evidence, std::vector<std::string>& warnings) {
  const std::size_t count = evidence.architectures.size();
  if (count < 5) {
    warnings.push_back(std::to_string(count) + (count == 1 ? " measurement" : " measurements") +
                       ": the answer leans on the pool; ten are recommended");
  }
  const auto dead = std::count_if(evidence.architectures.begin(), evidence.architectures.end(),
                                  [&](const auto& architecture) { return !space.connected(architecture); });
  if (static_cast<std::size_t>(dead) == count) {
    warnings.push_back("no measured network connects its input to its output: they say little about others");
  }
  const auto [least, most] = std::minmax_element(evidence.latency_ms.begin(), evidence.latency_ms.end());
  if (count > 2 && *least == *most) {
    warnings.push_back("all " + std::to_string(count) + " latencies are " + shortest(*least) +
                       " ms: is something else than the network being timed?");
  }
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

std::vector<std::string> evidence_warnings(const StructuredLibrary& library, const Evidence& evidence,
                                           const StructuredPosterior& posterior, bool milliseconds) {
  std::vector<std::string> warnings;
  if (milliseconds) warn_of_unit(library, evidence, warnings);
  warn_of_content(library.model->space(), evidence, warnings);
  warn_of_outliers(evidence, posterior, warnings);
  return warnings;
}

MergedEvidence merge_duplicates(const Evidence& evidence, const nasbench::SearchSpace& space) {
  std::map<nasbench::Architecture, std::vector<double>> latencies;
  for (std::size_t a = 0; a < evidence.architectures.size(); ++a) {
    latencies[evidence.architectures[a]].push_back(evidence.latency_ms[a]);
  }
  MergedEvidence merged;
  merged.evidence.whole_milliseconds = evidence.whole_milliseconds;
  for (const nasbench::Architecture& architecture : evidence.architectures) {
    std::vector<double>& values = latencies[architecture];
    if (values.empty()) continue;  // stood before
    merged.evidence.architectures.push_back(architecture);
    merged.evidence.latency_ms.push_back(geometric_mean(values));
    if (values.size() > 1) {
      const auto [least, most] = std::minmax_element(values.begin(), values.end());
      merged.notes.push_back(space.format(architecture) + " measured " + std::to_string(values.size()) + " times, " +
                             rounded(*least) + " to " + rounded(*most) + " ms: their geometric mean counts");
    }
    values.clear();
  }
  return merged;
}

}  // namespace tenshot::trainer::structured
