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
#include "trainer/predictors/registry.h"
#include "trainer/predictors/structured/library_fit.h"

namespace tenshot::trainer {
namespace {

const datasets::Pool& pool() {
  static const datasets::Pool pool = test::synthetic_pool(100);
  return pool;
}

const PoolModel& quick_model() {
  static const auto model = train_simulated_network(pool(), quick_settings());
  return *model;
}

TEST(SimulatedNetwork, PredictsANewDeviceFromTenMeasurements) {
  const NewDevice device = new_device(10);
  EXPECT_GT(acc10(*quick_model().adapt(device.set, {}), device), 0.85);
}

TEST(SimulatedNetwork, AdaptsToOneMeasurementAndToArchitecturesThatThePoolHasNotMeasured) {
  NewDevice device = new_device(1);
  EXPECT_GT(
      evaluate(quick_model().adapt(device.set, {})->predict(device.architectures, 0.9), device.latency_ms).spearman,
      0.5);
  device.set.architectures.push_back(nasbench::nasbench201().at(15624));
  device.set.latency_ms.push_back(30);
  EXPECT_NO_THROW(quick_model().adapt(device.set, {}));
}

TEST(SimulatedNetwork, GivesTheSameBytesForTheSameSeedAndOthersForAnother) {
  const NewDevice device = new_device(5);
  AdaptOptions other;
  other.seed = 2;
  const std::string bytes = quick_model().adapt(device.set, {})->to_archive().serialise();
  EXPECT_EQ(bytes, quick_model().adapt(device.set, {})->to_archive().serialise());
  EXPECT_NE(bytes, quick_model().adapt(device.set, other)->to_archive().serialise());
}

TEST(SimulatedNetwork, GoesOnWhereItWasStopped) {
  const test::Folder folder;
  const NewDevice device = new_device(5);
  AdaptOptions options;
  options.control.state_file = folder.path() / "state.partial";
  options.control.on_epoch = [](const TrainingProgress& now) { return now.epoch != 3; };
  EXPECT_THROW(quick_model().adapt(device.set, options), Interrupted);
  options.control.on_epoch = [](const TrainingProgress& now) { return now.epoch > 3; };
  EXPECT_EQ(quick_model().adapt(device.set, options)->to_archive().serialise(),
            quick_model().adapt(device.set, {})->to_archive().serialise());
}

TEST(SimulatedNetwork, AdaptsAndPredictsAfterLoadingAsBeforeSaving) {
  const test::Folder folder;
  save(quick_model().to_archive(), folder.path() / "pool.tenshot");
  const auto loaded = load_pool_model(folder.path() / "pool.tenshot");
  EXPECT_EQ(loaded->kind(), "maple-edge");
  EXPECT_EQ(loaded->to_archive().serialise(), quick_model().to_archive().serialise());
  const NewDevice device = new_device(3);
  const auto predictor = loaded->adapt(device.set, {});
  EXPECT_EQ(predictor->to_archive().serialise(), quick_model().adapt(device.set, {})->to_archive().serialise());
  save(predictor->to_archive(), folder.path() / "device.tenshot");
  EXPECT_EQ(load_predictor(folder.path() / "device.tenshot")->predict(device.architectures, 0.9).latency_ms,
            predictor->predict(device.architectures, 0.9).latency_ms);
}

TEST(SimulatedNetwork, IsNotMistakenForThePapersNetworkOfAnEarlierCheckpoint) {
  const test::Folder folder;
  MapleEdgeSettings plain;
  plain.kind = "maple-edge";
  plain.hidden = {8};
  plain.fit.epochs = 1;
  save(train_maple_edge(pool(), plain, {})->to_archive(), folder.path() / "old.tenshot");
  AdaptOptions options;
  options.mode = "fine-tune";  // which the network of simulated devices does not have
  EXPECT_NO_THROW(load_pool_model(folder.path() / "old.tenshot")->adapt(new_device(3).set, options));
  EXPECT_THROW(quick_model().adapt(new_device(3).set, options), InputError);
}

/// Every device says inside a network what its operations cost (test::synthetic_device).
datasets::HardwareDescriptor described(double speed, double conv_weight) {
  const auto& space = nasbench::nasbench201();
  datasets::HardwareDescriptor descriptor;
  descriptor.source = "latency_only";
  const auto cost_of = [&](const std::string& name) {
    if (name == "nor_conv_3x3") return conv_weight;
    if (name == "nor_conv_1x1") return 0.5;
    return name == "avg_pool_3x3" ? 0.4 : 0.1;
  };
  for (const auto& op : space.operators({}, 1)) {
    descriptor.operators.push_back({op.name, op.key, speed * cost_of(op.name) / 15, {}});
  }
  for (const auto& chain : space.operation_chains({}, 1)) {
    descriptor.in_network.push_back({chain.name, chain.key, speed * cost_of(chain.name) / 15});
  }
  return descriptor;
}

datasets::Pool described_pool() {
  datasets::Pool described_pool = pool();
  described_pool.devices[0].descriptor = described(10, 1.5);
  described_pool.devices[1].descriptor = described(1, 0.8);
  described_pool.devices[2].descriptor = described(3, 1.1);
  for (auto& device : described_pool.devices) device.runtime = device.id;
  return described_pool;
}

TEST(SimulatedNetwork, AnswersFromADescriptorAloneAndRefusesWithout) {
  const auto model = train_simulated_network(described_pool(), quick_settings());
  EXPECT_EQ(model->descriptor_kind(), "in-network");
  NewDevice device = new_device(0);
  EXPECT_THROW(model->adapt(device.set, {}), InputError);
  device.set.descriptor = described(5, 1.0);
  const auto predicted_ms = model->adapt(device.set, {})->predict(device.architectures, 0.9).latency_ms;
  EXPECT_GT(evaluate({predicted_ms, {}, {}}, device.latency_ms).spearman, 0.8);
}

TEST(SimulatedNetwork, AdaptsWithADescriptorBesideTheMeasurements) {
  const auto model = train_simulated_network(described_pool(), quick_settings());
  NewDevice device = new_device(5);
  const std::string without = model->adapt(device.set, {})->to_archive().card.at("descriptor_source");
  device.set.descriptor = described(5, 1.0);
  const auto predictor = model->adapt(device.set, {});
  EXPECT_EQ(without, "inferred");
  EXPECT_EQ(predictor->to_archive().card.at("descriptor_source"), "in-network");
  EXPECT_GT(acc10(*predictor, device), 0.7);
}

TEST(SimulatedNetwork, RefusesWhatItCannotAdaptTo) {
  EXPECT_THROW(quick_model().adapt({}, {}), InputError);
  datasets::Pool none;
  none.space = &nasbench::nasbench201();
  EXPECT_THROW(train_pool_model("maple-edge", none, {}, {}), InputError);
}

MapleEdgeSettings pretrained_settings() {
  MapleEdgeSettings settings = quick_settings();
  settings.pretraining_epochs = 40;
  settings.fine_tune_epochs = 2;
  return settings;
}

const PoolModel& pretrained_model() {
  static const auto model = train_simulated_network(described_pool(), pretrained_settings());
  return *model;
}

TEST(PretrainedNetwork, TakesAnyNumberOfMeasurementsWithoutTrainingAndMoreHelp) {
  AdaptOptions options;
  options.mode = "set-encoder";
  options.control.on_epoch = [](const TrainingProgress&) -> bool { throw std::logic_error("no training"); };
  const NewDevice one = new_device(1), thirty = new_device(30);
  const double few = acc10(*pretrained_model().adapt(one.set, options), one);
  const double many = acc10(*pretrained_model().adapt(thirty.set, options), thirty);
  EXPECT_GT(many, few);
  EXPECT_GT(many, 0.6);
}

TEST(PretrainedNetwork, OwesNothingToTheOrderOfTheMeasurements) {
  AdaptOptions options;
  options.mode = "set-encoder";
  NewDevice device = new_device(8);
  const auto before = pretrained_model().adapt(device.set, options)->predict(device.architectures, 0.9).latency_ms;
  std::reverse(device.set.architectures.begin(), device.set.architectures.end());
  std::reverse(device.set.latency_ms.begin(), device.set.latency_ms.end());
  const auto after = pretrained_model().adapt(device.set, options)->predict(device.architectures, 0.9).latency_ms;
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_NEAR(after[i] / before[i], 1, 1e-4);
}

TEST(PretrainedNetwork, IsFineTunedFromItsCheckpointAsBeforeSaving) {
  const test::Folder folder;
  save(pretrained_model().to_archive(), folder.path() / "pool.tenshot");
  const auto loaded = load_pool_model(folder.path() / "pool.tenshot");
  EXPECT_EQ(loaded->to_archive().serialise(), pretrained_model().to_archive().serialise());
  NewDevice device = new_device(10);
  device.set.descriptor = described(5, 1.0);
  for (const char* mode : {"set-encoder", "fine-tune"}) {
    AdaptOptions options;
    options.mode = mode;
    const auto predictor = loaded->adapt(device.set, options);
    EXPECT_EQ(predictor->to_archive().serialise(),
              pretrained_model().adapt(device.set, options)->to_archive().serialise());
    EXPECT_GT(acc10(*predictor, device), 0.5) << mode;
    EXPECT_EQ(predictor->to_archive().card.at("descriptor_used"), "in-network + alone");
  }
}

/// Samples for ten measurements of a new device.
SimulatedSamples samples_of(const AdaptationSet& set, double pool_share, int clones) {
  static const structured::StructuredLibrary library = structured::library_of(pool());
  SimulationOptions options = quick_settings().simulation;
  options.pool_share = pool_share;
  std::vector<std::vector<double>> pool_latency_ms;
  for (const auto& device : pool().devices) {
    pool_latency_ms.emplace_back();
    for (std::size_t i = 0; i < set.architectures.size(); ++i) {
      pool_latency_ms.back().push_back(device.latencies[i].latency_ms);  // the same architectures, in the same order
    }
  }
  static const SimulatedDescriptor undescribed(pool(), library, {});
  const SimulatedTask task{pool(), library, pool_latency_ms, set, nullptr, undescribed, nullptr};
  return {task, options, clones, 7};
}

TEST(SimulatedSamples, DescribeADeviceByLogLatenciesWithoutTheirScale) {
  AdaptationSet set = new_device(10).set;
  SimulatedSamples samples = samples_of(set, 0.25, 1);
  double sum = 0;
  for (const float value : samples.inputs().values) sum += value;
  EXPECT_NEAR(sum, 0, 1e-5);
  for (double& latency : set.latency_ms) latency *= 20;
  SimulatedSamples slower = samples_of(set, 0.25, 1);
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_NEAR(slower.inputs().values[i], samples.inputs().values[i], 1e-6);
  }
  EXPECT_NEAR(slower.inputs().centre - samples.inputs().centre, std::log(20), 1e-9);
}

TEST(SimulatedSamples, AreNewInEveryEpochAndTheSameInTheSame) {
  SimulatedSamples samples = samples_of(new_device(10).set, 0.25, 1);
  const TrainingSet first = samples.epoch(0), second = samples.epoch(1);
  EXPECT_EQ(samples.epoch(0).inputs, first.inputs);
  EXPECT_EQ(samples.epoch(0).targets, first.targets);
  EXPECT_NE(second.targets, first.targets);
}

TEST(SimulatedSamples, HoldThePoolAndTheMeasurementsInTheirShares) {
  const AdaptationSet set = new_device(10).set;
  const TrainingSet none = samples_of(set, 0, 1).epoch(0);
  EXPECT_EQ(none.rows(), 4000 + 10);
  const TrainingSet cloned = samples_of(set, 1, 7).epoch(0);
  EXPECT_EQ(cloned.rows(), 4000 + 70);
  // With the pool alone, every row's features are those of one of its three devices.
  std::vector<std::vector<float>> distinct;
  for (int row = 0; row < 4000; ++row) {
    const auto begin = cloned.inputs.begin() + row * cloned.width + 60;
    const std::vector<float> features(begin, begin + 10);
    if (std::find(distinct.begin(), distinct.end(), features) == distinct.end()) distinct.push_back(features);
  }
  EXPECT_EQ(distinct.size(), 3u);
}

TEST(SimulatedSamples, HaveClocksAsCoarseAsTheDevices) {
  AdaptationSet set = new_device(10).set;
  for (double& latency : set.latency_ms) latency = std::max(1.0, std::round(latency / 5));  // 1 to 3 ms
  set.whole_milliseconds = true;
  SimulatedSamples samples = samples_of(set, 0, 1);
  const TrainingSet& rows = samples.epoch(0);
  // Few whole numbers of milliseconds occur, so that many features of one device are equal.
  int equal = 0;
  for (int row = 0; row < 4000; ++row) {
    const float* features = rows.inputs.data() + row * rows.width + 60;
    for (int i = 1; i < 10; ++i) equal += features[i] == features[0];
  }
  EXPECT_GT(equal, 4000);
}

}  // namespace
}  // namespace tenshot::trainer
