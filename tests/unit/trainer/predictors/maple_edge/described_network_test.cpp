#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "nasbench/support/error.h"
#include "tests/unit/trainer/fixtures.h"
#include "tests/unit/trainer/predictors/maple_edge/new_device.h"
#include "trainer/core/metrics.h"
#include "trainer/predictors/maple_edge/maple_edge.h"
#include "trainer/predictors/maple_edge/simulated_samples.h"
#include "trainer/predictors/structured/library_fit.h"

namespace tenshot::trainer {
namespace {

/// What a device of test::synthetic_device says: its operators' costs, alone and in a network, and what they count.
datasets::HardwareDescriptor described(double speed, double conv_weight) {
  const auto& space = nasbench::nasbench201();
  datasets::HardwareDescriptor descriptor;
  descriptor.source = "perf_event";
  descriptor.counters = {"cycles", "instructions", "cache-misses"};
  const auto cost_of = [&](const std::string& name) {
    if (name == "nor_conv_3x3") return conv_weight;
    if (name == "nor_conv_1x1") return 0.5;
    return name == "avg_pool_3x3" ? 0.4 : 0.1;
  };
  for (const auto& op : space.operators({}, 1)) {
    const double ms = speed * cost_of(op.name) / 15;
    descriptor.operators.push_back({op.name, op.key, ms, {2e6 * ms, 5e6 * ms / speed, 300 * cost_of(op.name)}});
  }
  for (const auto& chain : space.operation_chains({}, 1)) {
    descriptor.in_network.push_back({chain.name, chain.key, speed * cost_of(chain.name) / 15});
  }
  return descriptor;
}

/// The first devices of the made-up pool, each of a runtime of its own, with all kinds of descriptors.
datasets::Pool described_pool(std::size_t devices) {
  datasets::Pool pool = test::synthetic_pool(100);
  pool.devices[0].descriptor = described(10, 1.5);
  pool.devices[1].descriptor = described(1, 0.8);
  pool.devices[2].descriptor = described(3, 1.1);
  for (auto& device : pool.devices) device.runtime = device.id;
  pool.devices.resize(devices);
  return pool;
}

/// With the descriptor of that device.
NewDevice described_device(std::size_t measured) {
  NewDevice device = new_device(measured);
  device.set.descriptor = described(5, 1.0);
  return device;
}

std::string used(const Predictor& predictor) { return predictor.to_archive().card.at("descriptor_used"); }

class SmallPools : public ::testing::TestWithParam<std::size_t> {};

TEST_P(SmallPools, TrainWithDescriptorsAndAdaptToADescribedDevice) {
  MapleEdgeSettings settings = quick_settings();
  settings.simulation.descriptor_inputs = true;
  const NewDevice device = described_device(10);
  const auto predictor = train_simulated_network(described_pool(GetParam()), settings)->adapt(device.set, {});
  EXPECT_EQ(used(*predictor), "in-network + alone + counters");
  EXPECT_GT(acc10(*predictor, device), 0.7);
}

TEST_P(SmallPools, KeepAStrangersDescriptorWithinBounds) {
  const datasets::Pool pool = described_pool(GetParam());
  const structured::StructuredLibrary library = structured::library_of(pool);
  const SimulatedDescriptor inputs(pool, library, descriptor_inputs("auto"));
  datasets::HardwareDescriptor odd = described(5, 1.0);
  odd.operators[0].latency_ms *= 1e6;
  odd.operators[1].counts = {1e15, 1, 0};
  odd.in_network[0].latency_ms *= 1e6;
  ASSERT_GT(inputs.size(), 0u);
  for (const float value : inputs.values(odd)) EXPECT_LE(std::abs(value), 3.0F);
}

INSTANTIATE_TEST_SUITE_P(OneAndTwo, SmallPools, ::testing::Values(1, 2));

TEST(CountersOfTheNetwork, AreInputsWhereTheyAreAskedFor) {
  MapleEdgeSettings settings = quick_settings();
  settings.descriptor = "counters";
  const auto model = train_simulated_network(described_pool(3), settings);
  NewDevice device = described_device(10);
  const auto with = model->adapt(device.set, {});
  EXPECT_EQ(used(*with), "alone + counters");
  EXPECT_GT(acc10(*with, device), 0.7);
  device.set.descriptor->counters.clear();
  for (auto& op : device.set.descriptor->operators) op.counts.clear();
  const auto without = model->adapt(device.set, {});
  EXPECT_EQ(used(*without), "alone");
  EXPECT_NE(with->predict(device.architectures, 0.9).latency_ms,
            without->predict(device.architectures, 0.9).latency_ms);
}

TEST(CountersOfTheNetwork, AreRefusedWhereNoDeviceOfThePoolHasAny) {
  MapleEdgeSettings settings = quick_settings();
  settings.descriptor = "counters";
  datasets::Pool pool = described_pool(3);
  for (auto& device : pool.devices) device.descriptor.counters.clear();
  try {
    train_simulated_network(pool, settings);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("no device-runtime of the pool has counters"), std::string::npos);
  }
}

/// Whether all values of counters are missing, and no other.
bool lacks_counters_alone(const SimulatedDescriptor& inputs, const datasets::HardwareDescriptor& descriptor) {
  const std::vector<float> values = inputs.values(descriptor);
  for (std::size_t j = 0; j < values.size(); ++j) {
    if (std::isnan(values[j]) != (inputs.kind(j) == DescriptorKind::counters)) return false;
  }
  return true;
}

TEST(CountersOfTheNetwork, AreMissingWhereTheyDoNotCompareWithThePools) {
  const datasets::Pool pool = described_pool(3);
  const structured::StructuredLibrary library = structured::library_of(pool);
  const SimulatedDescriptor inputs(pool, library, descriptor_inputs("auto"));
  const datasets::HardwareDescriptor same = described(5, 1.0);
  EXPECT_FALSE(lacks_counters_alone(inputs, same));
  datasets::HardwareDescriptor other = same;
  std::swap(other.counters[0], other.counters[2]);
  EXPECT_TRUE(lacks_counters_alone(inputs, other));
  other = same;
  other.source = "callgrind";
  EXPECT_TRUE(lacks_counters_alone(inputs, other));
  other = same;  // without the last kind of operator, so that there are fewer numbers
  const std::string last = other.operators.back().name;
  other.operators.erase(
      std::remove_if(other.operators.begin(), other.operators.end(), [&](const auto& op) { return op.name == last; }),
      other.operators.end());
  const std::vector<float> values = inputs.values(other);
  for (std::size_t j = 0; j < values.size(); ++j) {
    if (inputs.kind(j) == DescriptorKind::counters) {
      EXPECT_TRUE(std::isnan(values[j]));
    }
  }
}

TEST(Masking, LeavesOutWholeKindsAsOftenAsAsked) {
  const datasets::Pool pool = described_pool(3);
  const structured::StructuredLibrary library = structured::library_of(pool);
  const SimulatedDescriptor inputs(pool, library, descriptor_inputs("auto"));
  const std::vector<float> values = inputs.values(described(5, 1.0));
  Rng rng(3);
  EXPECT_EQ(inputs.masked(values, 0, rng), values);
  int left_out = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::vector<float> some = inputs.masked(values, 0.3, rng);
    for (std::size_t j = 0; j < values.size(); ++j) {
      const bool first = j == 0 || inputs.kind(j) != inputs.kind(j - 1);
      if (first && std::isnan(some[j])) ++left_out;
      if (!first) {
        EXPECT_EQ(std::isnan(some[j]), std::isnan(some[j - 1]));
      }
      if (!std::isnan(some[j])) {
        EXPECT_EQ(some[j], values[j]);
      }
    }
  }
  EXPECT_NEAR(left_out / 3000.0, 0.3, 0.04);  // three kinds; the standard deviation is .008
  for (const float value : inputs.masked(values, 1, rng)) EXPECT_TRUE(std::isnan(value));
}

TEST(PretrainedNetwork, OfOneDeviceTakesADescribedAndAnUndescribedDevice) {
  MapleEdgeSettings settings = quick_settings();
  settings.pretraining_epochs = 40;
  const auto model = train_simulated_network(described_pool(1), settings);
  AdaptOptions options;
  options.mode = "set-encoder";
  NewDevice device = described_device(10);
  const auto described_predictor = model->adapt(device.set, options);
  EXPECT_EQ(used(*described_predictor), "in-network + alone + counters");
  EXPECT_GT(acc10(*described_predictor, device), 0.5);
  device.set.descriptor.reset();
  const auto undescribed_predictor = model->adapt(device.set, options);
  EXPECT_EQ(used(*undescribed_predictor), "none");
  EXPECT_GT(acc10(*undescribed_predictor, device), 0.4);
}

}  // namespace
}  // namespace tenshot::trainer
