#include "trainer/predictors/structured/explanation_text.h"

#include <cstdio>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "trainer/predictors/structured/calibration.h"
#include "trainer/predictors/structured/explanation.h"
#include "trainer/predictors/structured/planning.h"

namespace tenshot::trainer::structured {
namespace {

std::string percent(double share) {
  char text[16];
  std::snprintf(text, sizeof text, "%.0f %%", 100 * share);
  return text;
}

std::string in_ms(double value_ms) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g ms", value_ms);
  return text;
}

/// What one measured an operator at, and the other another resolution of the same operator; 0: none.
template <class Measured>
std::pair<int, int> unlike_resolutions(const std::vector<Measured>& own, const std::vector<Measured>& others) {
  for (const Measured& entry : own) {
    for (const Measured& other : others) {
      if (!nasbench::same_at_any_resolution(entry.key, other.key) || entry.key == other.key) continue;
      return {entry.key.resolution(), other.key.resolution()};
    }
  }
  return {0, 0};
}

/// A sentence where the descriptor's operators ran at another resolution than the pool's; else empty.
std::string resolution_warning(const datasets::Pool& pool, const datasets::HardwareDescriptor& descriptor) {
  for (const datasets::DeviceRuntime& device : pool.devices) {
    auto [own, theirs] = unlike_resolutions(descriptor.operators, device.descriptor.operators);
    if (own == 0) std::tie(own, theirs) = unlike_resolutions(descriptor.in_network, device.descriptor.in_network);
    if (own == 0) continue;
    return "the descriptor's operators were measured at a resolution of " + std::to_string(own) + " where those of " +
           device.id + " of the pool were at " + std::to_string(theirs) +
           ": their costs are taken as they are; measure them at the pool's, or leave the descriptor out";
  }
  return "";
}

}  // namespace

nlohmann::json explanation_lines(const StructuredPosterior& posterior, const StructuredLibrary& library,
                                 const Evidence& evidence, const std::vector<nasbench::Architecture>& others,
                                 bool milliseconds) {
  const Explanation explained = explain(posterior, library);
  nlohmann::json lines = nlohmann::json::array();
  std::string structures;
  for (std::size_t i = 0; i < explained.structures.size() && i < 3; ++i) {
    const DeviceCosts::Structure& belief = explained.structures[i];
    structures += (i == 0 ? "" : "; ") + percent(belief.probability) + " " + belief.name + " (" + belief.meaning + ")";
  }
  lines.push_back("What the runtime executes: " + structures);
  std::string costs;
  for (const DeviceCosts::Cost& cost : explained.costs) {
    costs += (costs.empty() ? "" : ", ") + cost.name + " " + in_ms(cost.cost_ms) + " ± " + in_ms(cost.deviation_ms);
  }
  lines.push_back("Costs of one occurrence in the cell: " + costs);
  const std::string& device = explained.nearest_device;
  lines.push_back("Noise of a measurement: " + percent(explained.noise) + "; " +
                  (device.empty() ? "as its descriptor says" : "most like " + device + " of the pool"));
  constexpr std::size_t further = 10;
  if (others.size() >= further && !evidence.architectures.empty()) {
    const std::vector<double> deviation = expected_deviation(posterior, library.model->table(others), further);
    lines.push_back("Predictions are uncertain by " + percent(deviation[0]) +
                    " beside the noise; five more measurements would leave " + percent(deviation[further / 2]) +
                    ", ten more " + percent(deviation[further]) + " (tenshot plan --after)");
  }
  if (evidence.architectures.empty()) {
    lines.push_back(std::string(warning_mark) +
                    "nothing was measured: this is what the descriptor says; a few measurements make it a much better "
                    "answer");
    return lines;
  }
  for (const std::string& warning : evidence_warnings(library, evidence, posterior, milliseconds)) {
    lines.push_back(std::string(warning_mark) + warning);
  }
  return lines;
}

std::vector<std::string> pool_warnings(const datasets::Pool& pool, const datasets::HardwareDescriptor* descriptor) {
  std::vector<std::string> warnings;
  const std::size_t devices = pool.devices.size();
  if (devices < least_calibrated) {
    warnings.push_back("the pool has " + std::to_string(devices) +
                       (devices == 1 ? " device-runtime" : " device-runtimes") +
                       ": its intervals could not be checked on devices held out, which takes " +
                       std::to_string(least_calibrated) + ", and may be too narrow or too wide");
  }
  const std::string warning = descriptor == nullptr ? "" : resolution_warning(pool, *descriptor);
  if (!warning.empty()) warnings.push_back(warning);
  return warnings;
}

}  // namespace tenshot::trainer::structured
