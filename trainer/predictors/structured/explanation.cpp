#include "trainer/predictors/structured/explanation.h"

#include <map>

#include "nasbench/support/number_text.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/text.h"
#include "trainer/core/adaptation.h"
#include "trainer/predictors/posterior/error_calibration.h"
#include "trainer/predictors/posterior/latency_solver.h"
#include "trainer/predictors/structured/structured_planning.h"

namespace tenshot::trainer::structured {
namespace {

constexpr double believed = 1e-3;

/// Compares the measurements with what each device of the pool takes for the same networks: where they are tens of
/// times apart from all devices, the unit is probably another.
void suspect_unit(const StructuredLibrary& library, const AdaptationSet& set, std::vector<std::string>& found) {
  constexpr double unlike = 30;
  const nasbench::StructureTable table = library.model->table(set.architectures);
  double to_slowest = HUGE_VAL, to_fastest = 0;
  for (const LibraryEntry& entry : library.entries) {
    if (std::isnan(entry.log_rms)) continue;
    std::vector<double> ratios = relative_latencies(entry, table);
    for (std::size_t a = 0; a < ratios.size(); ++a) {
      ratios[a] = set.latency_ms[a] / (entry.median_ms * std::max(ratios[a], smallest_relative));
    }
    const double ratio = geometric_mean(ratios);
    to_slowest = std::min(to_slowest, ratio);
    to_fastest = std::max(to_fastest, ratio);
  }
  if (to_fastest <= 0) return;
  if (to_fastest < 1 / unlike) {
    found.push_back("the latencies are " + significant_digits(1 / to_fastest, 3) +
                    " times below the fastest device of the pool: are they in seconds? Milliseconds are expected");
  } else if (to_slowest > unlike) {
    found.push_back("the latencies are " + significant_digits(to_slowest, 3) +
                    " times above the slowest device of the pool: are they in microseconds? Milliseconds are expected");
  }
}

void suspect_outliers(const AdaptationSet& measured, const StructuredPosterior& posterior,
                      std::vector<std::string>& found) {
  constexpr double unexplained = 0.35;  // of log latency: a factor of 1.4
  const AdaptationSet set = without_removed(posterior.model->space(), measured);
  const std::size_t removed = measured.architectures.size() - set.architectures.size();
  if (removed > 0) {
    found.push_back(std::to_string(removed) +
                    (removed == 1 ? " measured network connects" : " measured networks connect") +
                    " no input to an output and took next to nothing: the runtime removes such networks, and they are "
                    "left out");
  }
  constexpr std::size_t most_named = 10;
  std::size_t outliers = 0;
  const LogLatency predicted = predict(posterior, posterior.model->table(set.architectures));
  for (std::size_t a = 0; a < set.architectures.size(); ++a) {
    const double error = std::log(set.latency_ms[a]) - predicted.mean[a];
    if (std::fabs(error) < std::max(unexplained, 4 * noise_of(posterior))) continue;
    if (++outliers > most_named) continue;
    found.push_back(posterior.model->space().format(set.architectures[a]) + " measured " +
                    significant_digits(set.latency_ms[a], 3) + " ms where the others suggest " +
                    significant_digits(std::exp(predicted.mean[a]), 3) + " ms: measure it again");
  }
  if (outliers > most_named) {
    found.push_back(std::to_string(outliers - most_named) +
                    " more measurements are as far from what the others suggest");
  }
}

void suspect_content(const nasbench::SearchSpace& space, const AdaptationSet& set, std::vector<std::string>& found) {
  constexpr std::size_t enough = 5;
  const std::size_t count = set.architectures.size();
  if (count < enough) {
    found.push_back(counted(count, "measurement") + ": the answer leans on the pool; ten are recommended");
  }
  const bool connected = std::any_of(set.architectures.begin(), set.architectures.end(),
                                     [&](const auto& a) { return space.connected(a); });
  if (!connected) {
    found.emplace_back("no measured network connects its input to its output: they say little about others");
  }
  const auto [least, most] = std::minmax_element(set.latency_ms.begin(), set.latency_ms.end());
  if (count > 2 && *least == *most) {
    found.push_back("all " + std::to_string(count) + " latencies are " + shortest(*least) +
                    " ms: is something else than the network being timed?");
  }
}

/// Warns of the first operator that a descriptor has at another resolution than `device`; says whether there is one.
template <class Measured>
bool warn_of_resolution(const std::vector<Measured>& own, const std::vector<Measured>& others,
                        const std::string& device, std::vector<Remark>& warnings) {
  for (const Measured& entry : own) {
    for (const Measured& other : others) {
      if (!nasbench::same_at_any_resolution(entry.key, other.key) || entry.key == other.key) continue;
      warnings.push_back({"the descriptor's operators were measured at a resolution of " +
                              std::to_string(entry.key.resolution()) + " where those of " + device +
                              " of the pool were at " + std::to_string(other.key.resolution()) +
                              ": their costs are taken as they are; measure them at the pool's, or leave the "
                              "descriptor out",
                          true});
      return true;
    }
  }
  return false;
}

/// The relative noise of a measurement, median over components; noise_of is the root mean square.
double median_noise(const StructuredPosterior& posterior) {
  std::map<double, double> weights;
  for (const Component& component : posterior.components) weights[component.noise] += component.weight;
  double below = 0;
  for (const auto& [noise, weight] : weights) {
    below += weight;
    if (below >= 0.5) return noise;
  }
  return 0;
}

}  // namespace

std::vector<std::pair<std::size_t, double>> believed_structures(const StructuredPosterior& posterior) {
  std::vector<double> weights(posterior.model->structures().size(), 0);
  for (const Component& component : posterior.components) weights[component.structure] += component.weight;
  std::vector<std::pair<std::size_t, double>> found;
  for (std::size_t s = 0; s < weights.size(); ++s) {
    if (weights[s] >= believed) found.emplace_back(s, weights[s]);
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  return found;
}

std::vector<PartCost> believed_costs(const StructuredPosterior& posterior) {
  std::vector<PartCost> found;
  for (std::size_t f = 0; f < posterior.model->features().size(); ++f) {
    double weight = 0, sum = 0, square = 0;  // over the components whose structure uses the feature
    for (const Component& component : posterior.components) {
      if (!posterior.model->structures()[component.structure].uses[f]) continue;
      const double mean = component.costs_ms[f];
      weight += component.weight;
      sum += component.weight * mean;
      square += component.weight * (mean * mean + component.covariance_ms2(f, f));
    }
    if (weight < believed) continue;
    const double mean = sum / weight;
    found.push_back(
        {posterior.model->features()[f].name, "", mean, std::sqrt(std::max(square / weight - mean * mean, 0.0))});
  }
  return found;
}

std::vector<Remark> explanation_lines(const StructuredPosterior& posterior, const StructuredLibrary& library,
                                      const AdaptationSet& set, const std::vector<nasbench::Architecture>& others,
                                      bool milliseconds) {
  std::vector<std::string> structures, costs;
  for (const auto& [s, probability] : believed_structures(posterior)) {
    const nasbench::Structure& structure = posterior.model->structures()[s];
    if (structures.size() == 3) break;
    structures.push_back(whole_percent(probability) + " " + structure.name + " (" + structure.meaning + ")");
  }
  for (const PartCost& cost : believed_costs(posterior)) {
    costs.push_back(cost.name + " " + significant_digits(cost.cost_ms, 3) + " ms ± " +
                    significant_digits(cost.deviation_ms, 3) + " ms");
  }
  std::vector<Remark> lines = {{"What the runtime executes: " + joined(structures, "; ")},
                               {"Costs of one occurrence in the cell: " + joined(costs)}};
  std::vector<double> weights(library.entries.size() + 1, 0);  // of the entries, then of what the descriptor says
  for (const Component& component : posterior.components) weights[component.entry] += component.weight;
  const auto nearest = static_cast<std::size_t>(std::max_element(weights.begin(), weights.end()) - weights.begin());
  const bool described = nearest == library.entries.size();
  lines.push_back({"Noise of a measurement: " + whole_percent(median_noise(posterior)) + "; " +
                   (described ? "as its descriptor says"
                    : library.entries[nearest].device == "generic"
                        ? "as is usual in the pool"
                        : "most like " + library.entries[nearest].device + " of the pool")});
  constexpr std::size_t further = 10;
  if (others.size() >= further && !set.architectures.empty()) {
    const std::vector<double> deviation = expected_deviation(posterior, library.model->table(others), further);
    lines.push_back({"Predictions are uncertain by " + whole_percent(deviation[0]) +
                     " beside the noise; five more measurements would leave " + whole_percent(deviation[further / 2]) +
                     ", ten more " + whole_percent(deviation[further]) + " (tenshot plan --measurements)"});
  }
  if (set.architectures.empty()) {
    lines.push_back(
        {"nothing was measured: this is what the descriptor says; a few measurements make it a much better answer",
         true});
    return lines;
  }
  std::vector<std::string> suspicions;
  if (milliseconds) suspect_unit(library, set, suspicions);
  suspect_content(library.model->space(), set, suspicions);
  suspect_outliers(set, posterior, suspicions);
  for (const std::string& suspicion : suspicions) lines.push_back({suspicion, true});
  return lines;
}

std::vector<Remark> pool_warnings(const datasets::Pool& pool, const datasets::HardwareDescriptor* descriptor) {
  std::vector<Remark> warnings;
  const std::size_t devices = pool.devices.size();
  if (devices < least_calibrated) {
    warnings.push_back({"the pool has " + counted(devices, "device-runtime") +
                            ": its intervals could not be checked on devices held out, which takes " +
                            std::to_string(least_calibrated) + ", and may be too narrow or too wide",
                        true});
  }
  if (descriptor == nullptr) return warnings;
  for (const datasets::DeviceRuntime& device : pool.devices) {
    const datasets::HardwareDescriptor& theirs = device.descriptor;
    if (warn_of_resolution(descriptor->operators, theirs.operators, device.id, warnings) ||
        warn_of_resolution(descriptor->in_network, theirs.in_network, device.id, warnings)) {
      break;
    }
  }
  return warnings;
}

}  // namespace tenshot::trainer::structured
