#include "trainer/predictors/maple_edge/maple_edge.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "nasbench/support/error.h"
#include "tests/unit/trainer/fixtures.h"
#include "trainer/core/metrics.h"
#include "trainer/planning/planning.h"
#include "trainer/predictors/linear/linear_peers.h"
#include "trainer/predictors/registry.h"

namespace tenshot::trainer {
namespace {

MapleEdgeSettings quick_settings() {
  MapleEdgeSettings settings;
  settings.hidden = {64, 32};
  settings.fit.epochs = 60;
  settings.fit.learning_rate = 3e-3;
  settings.fine_tune_epochs = 10;
  return settings;
}

const PoolModel& quick_model() {
  static const auto model = train_maple_edge(test::synthetic_pool(200), quick_settings(), {});
  return *model;
}

/// A device between the pool's, the first `measured` of its architectures as adaptation set and the rest as truth.
struct NewDevice {
  AdaptationSet set;
  std::vector<Architecture> others;
  std::vector<double> others_ms;
};

NewDevice new_device(std::size_t measured) {
  NewDevice device;
  const auto all = test::synthetic_device("new", 5, 1.0, 0.01, 200, 9);
  for (std::size_t i = 0; i < all.latencies.size(); ++i) {
    const auto& row = all.latencies[i];
    (i < measured ? device.set.architectures : device.others).push_back(row.architecture);
    (i < measured ? device.set.latency_ms : device.others_ms).push_back(row.latency_ms);
  }
  return device;
}

double acc10(const Predictor& predictor, const NewDevice& device) {
  return evaluate(predictor.predict(device.others, 0.9), device.others_ms).acc10;
}

TEST(MapleEdge, PredictsANewDeviceFromTenMeasurementsInBothModes) {
  const NewDevice device = new_device(10);
  for (const char* mode : {"joint", "fine-tune"}) {
    AdaptOptions options;
    options.mode = mode;
    EXPECT_GT(acc10(*quick_model().adapt(device.set, options), device), 0.9) << mode;
  }
}

TEST(MapleEdge, IsWorthMoreThanMapleAndTheFlopsLineOnTheSameSamples) {
  const NewDevice device = new_device(10);
  MapleEdgeSettings maple = maple_options.read(nullptr);
  maple.hidden = quick_settings().hidden;
  maple.fit = quick_settings().fit;
  const double ours = acc10(*quick_model().adapt(device.set, {}), device);
  EXPECT_GT(ours, acc10(*train_maple_edge(test::synthetic_pool(200), maple, {})->adapt(device.set, {}), device));
  EXPECT_GT(ours, acc10(*make_linear_peer("flops", test::synthetic_pool(200))->adapt(device.set, {}), device));
}

TEST(MapleEdge, GivesTheSameBytesForTheSameSeedAndOthersForAnother) {
  const NewDevice device = new_device(10);
  AdaptOptions options, other;
  options.mode = other.mode = "fine-tune";
  other.seed = 2;
  const std::string bytes = quick_model().adapt(device.set, options)->to_archive().serialise();
  EXPECT_EQ(bytes, quick_model().adapt(device.set, options)->to_archive().serialise());
  EXPECT_NE(bytes, quick_model().adapt(device.set, other)->to_archive().serialise());
}

TEST(MapleEdge, AdaptsAfterLoadingAsBeforeSaving) {
  const test::Folder folder;
  const auto path = folder.path() / "pool.tenshot";
  save(quick_model().to_archive(), path);
  const auto loaded = load_pool_model(path);
  EXPECT_EQ(loaded->kind(), "maple-edge-plain");
  EXPECT_EQ(loaded->to_archive().serialise(), quick_model().to_archive().serialise());
  const NewDevice device = new_device(10);
  AdaptOptions options;
  options.mode = "fine-tune";
  EXPECT_EQ(loaded->adapt(device.set, options)->to_archive().serialise(),
            quick_model().adapt(device.set, options)->to_archive().serialise());
}

TEST(MapleEdge, PredictsAfterLoadingAsBeforeSaving) {
  const test::Folder folder;
  const auto path = folder.path() / "device.tenshot";
  const NewDevice device = new_device(10);
  AdaptOptions options;
  options.mode = "fine-tune";
  const auto predictor = quick_model().adapt(device.set, options);
  save(predictor->to_archive(), path);
  EXPECT_EQ(load_predictor(path)->predict(device.others, 0.9).latency_ms,
            predictor->predict(device.others, 0.9).latency_ms);
  EXPECT_THROW(load_pool_model(path), FormatError);
}

TEST(MapleEdge, LearnsFromArchitecturesThatThePoolHasNotMeasured) {
  const auto& space = nasbench::nasbench201();
  const std::vector<Architecture> unknown = {space.at(15624), space.at(9000), space.at(12345)};
  for (const datasets::Measurement& row : test::synthetic_pool(200).devices[0].latencies) {
    ASSERT_EQ(std::count(unknown.begin(), unknown.end(), row.architecture), 0);
  }
  AdaptOptions options;
  options.mode = "fine-tune";
  NewDevice device = new_device(10);
  const std::vector<double> before_ms = quick_model().adapt(device.set, options)->predict(unknown, 0.9).latency_ms;
  constexpr double slow_ms = 200;  // several times what the ten take
  for (const Architecture& architecture : unknown) {
    device.set.architectures.push_back(architecture);
    device.set.latency_ms.push_back(slow_ms);
  }
  const std::vector<double> after_ms = quick_model().adapt(device.set, options)->predict(unknown, 0.9).latency_ms;
  for (std::size_t i = 0; i < unknown.size(); ++i) {
    EXPECT_LT(std::abs(std::log(after_ms[i] / slow_ms)), std::abs(std::log(before_ms[i] / slow_ms))) << i;
  }
}

TEST(MapleEdge, RanksArchitecturesFromOneMeasurement) {
  // One measurement gives the scale and little else: the order then comes from the pool.
  const NewDevice device = new_device(1);
  AdaptOptions options;
  options.mode = "fine-tune";
  const auto predicted_ms = quick_model().adapt(device.set, options)->predict(device.others, 0.9).latency_ms;
  EXPECT_GT(evaluate({predicted_ms, {}, {}}, device.others_ms).spearman, 0.5);
}

/// An operator descriptor as a device of `speed` and `conv_weight` in test::synthetic_device would have it: latencies
/// in proportion to its costs.
datasets::HardwareDescriptor described(double speed, double conv_weight) {
  datasets::HardwareDescriptor descriptor;
  descriptor.source = "latency_only";
  const std::vector<std::pair<std::string, double>> costs = {{"none", 0.01},
                                                             {"skip_connect", 0.1},
                                                             {"nor_conv_1x1", 0.5},
                                                             {"nor_conv_3x3", conv_weight},
                                                             {"avg_pool_3x3", 0.4}};
  for (const int channels : {16, 32, 64}) {
    for (const auto& [name, cost] : costs)
      descriptor.operators.push_back({name, nasbench::opaque_operator(name, channels, 8), speed * cost, {}});
  }
  return descriptor;
}

TEST(MapleEdge, AnswersFromADescriptorAlone) {
  datasets::Pool pool = test::synthetic_pool(200);
  pool.devices[0].descriptor = described(10, 1.5);
  pool.devices[1].descriptor = described(1, 0.8);
  pool.devices[2].descriptor = described(3, 1.1);
  const auto model = train_maple_edge(pool, quick_settings(), {});
  ASSERT_EQ(model->descriptor_kind(), "latency");
  NewDevice device = new_device(0);
  EXPECT_THROW(model->adapt(device.set, {}), InputError);
  device.set.descriptor = described(5, 1.0);
  const auto predicted_ms = model->adapt(device.set, {})->predict(device.others, 0.9).latency_ms;
  const Metrics scores = evaluate({predicted_ms, {}, {}}, device.others_ms);
  EXPECT_GT(scores.spearman, 0.95);
  EXPECT_GT(scores.acc10, 0.6);
}

/// The same with counters, as a core of its own would count: instructions in proportion to the work, cycles to time.
datasets::HardwareDescriptor counted(double speed, double conv_weight, double clock_ghz) {
  datasets::HardwareDescriptor descriptor = described(speed, conv_weight);
  descriptor.source = "perf_event";
  descriptor.counters = {"cycles", "instructions", "cache-misses"};
  for (auto& op : descriptor.operators) {
    const double work = op.latency_ms / speed;
    op.counts = {op.latency_ms * clock_ghz * 1e6, work * 3e6, work * 1e3 * (op.name == "avg_pool_3x3" ? 5 : 1)};
  }
  return descriptor;
}

/// A pool of the first `devices` of test::synthetic_pool, with counters.
datasets::Pool counted_pool(std::size_t devices) {
  datasets::Pool pool = test::synthetic_pool(200);
  pool.devices[0].descriptor = counted(10, 1.5, 1);
  pool.devices[1].descriptor = counted(1, 0.8, 3);
  pool.devices[2].descriptor = counted(3, 1.1, 2);
  pool.devices.resize(devices);
  return pool;
}

TEST(MapleEdge, LearnsFromCountersInBothModes) {
  const auto model = train_maple_edge(counted_pool(3), quick_settings(), {});
  ASSERT_EQ(model->descriptor_kind(), "counters");
  NewDevice device = new_device(10);
  device.set.descriptor = counted(5, 1.0, 2.5);
  for (const char* mode : {"joint", "fine-tune"}) {
    AdaptOptions options;
    options.mode = mode;
    EXPECT_GT(acc10(*model->adapt(device.set, options), device), 0.85) << mode;
  }
}

TEST(MapleEdge, IsNotThrownOffByTheDescriptorInAPoolOfOneOrTwo) {
  NewDevice device = new_device(10);
  device.set.descriptor = counted(5, 1.0, 2.5);
  AdaptOptions options;
  options.mode = "fine-tune";
  for (const std::size_t devices : {1u, 2u}) {
    const auto model = train_maple_edge(counted_pool(devices), quick_settings(), {});
    EXPECT_GT(acc10(*model->adapt(device.set, options), device), 0.6) << devices;
  }
}

TEST(MapleEdge, RefusesADescriptorWithoutThePoolsCounters) {
  const auto model = train_maple_edge(counted_pool(2), quick_settings(), {});
  NewDevice device = new_device(10);
  EXPECT_THROW(model->adapt(device.set, {}), InputError);
  device.set.descriptor = described(5, 1.0);
  EXPECT_THROW(model->adapt(device.set, {}), InputError);
  device.set.descriptor = counted(5, 1.0, 2);
  std::swap(device.set.descriptor->counters[0], device.set.descriptor->counters[1]);
  EXPECT_THROW(model->adapt(device.set, {}), InputError);
}

TEST(MapleEdge, RefusesWhatItCannotAdaptTo) {
  EXPECT_THROW(quick_model().adapt({}, {}), InputError);
  AdaptOptions options;
  options.mode = "magic";
  EXPECT_THROW(quick_model().adapt(new_device(3).set, options), InputError);
}

TEST(MapleEdge, RefusesAPoolWithoutDevices) {
  datasets::Pool pool;
  pool.space = &nasbench::nasbench201();
  EXPECT_THROW(train_pool_model("maple-edge-plain", pool, {}, {}), InputError);
}

TEST(FlopsLine, RecoversALine) {
  const auto& space = nasbench::nasbench201();
  const auto model = make_linear_peer("flops", test::synthetic_pool(20));
  AdaptationSet set;
  Rng rng(1);
  for (int i = 0; i < 6; ++i) {
    set.architectures.push_back(space.random(rng));
    set.latency_ms.push_back(2 + 0.05e-6 * static_cast<double>(space.flop_count(set.architectures.back(), {})));
  }
  const auto predictor = model->adapt(set, {});
  const Architecture heavy =
      space.parse("|nor_conv_3x3~0|+|nor_conv_3x3~0|nor_conv_3x3~1|+|nor_conv_3x3~0|nor_conv_3x3~1|nor_conv_3x3~2|");
  EXPECT_NEAR(predictor->predict({heavy}, 0.9).latency_ms[0], 2 + 0.05 * 220.11969, 1e-3);
}

TEST(Plan, ChoosesAmongThePoolsArchitecturesUnlessGivenCandidates) {
  PlanRequest request;
  const auto chosen = plan(quick_model(), request);
  ASSERT_EQ(chosen.size(), 10u);
  const auto known = datasets::latency_matrix(quick_model().pool()).architectures;
  for (const auto& architecture : chosen) {
    EXPECT_NE(std::find(known.begin(), known.end(), architecture), known.end());
  }
}

TEST(Plan, RanksCandidatesThatThePoolHasNotMeasuredByTheModel) {
  const auto& space = nasbench::nasbench201();
  PlanRequest request;
  request.sampler = "targeted-uniform";
  request.samples = 2;
  // The fastest and the slowest connected cells: one draw per bin must give both, the fast one first.
  const auto fast = space.parse("|none~0|+|none~0|none~1|+|skip_connect~0|none~1|none~2|");
  const auto slow =
      space.parse("|nor_conv_3x3~0|+|nor_conv_3x3~0|nor_conv_3x3~1|+|nor_conv_3x3~0|nor_conv_3x3~1|nor_conv_3x3~2|");
  request.candidates = {slow, fast};
  EXPECT_EQ(plan(quick_model(), request), (std::vector<Architecture>{fast, slow}));
}

TEST(Plan, DoesNotPlanWhatIsMeasured) {
  for (const std::string& sampler : plan_samplers()) {
    PlanRequest request;
    request.sampler = sampler;
    const auto first = plan(quick_model(), request);
    request.measured.architectures = first;
    for (std::size_t i = 0; i < first.size(); ++i) request.measured.latency_ms.push_back(10.0 + static_cast<double>(i));
    for (const auto& architecture : plan(quick_model(), request)) {
      EXPECT_EQ(std::find(first.begin(), first.end(), architecture), first.end()) << sampler;
    }
  }
}

}  // namespace
}  // namespace tenshot::trainer
