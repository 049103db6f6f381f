#include "trainer/predictors/maple_edge/simulated_devices.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "nasbench/support/error.h"
#include "tests/unit/trainer/fixtures.h"
#include "trainer/predictors/structured/library_fit.h"

namespace tenshot::trainer {
namespace {

const nasbench::SearchSpace& space = nasbench::nasbench201();

const structured::StructuredLibrary& library() {
  static const structured::StructuredLibrary library = structured::library_of(test::synthetic_pool(60));
  return library;
}

const SimulatedSpace& simulated_space() {
  static const SimulatedSpace simulated(nasbench::structures_of(space));
  return simulated;
}

/// Base 1, skip 0, 1×1 convolution 2, 3×3 convolution 3, pool .5, all else free.
SimulatedDevice plain_device(const char* structure) {
  SimulatedDevice device;
  device.structure = nasbench::structures_of(space).structure_index(structure);
  device.costs = {1, 0, 2, 3, 0.5, 0, 0, 0, 0};
  device.floor = 0.01;
  return device;
}

std::size_t place(const char* cell) { return static_cast<std::size_t>(space.ordinal(space.parse(cell))); }

TEST(SimulatedDevice, TakesTheSumOfItsCostsUnderItsStructure) {
  // A dead 1×1 convolution; a path of two 3×3 convolutions beside one pool.
  const std::size_t dead = place("|nor_conv_1x1~0|+|none~0|none~1|+|avg_pool_3x3~0|none~1|none~2|");
  const std::size_t parallel = place("|nor_conv_3x3~0|+|none~0|none~1|+|avg_pool_3x3~0|nor_conv_3x3~1|none~2|");
  EXPECT_NEAR(log_latency(plain_device("total"), simulated_space(), dead), std::log(1 + 2 + 0.5), 1e-12);
  EXPECT_NEAR(log_latency(plain_device("live"), simulated_space(), dead), std::log(1 + 0.5), 1e-12);
  EXPECT_NEAR(log_latency(plain_device("live"), simulated_space(), parallel), std::log(1 + 6 + 0.5), 1e-12);
  EXPECT_NEAR(log_latency(plain_device("critical"), simulated_space(), parallel), std::log(1 + 6.0), 1e-12);
}

TEST(SimulatedDevice, TakesItsFloorWhereNothingRuns) {
  EXPECT_NEAR(log_latency(plain_device("live"), simulated_space(), 0), std::log(0.01), 1e-12);
}

TEST(SimulatedDevice, AddsAResidualForEachDecisionTakenAndEachThatLives) {
  SimulatedDevice device = plain_device("total");
  device.residuals.assign(60, 0);
  device.residuals[2] = 0.1;        // the first edge is a 1×1 convolution
  device.residuals[30 + 2] = 0.01;  // … and lives
  device.residuals[30] = 0.001;     // … or is dead
  const std::size_t dead = place("|nor_conv_1x1~0|+|none~0|none~1|+|avg_pool_3x3~0|none~1|none~2|");
  const std::size_t live = place("|nor_conv_1x1~0|+|none~0|none~1|+|avg_pool_3x3~0|skip_connect~1|none~2|");
  EXPECT_NEAR(log_latency(device, simulated_space(), dead), std::log(3.5) + 0.101, 1e-12);
  EXPECT_NEAR(log_latency(device, simulated_space(), live), std::log(3.5) + 0.11, 1e-12);
}

TEST(DevicePrior, HasPositiveCostsAndEveryStructure) {
  const DevicePrior prior(library(), {});
  Rng rng(1);
  std::vector<int> of_structure(library().model->structures().size(), 0);
  for (int i = 0; i < 2000; ++i) {
    const SimulatedDevice device = prior.draw(rng);
    ++of_structure[device.structure];
    for (const double cost : device.costs) EXPECT_GT(cost, 0);
    EXPECT_GE(device.noise, SimulationOptions{}.least_noise);
    EXPECT_LE(device.noise, SimulationOptions{}.most_noise);
  }
  EXPECT_GT(*std::min_element(of_structure.begin(), of_structure.end()), 0);
}

TEST(DevicePrior, DrawsMostDevicesAsDescribed) {
  // Under every structure, the base is said to be 10 (a hundred times what the library says), give or take .01.
  structured::DescribedDevice described;
  const auto features = static_cast<Eigen::Index>(library().features());
  for (std::size_t s = 0; s < library().model->structures().size(); ++s) {
    Eigen::VectorXd mean = Eigen::VectorXd::Constant(features, 0.1);
    mean[0] = 10;
    described.priors.push_back({mean, 1e-4 * Eigen::MatrixXd::Identity(features, features)});
  }
  SimulationOptions options;
  options.described_share = 0.8;
  const DevicePrior prior(library(), options, &described);
  Rng rng(1);
  int as_described = 0;
  for (int i = 0; i < 2000; ++i) as_described += std::abs(prior.draw(rng).costs[0] - 10) < 0.5;
  EXPECT_NEAR(as_described / 2000.0, 0.8, 0.03);
}

TEST(DrawNoise, HasTheMedianSizeOfStudentsT) {
  SimulatedDevice device = plain_device("total");
  device.noise = 0.1;
  Rng rng(2);
  std::vector<double> sizes;
  for (int i = 0; i < 20'000; ++i) sizes.push_back(std::abs(draw_noise(device, rng)));
  std::nth_element(sizes.begin(), sizes.begin() + 10'000, sizes.end());
  EXPECT_NEAR(sizes[10'000], 0.0741, 0.002);  // of t with four degrees of freedom: .741
}

TEST(LogDistance, DoesNotSeeTheScaleAndBoundsWhatOneCounts) {
  EXPECT_NEAR(log_distance({1, 2, 3}, {11, 12, 13}), 0, 1e-12);
  EXPECT_NEAR(log_distance({0, 0, 0.3}, {0, 0, 0}), 0.3 / std::sqrt(3.0), 1e-12);
  EXPECT_NEAR(log_distance({0, 0, 9}, {0, 0, 0}), 0.5 / std::sqrt(3.0), 1e-12);
}

TEST(NearbyDevices, AreNearerToTheMeasurementsThanOthers) {
  std::vector<std::size_t> measured;
  std::vector<double> log_ms;
  const SimulatedDevice truth = plain_device("live");
  Rng rng(5);
  while (measured.size() < 10) {
    const std::size_t a = rng.below(simulated_space().size());
    if (!space.connected(space.at(a))) continue;
    measured.push_back(a);
    log_ms.push_back(3 + log_latency(truth, simulated_space(), a));
  }
  SimulationOptions all, few;
  all.acceptance = 1;
  few.acceptance = 0.02;
  all.residual_share = few.residual_share = 0;
  const NearbyDevices anywhere(DevicePrior(library(), all), simulated_space(), all, measured, log_ms, 1);
  const NearbyDevices near(DevicePrior(library(), few), simulated_space(), few, measured, log_ms, 1);
  const auto mean_error = [&](const NearbyDevices& devices) {
    double sum = 0;
    for (int d = 0; d < 200; ++d) {
      const SimulatedDevice device = devices.draw(rng);
      std::vector<double> simulated;
      for (const std::size_t a : measured) simulated.push_back(log_latency(device, simulated_space(), a));
      sum += log_distance(simulated, log_ms) / 200;
    }
    return sum;
  };
  EXPECT_LT(mean_error(near), near.threshold());
  EXPECT_LT(near.threshold(), 0.8 * mean_error(anywhere));
}

TEST(NearbyDevices, HaveResidualsThatSumToTheDeviationAskedFor) {
  SimulationOptions options;
  options.residual_share = 0.6;
  const NearbyDevices devices(DevicePrior(library(), options), simulated_space(), options, {}, {}, 1);
  Rng rng(3);
  double squares = 0;
  constexpr int drawn = 4000;
  for (int d = 0; d < drawn; ++d) {
    const SimulatedDevice device = devices.draw(rng);
    double sum = 0;
    for (int i = 0; i < 12; ++i) sum += device.residuals[static_cast<std::size_t>(5 * i)];
    squares += std::pow(sum / device.noise, 2) / drawn;
  }
  EXPECT_NEAR(std::sqrt(squares), 0.6, 0.03);
}

TEST(SimulationOptions, AreReadAsTheyWereWrittenAndRefusedOutOfRange) {
  SimulationOptions options;
  options.acceptance = 0.5;
  options.cost_spreads = {0.1};
  const nlohmann::json json = option_json(options);
  EXPECT_EQ(option_json(declared(options).read(json)), json);
  options.acceptance = 0;
  EXPECT_THROW(declared(options).read(option_json(options)), InputError);
  options.acceptance = 1;
  options.cost_spreads.clear();
  EXPECT_THROW(declared(options).read(option_json(options)), InputError);
  options = {};
  options.least_noise = 0.5;
  EXPECT_THROW(declared(options).read(option_json(options)), InputError) << "above the largest";
}

}  // namespace
}  // namespace tenshot::trainer
