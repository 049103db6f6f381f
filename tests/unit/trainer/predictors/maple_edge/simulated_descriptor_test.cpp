#include <gtest/gtest.h>

#include <cmath>

#include "nasbench/support/error.h"
#include "tests/unit/trainer/fixtures.h"
#include "trainer/predictors/maple_edge/simulated_samples.h"
#include "trainer/predictors/structured/library_fit.h"

namespace tenshot::trainer {
namespace {

/// Three devices of three runtimes, whose convolutions cost more in one than in the other; two have counters.
datasets::Pool described_pool() {
  datasets::Pool pool = test::synthetic_pool(60);
  double factor = 1;
  for (datasets::DeviceRuntime& device : pool.devices) {
    test::describe(device);
    device.runtime = device.id;
    factor *= 1.5;
    for (auto& op : device.descriptor.operators) {
      if (op.name == "nor_conv_3x3") op.latency_ms *= factor;
      if (op.name == "skip_connect") op.latency_ms = 0.001;
    }
    for (auto& chain : device.descriptor.in_network) {
      if (chain.name == "nor_conv_3x3") chain.latency_ms *= factor;
    }
    if (device.id == "wide") continue;
    device.descriptor.source = "callgrind";
    device.descriptor.counters = {"cycles", "instructions", "cache-misses"};
    for (auto& op : device.descriptor.operators) op.counts = {5e5 * factor, 1e6, 300};
  }
  return pool;
}

struct Fitted {
  datasets::Pool pool = described_pool();
  structured::StructuredLibrary library = structured::library_of(pool);
  SimulatedDescriptor descriptor{pool, library, descriptor_inputs("auto")};
};

const Fitted& fitted() {
  static const Fitted fitted;
  return fitted;
}

/// The place of the first value of a kind.
std::size_t first_of(const SimulatedDescriptor& descriptor, DescriptorKind kind) {
  std::size_t j = 0;
  while (descriptor.kind(j) != kind) ++j;
  return j;
}

TEST(SimulatedDescriptor, HasNoScale) {
  datasets::HardwareDescriptor descriptor = fitted().pool.devices[0].descriptor;
  const std::vector<float> values = fitted().descriptor.values(descriptor);
  for (auto& op : descriptor.operators) op.latency_ms *= 7;
  for (auto& chain : descriptor.in_network) chain.latency_ms *= 3;
  const std::vector<float> slower = fitted().descriptor.values(descriptor);
  ASSERT_EQ(fitted().descriptor.kinds().size(), 3u);
  for (std::size_t j = 0; j < values.size(); ++j) EXPECT_NEAR(slower[j], values[j], 1e-4) << j;
}

TEST(SimulatedDescriptor, HoldsNoNumberForAKindThatIsAbsent) {
  const std::vector<float> values = fitted().descriptor.values(fitted().pool.devices[2].descriptor);
  const std::vector<float> none = fitted().descriptor.values({});
  for (std::size_t j = 0; j < values.size(); ++j) {
    EXPECT_EQ(std::isnan(values[j]), fitted().descriptor.kind(j) == DescriptorKind::counters) << j;
    EXPECT_TRUE(std::isnan(none[j]));
  }
}

TEST(SimulatedDescriptor, LeavesOutKindsThatNoDeviceOfThePoolHas) {
  datasets::Pool pool = test::synthetic_pool(60);
  const structured::StructuredLibrary library = structured::library_of(pool);
  EXPECT_EQ(SimulatedDescriptor(pool, library, descriptor_inputs("auto")).size(), 0u);
  EXPECT_THROW(descriptor_inputs("thermal"), InputError);
}

TEST(SimulatedDescriptor, DrawsALargerShareForAMadeUpDeviceOnWhichTheOperationCostsMore) {
  const auto& features = fitted().library.model->features();
  SimulatedDevice cheap;
  cheap.costs.assign(features.size(), 0.1);
  SimulatedDevice dear = cheap;
  std::size_t conv = 0;
  while (features[conv].name != "nor_conv_1x1") ++conv;
  dear.costs[conv] = 0.6;
  // The in-network values stand in the order of the features, without the base and the empty call.
  std::size_t place = first_of(fitted().descriptor, DescriptorKind::in_network);
  for (std::size_t f = 1; f < conv; ++f) place += features[f].name != "skip_connect" ? 1 : 0;
  Rng rng(3);
  double difference = 0;
  for (int i = 0; i < 400; ++i) {
    difference += fitted().descriptor.draw(dear, rng)[place] - fitted().descriptor.draw(cheap, rng)[place];
  }
  EXPECT_GT(difference / 400, 0.3);
}

struct Encoded {
  SimulatedSpace space{*fitted().library.model};
  DevicePrior prior{fitted().library, {}};
  SetEncoder encoder{prior, space.table, fitted().descriptor, 5};
};

const Encoded& encoded() {
  static const Encoded encoded;
  return encoded;
}

/// Measurements of the first architectures of the pool on its first device.
DeviceInputs encode(const SetEncoder& encoder, std::size_t size, bool reversed, const std::vector<float>& descriptor,
                    double factor = 1) {
  std::vector<nasbench::Architecture> architectures;
  std::vector<double> log_ms;
  for (std::size_t i = 0; i < size; ++i) {
    const auto& row = fitted().pool.devices[0].latencies[reversed ? size - 1 - i : i];
    architectures.push_back(row.architecture);
    log_ms.push_back(std::log(factor * row.latency_ms));
  }
  const std::vector<SetLoading> loadings = encoder.loadings(fitted().library.model->table(architectures));
  std::vector<SetMeasurement> measured;
  for (std::size_t i = 0; i < size; ++i) measured.push_back({&loadings[i], log_ms[i]});
  return encoder.encode(measured, descriptor);
}

/// Sum of the deviations, which stand after each mean.
double uncertainty(const DeviceInputs& set) {
  double sum = 0;
  for (std::size_t i = 1; i < 48; i += 2) sum += set.values[i];
  return sum;
}

TEST(SetEncoder, TakesMeasurementsInAnyOrderAndAnyUnit) {
  const DeviceInputs forward = encode(encoded().encoder, 12, false, {}),
                     backward = encode(encoded().encoder, 12, true, {});
  const DeviceInputs slower = encode(encoded().encoder, 12, false, {}, 50);
  ASSERT_EQ(forward.values.size(), encoded().encoder.size());
  for (std::size_t i = 0; i < forward.values.size(); ++i) {
    EXPECT_NEAR(backward.values[i], forward.values[i], 1e-5);
    EXPECT_NEAR(slower.values[i], forward.values[i], 1e-5);
  }
  EXPECT_NEAR(slower.centre - forward.centre, std::log(50), 1e-9);
}

TEST(SetEncoder, KnowsMoreOfADeviceTheMoreIsMeasuredOrDescribed) {
  const std::vector<float> descriptor = fitted().descriptor.values(fitted().pool.devices[0].descriptor);
  EXPECT_NEAR(uncertainty(encode(encoded().encoder, 0, false, {})), 24, 1e-5);  // the prior's: 1 in every direction
  EXPECT_LT(uncertainty(encode(encoded().encoder, 0, false, descriptor)), 24 - 0.01);
  const double three = uncertainty(encode(encoded().encoder, 3, false, {}));
  const double ten = uncertainty(encode(encoded().encoder, 10, false, {}));
  EXPECT_LT(three, 23.5);
  EXPECT_LT(ten, three);
  EXPECT_LT(uncertainty(encode(encoded().encoder, 10, false, descriptor)), ten);
}

TEST(SetEncoder, IsTheSameAfterLoading) {
  Archive archive;
  encoded().encoder.put(archive);
  const SetEncoder loaded(archive, fitted().library, fitted().descriptor);
  const std::vector<float> descriptor = fitted().descriptor.values(fitted().pool.devices[1].descriptor);
  EXPECT_EQ(encode(loaded, 5, false, descriptor).values, encode(encoded().encoder, 5, false, descriptor).values);
}

}  // namespace
}  // namespace tenshot::trainer
