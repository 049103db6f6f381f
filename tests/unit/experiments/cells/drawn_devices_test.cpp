#include "experiments/cells/drawn_devices.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace tenshot::experiments {
namespace {

const nasbench::StructureModel& model() { return nasbench::structures_of(nasbench::nasbench201()); }

std::vector<nasbench::Architecture> some_architectures() {
  std::vector<nasbench::Architecture> architectures;
  for (std::uint64_t i = 0; i < 300; ++i) architectures.push_back(nasbench::nasbench201().at(15624 - 50 * i));
  return architectures;
}

TEST(SimulatedDevices, AreOfEveryStructurePatternAndNoise) {
  const auto devices = draw_devices(model(), 144, {0.01, 0.03, 0.06}, 1);
  std::set<std::pair<std::size_t, std::pair<std::string, double>>> kinds;
  for (const DrawnDevice& device : devices) kinds.insert({device.structure, {device.costs, device.noise}});
  EXPECT_EQ(kinds.size(), 144U);
}

TEST(SimulatedDevices, HaveCostsOfTheirPatternAndStructure) {
  for (const DrawnDevice& device : draw_devices(model(), 96, {0.03}, 2)) {
    const Eigen::VectorXd& costs = device.costs_ms;  // base, skip, 1×1, 3×3, pool, add, relu, multiply, reorder
    for (Eigen::Index f = 0; f < costs.size(); ++f) {
      EXPECT_EQ(costs[f] > 0, bool(model().structures()[device.structure].uses[f])) << device.id << " " << f;
    }
    if (device.costs == "launch" || device.costs == "pooling") {
      EXPECT_GT(costs[4], 0.49 * costs[3]);
      EXPECT_LT(costs[4], 2.01 * costs[3]);
    }
    if (device.costs == "compute") {
      EXPECT_LT(costs[4], 0.21 * costs[3]);
    }
  }
}

TEST(SimulatedDevices, MeasureTheirCostsWithTheirNoise) {
  DrawnDevice device = draw_devices(model(), 1, {0.03}, 3).front();  // "total"
  const auto architectures = some_architectures();
  const std::vector<double> noisy = measure(model(), device, architectures, 5);
  EXPECT_EQ(noisy, measure(model(), device, architectures, 5));
  EXPECT_NE(noisy, measure(model(), device, architectures, 6));
  device.noise = 0;
  const std::vector<double> exact = measure(model(), device, architectures, 5);
  std::vector<double> row(model().features().size());
  double squares = 0;
  for (std::size_t a = 0; a < architectures.size(); ++a) {
    model().evaluate(device.structure, architectures[a], row.data());
    EXPECT_NEAR(exact[a], Eigen::Map<Eigen::VectorXd>(row.data(), device.costs_ms.size()).dot(device.costs_ms), 1e-9);
    squares += std::pow(std::log(noisy[a] / exact[a]), 2);
  }
  EXPECT_NEAR(std::sqrt(squares / static_cast<double>(architectures.size())), 0.03, 0.005);
}

TEST(SimulatedDevices, SomeCountWholeMilliseconds) {
  const auto devices = draw_devices(model(), 10, {0.03}, 4);
  for (const DrawnDevice& device : devices) {
    const std::vector<double> latency_ms = measure(model(), device, some_architectures(), 1);
    const bool whole =
        std::all_of(latency_ms.begin(), latency_ms.end(), [](double ms) { return ms == std::round(ms); });
    EXPECT_EQ(whole, device.whole_milliseconds) << device.id;
  }
  EXPECT_EQ(std::count_if(devices.begin(), devices.end(), [](const auto& d) { return d.whole_milliseconds; }), 2);
}

}  // namespace
}  // namespace tenshot::experiments
