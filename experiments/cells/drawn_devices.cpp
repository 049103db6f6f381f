#include "experiments/cells/drawn_devices.h"

#include <algorithm>
#include <cmath>

#include "nasbench/support/random.h"

namespace tenshot::experiments {
namespace {

using nasbench::Architecture;
using nasbench::StructureModel;

constexpr std::size_t architectures_of_median = 400;
constexpr double largest_cost = 0.5;  ///< largest cost of an operation, in units of the median latency

double log_uniform(Rng& rng, double least, double most) { return least * std::pow(most / least, rng.uniform()); }

/// Costs of skip, 1×1 convolution, 3×3 convolution and pooling, up to a common factor.
struct OperationCosts {
  double skip = 0, conv_1x1 = 0, conv_3x3 = 0, pool = 0;
};

OperationCosts draw_operations(const std::string& pattern, Rng& rng) {
  if (pattern == "any") {
    const auto draw = [&] { return log_uniform(rng, 0.01, 0.5); };
    const double skip = draw(), conv_1x1 = draw(), conv_3x3 = draw();
    return {skip, conv_1x1, conv_3x3, draw()};
  }
  const auto times = [&](double least, double most) { return 0.2 * log_uniform(rng, least, most); };
  if (pattern == "launch") {
    const double skip = times(0.5, 1.4), conv_1x1 = times(0.7, 1.4), conv_3x3 = times(0.7, 1.4);
    return {skip, conv_1x1, conv_3x3, times(0.7, 1.4)};
  }
  if (pattern == "pooling") {
    const double skip = times(0.01, 0.5), conv_1x1 = times(0.3, 1);
    return {skip, conv_1x1, 0.2, times(0.7, 1.4)};
  }
  const double skip = times(0.01, 0.1), conv_1x1 = times(0.2, 1);
  return {skip, conv_1x1, 0.2, times(0.01, 0.2)};
}

/// Latency without noise: the greatest of the structure's alternatives.
double latency_of(const StructureModel& model, std::size_t structure, const Eigen::VectorXd& costs,
                  const Architecture& architecture) {
  const auto alternatives = static_cast<Eigen::Index>(model.structures()[structure].alternatives);
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> rows(alternatives, costs.size());
  model.evaluate(structure, architecture, rows.data());
  return (rows * costs).maxCoeff();
}

double median_latency(const StructureModel& model, std::size_t structure, const Eigen::VectorXd& costs,
                      const std::vector<Architecture>& architectures) {
  std::vector<double> latencies;
  for (const Architecture& a : architectures) latencies.push_back(latency_of(model, structure, costs, a));
  std::nth_element(latencies.begin(), latencies.begin() + latencies.size() / 2, latencies.end());
  return latencies[latencies.size() / 2];
}

/// Costs of a device whose median latency is 1: the named operations by their pattern,
/// what graph compilers add nearly free.
Eigen::VectorXd draw_costs(const StructureModel& model, std::size_t structure, const std::string& pattern,
                           const std::vector<Architecture>& architectures, Rng& rng) {
  const std::vector<bool>& uses = model.structures()[structure].uses;
  while (true) {
    const double base = log_uniform(rng, 0.1, 0.8);
    const OperationCosts operations = draw_operations(pattern, rng);
    Eigen::VectorXd costs = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(uses.size()));
    for (std::size_t f = 1; f < uses.size(); ++f) {
      const std::string& name = model.features()[f].name;
      double cost = log_uniform(rng, 0.002, 0.05);
      if (name == "skip_connect") cost = operations.skip;
      if (name == "nor_conv_1x1") cost = operations.conv_1x1;
      if (name == "nor_conv_3x3") cost = operations.conv_3x3;
      if (name == "avg_pool_3x3") cost = operations.pool;
      if (uses[f]) costs[static_cast<Eigen::Index>(f)] = cost;
    }
    costs *= (1 - base) / median_latency(model, structure, costs, architectures);
    costs[0] = base;
    if (costs.tail(costs.size() - 1).maxCoeff() <= largest_cost) return costs;
  }
}

std::vector<Architecture> connected_architectures(const nasbench::SearchSpace& space, std::size_t count) {
  std::vector<Architecture> architectures;
  Rng rng(1, 7);
  while (architectures.size() < count) {
    const Architecture architecture = space.random(rng);
    if (space.connected(architecture)) architectures.push_back(architecture);
  }
  return architectures;
}

}  // namespace

std::vector<std::string> cost_patterns() { return {"any", "launch", "pooling", "compute"}; }

std::vector<DrawnDevice> draw_devices(const StructureModel& model, std::size_t count, const std::vector<double>& noises,
                                      std::uint64_t seed) {
  const std::vector<Architecture> architectures = connected_architectures(model.space(), architectures_of_median);
  const std::vector<std::string> patterns = cost_patterns();
  const std::size_t structures = model.structures().size();
  std::vector<DrawnDevice> devices;
  for (std::size_t d = 0; d < count; ++d) {
    Rng rng(seed, d);
    DrawnDevice device;
    device.id = "simulated" + std::to_string(d);
    device.structure = d % structures;
    device.costs = patterns[d / structures % patterns.size()];
    device.stream = d;
    device.noise = noises[d / (structures * patterns.size()) % noises.size()];
    device.whole_milliseconds = d % 5 == 4;
    const double median_ms = log_uniform(rng, device.whole_milliseconds ? 20 : 0.5, 200);
    device.costs_ms = median_ms * draw_costs(model, device.structure, device.costs, architectures, rng);
    devices.push_back(std::move(device));
  }
  return devices;
}

std::vector<double> measure(const StructureModel& model, const DrawnDevice& device,
                            const std::vector<Architecture>& architectures, std::uint64_t seed) {
  std::vector<double> latency_ms;
  Rng rng(seed, device.stream);
  for (const Architecture& architecture : architectures) {
    double latency =
        latency_of(model, device.structure, device.costs_ms, architecture) * std::exp(device.noise * rng.normal());
    if (device.whole_milliseconds) latency = std::max(1.0, std::round(latency));
    latency_ms.push_back(latency);
  }
  return latency_ms;
}

}  // namespace tenshot::experiments
