// What a hardware descriptor says of costs, and what the structured predictor makes of it.

#include <gtest/gtest.h>
#ifdef TENSHOT_HAS_TORCH
#include <torch/script.h>
#endif

#include <cmath>
#include <nlohmann/json.hpp>

#include "nasbench/support/error.h"
#include "nasbench/support/text.h"
#include "structured_fixtures.h"
#include "tests/unit/trainer/fixtures.h"
#include "trainer/core/metrics.h"
#include "trainer/networks/exporting.h"
#include "trainer/planning/planning.h"
#include "trainer/predictors/described/descriptor_prior.h"
#include "trainer/predictors/registry.h"
#include "trainer/predictors/structured/library_fit.h"
#include "trainer/predictors/structured/structured_model.h"

namespace tenshot::trainer::structured {
namespace {

using datasets::DeviceRuntime;
using datasets::HardwareDescriptor;

const nasbench::SearchSpace& space = nasbench::nasbench201();
const nasbench::StructureModel& model = test::structures();

Eigen::Index feature(const std::string& name) {
  for (std::size_t f = 0; f < model.features().size(); ++f) {
    if (model.features()[f].name == name) return static_cast<Eigen::Index>(f);
  }
  throw InputError("no feature " + name);
}

/// A descriptor of a device with these costs of one unit (as test::latencies_under takes them): inside a network as
/// they are, alone with an empty call of `call_ms` each time. `counts` adds counters.
HardwareDescriptor descriptor_of(const std::vector<double>& costs, double call_ms, bool counts) {
  HardwareDescriptor descriptor;
  descriptor.source = counts ? "perf_event" : "latency_only";
  if (counts) descriptor.counters.assign(datasets::default_counters.begin(), datasets::default_counters.end());
  constexpr double instances = 15;
  for (const auto& chain : space.operation_chains({}, 1)) {
    descriptor.in_network.push_back(
        {chain.name, chain.key, costs[static_cast<std::size_t>(feature(chain.name))] / instances});
  }
  for (const auto& op : space.operators({}, 1)) {
    const bool costs_something = op.name != "none" && op.name != "skip_connect";
    const double own = costs_something ? costs[static_cast<std::size_t>(feature(op.name))] / instances : 0;
    datasets::OperatorProfile profile{op.name, op.key, own + call_ms, {}};
    for (std::size_t c = 0; c < descriptor.counters.size(); ++c)
      profile.counts.push_back(100.0 * (1 + c) * op.key.channels());
    descriptor.operators.push_back(std::move(profile));
  }
  return descriptor;
}

DeviceRuntime device_of(const std::string& id, const std::string& runtime, const std::string& structure,
                        const std::vector<double>& costs, bool counts = true) {
  DeviceRuntime device;
  device.id = id;
  device.runtime = runtime;
  const auto architectures = test::connected_architectures(200, 3);
  const auto latency_ms = test::latencies_under(structure, costs, architectures, 0.01, id.size());
  for (std::size_t i = 0; i < architectures.size(); ++i) {
    device.latencies.push_back({architectures[i], latency_ms[i], 0, 1});
  }
  device.descriptor = descriptor_of(costs, 0.2, counts);
  return device;
}

const std::vector<double> new_costs = {2, 0, 1, 3, 4, 0.2, 0.1, 0.1, 0};

/// Three runtimes that compile alike, two device-runtimes each: convolutions cost much on some, pools on others.
datasets::Pool described_pool() {
  datasets::Pool pool;
  pool.space = &space;
  pool.devices = {device_of("a1", "a", "cse", {2, 0, 1, 9, 1, 0.2, 0.1, 0.1, 0}),
                  device_of("a22", "a", "cse", {4, 0, 2, 20, 2, 0.4, 0.2, 0.2, 0}),
                  device_of("b333", "b", "cse", {1, 0, 3, 4, 0.5, 0.1, 0.1, 0.1, 0}),
                  device_of("b4444", "b", "cse", {2, 0, 5, 9, 1, 0.2, 0.2, 0.2, 0}),
                  device_of("c55555", "c", "cse", {3, 0, 1, 5, 1, 0.3, 0.1, 0.2, 0}, false)};
  return pool;
}

const PoolModel& trained() {
  static const auto result = train_structured(described_pool(), {});
  return *result;
}

AdaptationSet measurements_of(const DeviceRuntime& device, const std::vector<Architecture>& architectures) {
  AdaptationSet set;
  for (const datasets::Measurement& row : device.latencies) {
    if (std::find(architectures.begin(), architectures.end(), row.architecture) == architectures.end()) continue;
    set.architectures.push_back(row.architecture);
    set.latency_ms.push_back(row.latency_ms);
  }
  return set;
}

Metrics metrics_of(const Predictor& predictor, const DeviceRuntime& device) {
  std::vector<Architecture> architectures;
  std::vector<double> measured_ms;
  for (const datasets::Measurement& row : device.latencies) {
    architectures.push_back(row.architecture);
    measured_ms.push_back(row.latency_ms);
  }
  const Predictions predicted = predictor.predict(architectures, 0.9);
  return evaluate(predicted, measured_ms);
}

/// The new device's descriptor and `count` of its measurements.
AdaptationSet described_set(HardwareDescriptor descriptor, std::size_t count) {
  const DeviceRuntime device = device_of("new666666", "new", "cse", new_costs);
  AdaptationSet set;
  for (std::size_t i = 0; i < count; ++i) {
    set.architectures.push_back(device.latencies[i].architecture);
    set.latency_ms.push_back(device.latencies[i].latency_ms);
  }
  set.descriptor = std::move(descriptor);
  return set;
}

TEST(StructuredBadInput, ADescriptorWhoseEveryCounterIsMissingIsOneOfLatencies) {
  const std::vector<Architecture> architectures = test::connected_architectures(50, 9);
  const auto predicted = [&](const HardwareDescriptor& descriptor) {
    return trained().adapt(described_set(descriptor, 0), {})->predict(architectures, 0.9).latency_ms;
  };
  HardwareDescriptor missing = descriptor_of(new_costs, 0.2, true);
  for (auto& profile : missing.operators) {
    std::fill(profile.counts.begin(), profile.counts.end(), std::nan(""));
  }
  EXPECT_EQ(predicted(missing), predicted(descriptor_of(new_costs, 0.2, false)));
}

TEST(StructuredBadInput, OperatorsMeasuredAtAnotherResolutionAreWarnedOf) {
  HardwareDescriptor larger = descriptor_of(new_costs, 0.2, false);
  EXPECT_EQ(test::explanation_text(*trained().adapt(described_set(larger, 10), {})).find("resolution"),
            std::string::npos);
  const int before = larger.operators.front().key.resolution();
  for (auto& profile : larger.operators) {
    profile.key = *space.named_operation(profile.name, profile.key.channels(), 2 * profile.key.resolution());
  }
  const std::string explanation = test::explanation_text(*trained().adapt(described_set(larger, 10), {}));
  EXPECT_NE(
      explanation.find("Warning: the descriptor's operators were measured at a resolution of " +
                       std::to_string(2 * before) + " where those of a1 of the pool were at " + std::to_string(before)),
      std::string::npos)
      << explanation;
}

TEST(StructuredBadInput, APoolOfOneDeviceRuntimeAnswersAndSaysWhatItCannot) {
  datasets::Pool pool = described_pool();
  pool.devices.resize(1);
  const auto one = train_structured(pool, {});
  const DeviceRuntime device = device_of("new666666", "new", "cse", new_costs);
  PlanRequest request;
  request.samples = 15;
  AdaptationSet set = measurements_of(device, plan(*one, request));
  const auto predictor = one->adapt(set, {});
  EXPECT_GT(metrics_of(*predictor, device).acc10, 0.8);
  EXPECT_NE(test::explanation_text(*predictor).find("Warning: the pool has 1 device-runtime: its intervals"),
            std::string::npos);
  set.architectures.clear();
  set.latency_ms.clear();
  set.descriptor = device.descriptor;  // which one runtime teaches nothing about
  EXPECT_THROW(one->adapt(set, {}), InputError);
}

TEST(DescribedCosts, InsideANetworkAreTheSumOverTheCellsOfAllStages) {
  const Eigen::VectorXd costs =
      described_costs_ms(descriptor_of(new_costs, 0.2, false), model, DescriptorKind::in_network);
  for (const char* name : {"nor_conv_1x1", "nor_conv_3x3", "avg_pool_3x3", "add", "relu", "multiply"}) {
    EXPECT_NEAR(costs[feature(name)], new_costs[static_cast<std::size_t>(feature(name))], 1e-12) << name;
  }
  EXPECT_EQ(costs[feature("skip_connect")], 0);
  EXPECT_TRUE(std::isnan(costs[feature("base")]));
  EXPECT_TRUE(std::isnan(costs[feature("reorder")]));
}

TEST(DescribedCosts, AloneAreWithoutTheEmptyCall) {
  const Eigen::VectorXd costs =
      described_costs_ms(descriptor_of(new_costs, 0.2, false), model, DescriptorKind::latency);
  EXPECT_NEAR(costs[feature("avg_pool_3x3")], 4, 1e-12);
  EXPECT_NEAR(costs[feature("nor_conv_1x1")], 1, 1e-12);
  EXPECT_TRUE(std::isnan(costs[feature("add")]));
}

TEST(DescribedCosts, OfNoDescriptorSayNothing) {
  for (const auto kind : {DescriptorKind::inferred, DescriptorKind::in_network, DescriptorKind::latency}) {
    EXPECT_FALSE(says_something({}, model, kind));
    EXPECT_EQ(described_kind(name(kind)), kind);
  }
  EXPECT_THROW(described_kind("counters"), InputError);
}

TEST(DescribedCosts, OfAPartOfTheOperationsSayNothing) {
  const HardwareDescriptor whole = descriptor_of(new_costs, 0.2, false);
  EXPECT_TRUE(says_something(whole, model, DescriptorKind::in_network));
  EXPECT_TRUE(says_something(whole, model, DescriptorKind::latency));
  HardwareDescriptor part = whole;
  part.in_network.pop_back();
  part.operators.pop_back();
  EXPECT_FALSE(says_something(part, model, DescriptorKind::in_network));
  EXPECT_FALSE(says_something(part, model, DescriptorKind::latency));
  part.in_network.push_back(part.in_network.front());
  EXPECT_FALSE(says_something(part, model, DescriptorKind::in_network));
  HardwareDescriptor only_relu = whole;
  for (auto& operation : only_relu.in_network) operation.latency_ms = operation.name == "relu" ? 1 : 0;
  EXPECT_FALSE(says_something(only_relu, model, DescriptorKind::in_network));
}

TEST(DescribedCosts, AreSharedOutAsAStructureCountsThem) {
  const HardwareDescriptor descriptor = descriptor_of(new_costs, 0.2, false);
  const Eigen::VectorXd counts = Eigen::VectorXd::Constant(9, 2.5);
  const auto costs = Eigen::Map<const Eigen::VectorXd>(new_costs.data(), 9);
  const auto under = [&](const char* structure) -> Eigen::VectorXd {
    return structure_costs(model, model.structure_index(structure), descriptor, DescriptorKind::in_network, counts) *
           costs;
  };
  const Eigen::VectorXd total = under("total"), compiled = under("cse");
  // `total` counts neither additions nor multiplications nor ReLUs: the first two are in its base, a ReLU in its
  // convolution. `cse` counts each.
  EXPECT_NEAR(total[feature("base")], 2 + 2.5 * (0.2 + 0.1), 1e-12);
  EXPECT_NEAR(total[feature("nor_conv_3x3")], 3, 1e-12);
  EXPECT_EQ(total[feature("add")], 0);
  EXPECT_NEAR(compiled[feature("base")], 2, 1e-12);
  EXPECT_NEAR(compiled[feature("nor_conv_3x3")], 3 - 0.1, 1e-12);
  EXPECT_NEAR(compiled[feature("add")], 0.2, 1e-12);
}

TEST(DescriptorNetwork, LearnsWhatAllDevicesHaveInCommonAndLeavesTheRest) {
  // On every device operation 0 takes twice what its descriptor says, and operation 1 what it says.
  constexpr Eigen::Index devices = 3, n = 40;
  Rng rng(4);
  DescribedNetworks networks;
  networks.inputs.resize(devices, 2);
  networks.log_costs.resize(devices, 2);
  networks.rows.resize(devices * n, 2);
  networks.log_latency.resize(devices * n);
  for (Eigen::Index d = 0; d < devices; ++d) {
    networks.inputs.row(d) << rng.normal(), rng.normal();
    networks.log_costs.row(d) << rng.normal(), rng.normal();
    for (Eigen::Index i = d * n; i < (d + 1) * n; ++i) {
      networks.rows.row(i) << rng.uniform(), rng.uniform();
      networks.device.push_back(d);
      const Eigen::Vector2d costs = networks.log_costs.row(d).array().exp();
      networks.log_latency[i] = std::log(2 * costs[0] * networks.rows(i, 0) + costs[1] * networks.rows(i, 1));
    }
  }
  const DescriptorNetwork network = fit_descriptor_network(networks, 1);
  const Eigen::VectorXd change = network(Eigen::Vector2d(0.3, -0.4));
  EXPECT_NEAR(std::exp(change[0]), 2, 0.1);
  EXPECT_NEAR(std::exp(change[1]), 1, 0.05);
  const DescriptorNetwork again = fit_descriptor_network(networks, 1);
  EXPECT_EQ(again.output, network.output);
}

TEST(DescriptorPrior, NeedsTwoRuntimes) {
  datasets::Pool pool = described_pool();
  EXPECT_EQ(kind_for(pool, "auto"), DescriptorKind::in_network);
  EXPECT_EQ(kind_for(pool, "latency"), DescriptorKind::latency);
  for (DeviceRuntime& device : pool.devices) device.descriptor.in_network.clear();
  EXPECT_EQ(kind_for(pool, "auto"), DescriptorKind::latency);
  for (DeviceRuntime& device : pool.devices) device.runtime = "one";
  EXPECT_EQ(kind_for(pool, "auto"), DescriptorKind::inferred);
  EXPECT_FALSE(descriptor_prior_of(library_of(pool), pool, "latency").trained());

  // Of one runtime only networks that compute nothing were measured: nothing can be learned from it.
  datasets::Pool disconnected = described_pool();
  disconnected.devices.resize(3);
  disconnected.devices[2].latencies.clear();
  for (const Architecture& architecture : space.all()) {
    if (!space.connected(architecture)) disconnected.devices[2].latencies.push_back({architecture, 1, 0, 1});
  }
  EXPECT_FALSE(descriptor_prior_of(library_of(disconnected), disconnected, "in-network").trained());
}

TEST(DescriptorPrior, ExpectsOfANewRuntimeWhatItsDescriptorSays) {
  const datasets::Pool pool = described_pool();
  const DescriptorPrior prior = descriptor_prior_of(library_of(pool), pool, "in-network");
  EXPECT_EQ(prior.from.size(), pool.devices.size());
  const auto device = describe(prior, model, descriptor_of(new_costs, 0.2, true));
  ASSERT_TRUE(device);
  const Eigen::VectorXd costs = device->median_ms * device->priors[model.structure_index("cse")].mean;
  for (const char* name : {"nor_conv_3x3", "avg_pool_3x3"}) {
    EXPECT_NEAR(costs[feature(name)] / new_costs[static_cast<std::size_t>(feature(name))], 1, 0.2) << name;
  }
  EXPECT_GT(prior.residual, 0);
  EXPECT_LT(prior.residual, 0.3);
  EXPECT_FALSE(describe(prior, model, {}));
  EXPECT_FALSE(describe({}, model, descriptor_of(new_costs, 0.2, true)));
}

TEST(StructuredWithDescriptor, AnswersUnmeasuredAndLearnsFromFew) {
  const DeviceRuntime device = device_of("new", "d", "cse", new_costs);
  AdaptationSet set;
  set.descriptor = device.descriptor;
  const auto unmeasured = trained().adapt(set, {});
  EXPECT_GT(metrics_of(*unmeasured, device).spearman, 0.8);
  EXPECT_NE(test::explanation_text(*unmeasured).find("as its descriptor says"), std::string::npos);
  EXPECT_NE(test::explanation_text(*unmeasured).find("nothing was measured"), std::string::npos);

  PlanRequest request;
  request.samples = 3;
  set = measurements_of(device, plan(trained(), request));
  const double without = metrics_of(*trained().adapt(set, {}), device).mape;
  set.descriptor = device.descriptor;
  EXPECT_LT(metrics_of(*trained().adapt(set, {}), device).mape, without);
}

TEST(StructuredWithDescriptor, IsPlannedForByWhatItSays) {
  const DeviceRuntime device = device_of("new", "d", "cse", new_costs);
  PlanRequest request;
  request.samples = 3;
  const auto blind = plan(trained(), request);
  request.measured.descriptor = device.descriptor;
  const auto informed = plan(trained(), request);
  EXPECT_NE(informed, blind);
  EXPECT_EQ(plan(trained(), request), informed);
}

TEST(StructuredWithDescriptor, WantsAMeasurementWhereTheDescriptorSaysNothing) {
  AdaptationSet set;
  EXPECT_THROW(trained().adapt(set, {}), InputError);
  set.descriptor = HardwareDescriptor{};
  EXPECT_THROW(trained().adapt(set, {}), InputError);
  const auto undescribed = train_structured(described_pool(), {{}, "inferred"});
  EXPECT_EQ(undescribed->descriptor_kind(), "inferred");
  set.descriptor = descriptor_of(new_costs, 0.2, true);
  EXPECT_THROW(undescribed->adapt(set, {}), InputError);
  EXPECT_THROW(train_structured(described_pool(), {{}, "counters"}), InputError);
}

TEST(StructuredWithDescriptor, IsTheSameAfterSavingLoadingAndExporting) {
  const test::Folder folder;
  save(trained().to_archive(), folder.path() / "pool.tenshot");
  const auto loaded = load_pool_model(folder.path() / "pool.tenshot");
  EXPECT_EQ(loaded->descriptor_kind(), "in-network");
  EXPECT_EQ(loaded->to_archive().serialise(), trained().to_archive().serialise());
  AdaptationSet set;
  set.descriptor = descriptor_of(new_costs, 0.2, true);
  const auto predictor = loaded->adapt(set, {});
  EXPECT_EQ(predictor->to_archive().serialise(), trained().adapt(set, {})->to_archive().serialise());

  save(predictor->to_archive(), folder.path() / "device.tenshot");
  const auto all = space.all();
  const Predictions expected = predictor->predict(all, 0.9);
  EXPECT_EQ(load_predictor(folder.path() / "device.tenshot")->predict(all, 0.9).upper_ms, expected.upper_ms);
  EXPECT_EQ(predictor->to_document().at("residual").at("weights").size(), 0U);
#ifdef TENSHOT_HAS_TORCH
  export_torchscript(*predictor, folder.path() / "device.pt");
  torch::jit::Module module = torch::jit::load((folder.path() / "device.pt").string());
  c10::List<std::string> strings;
  for (const auto& architecture : all) strings.push_back(space.format(architecture));
  const auto found = module.get_method("predict_interval")({strings, 0.9}).toTuple()->elements();
  const at::Tensor latency = found[0].toTensor(), upper = found[2].toTensor();
  for (std::size_t i = 0; i < all.size(); i += 31) {
    const auto row = static_cast<std::int64_t>(i);
    ASSERT_NEAR(latency[row].item<double>() / expected.latency_ms[i], 1, 1e-5);
    ASSERT_NEAR(upper[row].item<double>() / expected.upper_ms[i], 1, 1e-5);
  }
#endif
}

}  // namespace
}  // namespace tenshot::trainer::structured
