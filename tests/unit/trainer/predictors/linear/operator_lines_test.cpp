#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "nasbench/spaces/networks.h"
#include "nasbench/support/error.h"
#include "tests/unit/trainer/fixtures.h"
#include "trainer/predictors/linear/linear_peers.h"
#include "trainer/predictors/registry.h"

namespace tenshot::trainer {
namespace {

using nasbench::OperatorKind;
using nasbench::OperatorSpecification;

/// A 1×1 convolution of `channels` to as many, on an image of `size` × `size`.
OperatorSpecification pointwise(std::int64_t channels, std::int64_t size) {
  OperatorSpecification op;
  op.kind = OperatorKind::convolution;
  op.kernel = {1, 1};
  op.inputs = {{1, channels, size, size}};
  op.output = {1, channels, size, size};
  return op;
}

std::vector<Architecture> line_networks() {
  std::vector<Architecture> identities;
  for (std::int64_t n = 1; n <= 12; ++n) {
    std::vector<OperatorSpecification> operators = {pointwise(8 * n, 28), pointwise(16, 7 * (1 + n % 4))};
    if (n % 3 == 0) operators.push_back(pointwise(64, 14));
    identities.push_back(
        nasbench::add_network(nasbench::named_network("line-" + std::to_string(n), operators, "test")));
  }
  return identities;
}

double mega_multiply_adds(const Architecture& network) {
  return 1e-6 * static_cast<double>(nasbench::networks().flop_count(network, {}));
}

/// Eight of the networks, on a device that takes 2 ms and .5 ms for each million multiply–adds.
AdaptationSet measured(const std::vector<Architecture>& networks) {
  AdaptationSet set;
  for (std::size_t i = 0; i < 8; ++i) {
    set.architectures.push_back(networks[i]);
    set.latency_ms.push_back(2 + 0.5 * mega_multiply_adds(networks[i]));
  }
  return set;
}

datasets::Pool pool_of(const NetworkSpace& space, const std::vector<Architecture>& architectures) {
  datasets::Pool pool;
  pool.space = &space;
  datasets::DeviceRuntime device;
  device.id = device.device = "board";
  for (const Architecture& architecture : architectures) {
    datasets::Measurement row;
    row.architecture = architecture;
    row.latency_ms = 1 + 1e-8 * static_cast<double>(space.flop_count(architecture, space.default_shape()));
    device.latencies.push_back(row);
  }
  pool.devices.push_back(std::move(device));
  return pool;
}

TEST(OperatorLines, FlopsOfNetworksByNameGiveTheDevicesOwnLine) {
  const std::vector<Architecture> networks = line_networks();
  const auto predictor =
      train_pool_model("flops", pool_of(nasbench::networks(), networks), {}, {})->adapt(measured(networks), {});
  EXPECT_NEAR(predictor->predict({networks[10]}, 0.9).latency_ms[0], 2 + 0.5 * mega_multiply_adds(networks[10]), 1e-6);
  EXPECT_EQ(predictor->kind(), "flops");
  EXPECT_FALSE(predictor->has_intervals());
}

TEST(OperatorLines, EveryPeerOfNetworksSavesLoadsAndWritesTheSame) {
  const std::vector<Architecture> networks = line_networks();
  const datasets::Pool pool = pool_of(nasbench::networks(), networks);
  const test::Folder folder;
  for (const std::string name : {"flops", "flops-memory", "lasso", "constant"}) {
    const auto predictor = train_pool_model(name, pool, {}, {})->adapt(measured(networks), {});
    save(predictor->to_archive(), folder.path() / "device");
    const auto loaded = load_predictor(folder.path() / "device");
    EXPECT_EQ(loaded->kind(), name);
    EXPECT_EQ(loaded->predict(networks, 0.9).latency_ms, predictor->predict(networks, 0.9).latency_ms) << name;
    EXPECT_TRUE(loaded->predict(networks, 0.9).lower_ms.empty()) << name;
    EXPECT_FALSE(predictor->to_document().contains("calibration")) << name;
  }
}

TEST(OperatorLines, LassoIsCloseToALinearDevice) {
  const std::vector<Architecture> networks = line_networks();
  const auto predictor =
      train_pool_model("lasso", pool_of(nasbench::networks(), networks), {}, {})->adapt(measured(networks), {});
  for (const Architecture& network : networks) {
    const double truth = 2 + 0.5 * mega_multiply_adds(network);
    EXPECT_NEAR(predictor->predict({network}, 0.9).latency_ms[0] / truth, 1, 0.1);
  }
}

TEST(OperatorLines, FlopsOfOnceForAllKnowThatTheResolutionMultiplies) {
  const SearchSpace& space = nasbench::search_space(nasbench::known_space("ofa"));
  Rng rng(3);
  std::vector<Architecture> architectures;
  for (int i = 0; i < 20; ++i) architectures.push_back(space.random(rng));
  AdaptationSet set;
  const auto latency_ms = [&](const Architecture& a) {
    return 3 + 0.02e-6 * static_cast<double>(space.flop_count(a, space.default_shape()));
  };
  for (std::size_t i = 0; i < 10; ++i) {
    set.architectures.push_back(architectures[i]);
    set.latency_ms.push_back(latency_ms(architectures[i]));
  }
  const auto predictor = train_pool_model("flops", pool_of(space, architectures), {}, {})->adapt(set, {});
  for (std::size_t i = 10; i < 20; ++i) {  // pools count towards the line, not towards FLOPs: hence 2 %
    const double truth = latency_ms(architectures[i]);
    EXPECT_NEAR(predictor->predict({architectures[i]}, 0.9).latency_ms[0] / truth, 1, 0.02);
  }
}

TEST(BestConstant, IsTheMiddleOfWhereMostIntervalsOverlap) {
  AdaptationSet set;
  set.architectures.resize(4);
  // By hand: of 10, 10.5, 11 and 20 the first three overlap from .9 · 11 = 9.9 to 1.1 · 10 = 11.
  set.latency_ms = {20, 10, 11, 10.5};
  EXPECT_DOUBLE_EQ(best_constant_ms(set), (9.9 + 11) / 2);
  set.architectures.resize(1);
  set.latency_ms = {8};
  EXPECT_DOUBLE_EQ(best_constant_ms(set), 8);
}

TEST(Peers, OfDecisionsRefuseNetworksByName) {
  const std::vector<Architecture> networks = line_networks();
  EXPECT_THROW(train_pool_model("additive", pool_of(nasbench::networks(), networks), {}, {}), InputError);
}

}  // namespace
}  // namespace tenshot::trainer
