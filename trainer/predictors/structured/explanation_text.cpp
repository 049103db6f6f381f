#include "trainer/predictors/structured/explanation_text.h"

#include <tuple>
#include <utility>

#include "nasbench/support/number_text.h"
#include "nasbench/support/numbers.h"
#include "trainer/predictors/posterior/error_calibration.h"
#include "trainer/predictors/structured/structured_planning.h"

namespace tenshot::trainer::structured {
namespace {

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

std::string in_words(const Suspicion& suspicion, const nasbench::SearchSpace& space) {
  const std::string count = std::to_string(suspicion.count);
  switch (suspicion.of) {
    case Suspicion::Of::seconds:
      return "the latencies are " + significant_digits(suspicion.times, 3) +
             " times below the fastest device of the pool: are they in seconds? Milliseconds are expected";
    case Suspicion::Of::microseconds:
      return "the latencies are " + significant_digits(suspicion.times, 3) +
             " times above the slowest device of the pool: are they in microseconds? Milliseconds are expected";
    case Suspicion::Of::few:
      return count + (suspicion.count == 1 ? " measurement" : " measurements") +
             ": the answer leans on the pool; ten are recommended";
    case Suspicion::Of::unconnected:
      return "no measured network connects its input to its output: they say little about others";
    case Suspicion::Of::equal:
      return "all " + count + " latencies are " + shortest(suspicion.measured_ms) +
             " ms: is something else than the network being timed?";
    case Suspicion::Of::removed:
      return count + (suspicion.count == 1 ? " measured network connects" : " measured networks connect") +
             " no input to an output and took next to nothing: the runtime removes such networks, and they are left "
             "out";
    case Suspicion::Of::outlier:
      return space.format(suspicion.architecture) + " measured " + significant_digits(suspicion.measured_ms, 3) +
             " ms where the others suggest " + significant_digits(suspicion.expected_ms, 3) + " ms: measure it again";
    case Suspicion::Of::more_outliers: return count + " more measurements are as far from what the others suggest";
  }
  return "";
}

std::vector<Remark> explanation_lines(const StructuredPosterior& posterior, const StructuredLibrary& library,
                                      const AdaptationSet& set, const std::vector<nasbench::Architecture>& others,
                                      bool milliseconds) {
  const Explanation explained = explain(posterior, library);
  std::vector<Remark> lines;
  std::string structures;
  for (std::size_t i = 0; i < explained.structures.size() && i < 3; ++i) {
    const DeviceCosts::Structure& belief = explained.structures[i];
    structures +=
        (i == 0 ? "" : "; ") + whole_percent(belief.probability) + " " + belief.name + " (" + belief.meaning + ")";
  }
  lines.push_back({"What the runtime executes: " + structures});
  std::string costs;
  for (const PartCost& cost : explained.costs) {
    costs += (costs.empty() ? "" : ", ") + cost.name + " " + significant_digits(cost.cost_ms, 3) + " ms" + " ± " +
             significant_digits(cost.deviation_ms, 3) + " ms";
  }
  lines.push_back({"Costs of one occurrence in the cell: " + costs});
  const std::string& device = explained.nearest_device;
  lines.push_back({"Noise of a measurement: " + whole_percent(explained.noise) + "; " +
                   (device.empty() ? "as its descriptor says" : "most like " + device + " of the pool")});
  constexpr std::size_t further = 10;
  if (others.size() >= further && !set.architectures.empty()) {
    const std::vector<double> deviation = expected_deviation(posterior, library.model->table(others), further);
    lines.push_back({"Predictions are uncertain by " + whole_percent(deviation[0]) +
                     " beside the noise; five more measurements would leave " + whole_percent(deviation[further / 2]) +
                     ", ten more " + whole_percent(deviation[further]) + " (tenshot plan --measurements)"});
  }
  if (set.architectures.empty()) {
    lines.push_back(
        {"nothing was measured: this is what the descriptor says; a few measurements make it a much better "
         "answer",
         true});
    return lines;
  }
  for (const Suspicion& suspicion : suspicions(library, set, posterior, milliseconds)) {
    lines.push_back({in_words(suspicion, library.model->space()), true});
  }
  return lines;
}

std::vector<Remark> pool_warnings(const datasets::Pool& pool, const datasets::HardwareDescriptor* descriptor) {
  std::vector<Remark> warnings;
  const std::size_t devices = pool.devices.size();
  if (devices < least_calibrated) {
    warnings.push_back({"the pool has " + std::to_string(devices) +
                            (devices == 1 ? " device-runtime" : " device-runtimes") +
                            ": its intervals could not be checked on devices held out, which takes " +
                            std::to_string(least_calibrated) + ", and may be too narrow or too wide",
                        true});
  }
  const std::string warning = descriptor == nullptr ? "" : resolution_warning(pool, *descriptor);
  if (!warning.empty()) warnings.push_back({warning, true});
  return warnings;
}

}  // namespace tenshot::trainer::structured
