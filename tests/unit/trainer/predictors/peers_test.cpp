#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "nasbench/support/error.h"
#include "nasbench/support/text.h"
#include "tests/unit/trainer/fixtures.h"
#include "trainer/core/metrics.h"
#include "trainer/predictors/registry.h"
#include "trainer/trees/tree_ensemble.h"

namespace tenshot::trainer {
namespace {

const SearchSpace& space = nasbench::nasbench201();

/// Every `step`-th measurement of a made-up device, from `first`.
AdaptationSet some_of(const datasets::DeviceRuntime& device, std::size_t first, std::size_t step) {
  AdaptationSet set;
  for (std::size_t i = first; i < device.latencies.size(); i += step) {
    set.architectures.push_back(device.latencies[i].architecture);
    set.latency_ms.push_back(device.latencies[i].latency_ms);
  }
  return set;
}

double acc10(const Predictor& predictor, const AdaptationSet& truth) {
  return error_bound_accuracy(predictor.predict(truth.architectures, 0.9).latency_ms, truth.latency_ms, 0.1);
}

TEST(Peers, EachAdaptsSavesAndLoadsToTheSamePredictions) {
  const datasets::Pool pool = test::synthetic_pool(120);
  const auto device = test::synthetic_device("new", 5, 1.0, 0.01, 120, 9);
  const AdaptationSet set = some_of(device, 0, 12), truth = some_of(device, 5, 2);
  const test::Folder folder;
  for (const std::string name : {"flops", "flops-memory", "constant", "look-up", "additive", "transfer", "forest"}) {
    if (name == "forest" && !has_xgboost()) continue;
    const auto model = train_pool_model(name, pool, {}, {});
    save(model->to_archive(), folder.path() / "pool");
    const auto predictor = load_pool_model(folder.path() / "pool")->adapt(set, {});
    EXPECT_EQ(predictor->kind(), name);
    EXPECT_FALSE(predictor->has_intervals()) << name;
    EXPECT_TRUE(predictor->predict(truth.architectures, 0.9).lower_ms.empty()) << name;
    save(predictor->to_archive(), folder.path() / "device");
    const auto loaded = load_predictor(folder.path() / "device");
    EXPECT_EQ(loaded->kind(), name);
    EXPECT_EQ(loaded->predict(truth.architectures, 0.9).latency_ms,
              predictor->predict(truth.architectures, 0.9).latency_ms)
        << name;
    EXPECT_NO_THROW(predictor->to_document()) << name;
    EXPECT_THROW(model->adapt({}, {}), InputError) << name;
  }
  EXPECT_THROW(train_pool_model("oracle", pool, {}, {}), InputError);
}

TEST(Peers, AdditiveFindsTheCostOfEveryOptionOfALinearDevice) {
  const auto device = test::synthetic_device("new", 5, 1.0, 0, 160, 9);
  const AdaptationSet truth = some_of(device, 1, 2);
  const auto predictor =
      train_pool_model("additive", test::synthetic_pool(60), {}, {})->adapt(some_of(device, 0, 2), {});
  EXPECT_DOUBLE_EQ(
      error_bound_accuracy(predictor->predict(truth.architectures, 0.9).latency_ms, truth.latency_ms, 0.01), 1);
}

TEST(Peers, LookUpFindsTheCostsOfALinearDevice) {
  const auto device = test::synthetic_device("new", 5, 1.0, 0, 120, 9);
  const auto predictor =
      train_pool_model("look-up", test::synthetic_pool(60), {}, {})->adapt(some_of(device, 0, 8), {});
  EXPECT_GT(acc10(*predictor, some_of(device, 1, 2)), 0.99);
}

TEST(Peers, LookUpSumsTheDescriptorsOperatorsOverAllCellsAndFitsTheBackbone) {
  AdaptationSet set;
  set.descriptor.emplace();
  double operator_ms = 0.01;
  for (const auto& op : space.operators({}, 1)) {
    set.descriptor->operators.push_back({op.name, op.key, operator_ms, {}});
    operator_ms += 0.01;
  }
  // By hand: all edges the second operation (skip_connect), whose three stages take .04, .05 and .06 ms: six edges of
  // five cells a stage are 30 · .15 = 4.5 ms; 2 ms of backbone.
  const Architecture skips = {1, 1, 1, 1, 1, 1}, nones = {0, 0, 0, 0, 0, 0};
  set.architectures = {skips};
  set.latency_ms = {6.5};
  const auto predictor = train_pool_model("look-up", test::synthetic_pool(20), {}, {})->adapt(set, {});
  const auto latency_ms = predictor->predict({skips, nones}, 0.9).latency_ms;
  EXPECT_NEAR(latency_ms[0], 6.5, 1e-5);
  EXPECT_NEAR(latency_ms[1], 2 + 30 * 0.06, 1e-5);
}

TEST(Peers, ALineThroughOperatorsIsRefusedWhereCellsDoNotNameThem) {
  EXPECT_THROW(train_pool_model("lasso", test::synthetic_pool(20), {}, {}), InputError);
}

TEST(Peers, TransferRanksAsTheMostSimilarDevice) {
  const datasets::Pool pool = test::synthetic_pool(120);
  AdaptationSet set = some_of(pool.devices[1], 0, 12);
  for (double& latency_ms : set.latency_ms) latency_ms = 3 + 2 * latency_ms;
  const auto predictor = train_pool_model("transfer", pool, {}, {})->adapt(set, {});
  AdaptationSet truth = some_of(pool.devices[1], 0, 1);
  for (double& latency_ms : truth.latency_ms) latency_ms = 3 + 2 * latency_ms;
  EXPECT_NE(test::explanation_text(*predictor).find("fast"), std::string::npos) << test::explanation_text(*predictor);
  EXPECT_GT(acc10(*predictor, truth), 0.95);
}

TEST(Forest, SplitsOnTheFeatureThatExplains) {
  if (!has_xgboost()) GTEST_SKIP() << "forests are trained by XGBoost: install libxgboost-dev";
  // The logarithm of the latency is 1 where the first edge is a 3×3 convolution (feature 3), else −1; other edges are
  // noise.
  AdaptationSet set;
  Rng rng(4);
  for (std::size_t i = 0; i < 200; ++i) {
    Architecture cell = space.random(rng);
    cell[0] = i % 2 == 0 ? 3 : std::array<std::uint8_t, 4>{0, 1, 2, 4}[i / 2 % 4];
    set.add(cell, std::exp(i % 2 == 0 ? 1 : -1));
  }
  const auto forest = train_pool_model("forest", test::synthetic_pool(20), {}, {})->adapt(set, {});
  const std::vector<double> latency_ms = forest->predict(set.architectures, 0.9).latency_ms;
  double mean = 0;
  for (std::size_t i = 0; i < latency_ms.size(); ++i) {
    const double towards = i % 2 == 0 ? std::log(latency_ms[i]) : -std::log(latency_ms[i]);
    EXPECT_GT(towards, 0) << i;
    mean += towards / static_cast<double>(latency_ms.size());
  }
  EXPECT_NEAR(mean, 1, 0.2);
  std::map<int, int> roots;  // how many trees split on each feature first; a third of them is offered this one
  const nlohmann::json document = forest->to_document();
  for (const auto& nodes : document.at("trees")) ++roots[nodes.at(0).at(0).get<int>()];
  for (const auto& [feature, count] : roots) EXPECT_LE(count, roots[3]) << feature;
  EXPECT_GT(roots[3], 40);
}

TEST(Forest, LearnsFromManyMeasurementsAndIsSeeded) {
  if (!has_xgboost()) GTEST_SKIP() << "forests are trained by XGBoost: install libxgboost-dev";
  const auto device = test::synthetic_device("new", 5, 1.0, 0.01, 600, 9);
  const auto model = train_pool_model("forest", test::synthetic_pool(20), {}, {});
  const AdaptationSet truth = some_of(device, 1, 2);
  const auto many = model->adapt(some_of(device, 0, 2), {}), few = model->adapt(some_of(device, 0, 60), {});
  EXPECT_GT(acc10(*many, truth), acc10(*few, truth) + 0.2);
  AdaptOptions other;
  other.seed = 2;
  EXPECT_EQ(model->adapt(some_of(device, 0, 2), {})->predict(truth.architectures, 0.9).latency_ms,
            many->predict(truth.architectures, 0.9).latency_ms);
  EXPECT_NE(model->adapt(some_of(device, 0, 2), other)->predict(truth.architectures, 0.9).latency_ms,
            many->predict(truth.architectures, 0.9).latency_ms);
}

TEST(Forest, OfOneMeasurementSaysThat) {
  if (!has_xgboost()) GTEST_SKIP() << "forests are trained by XGBoost: install libxgboost-dev";
  AdaptationSet one = some_of(test::synthetic_device("new", 5, 1.0, 0.01, 60, 9), 0, 60);
  one.latency_ms = {34.5};
  one.architectures.resize(1);
  const auto predictor = train_pool_model("forest", test::synthetic_pool(20), {}, {})->adapt(one, {});
  EXPECT_NEAR(predictor->predict(one.architectures, 0.9).latency_ms[0], 34.5, 1e-3);
}

TEST(Forest, SaysWhatToInstallWhereXgboostIsAbsent) {
  if (has_xgboost()) GTEST_SKIP() << "XGBoost is there";
  const auto device = test::synthetic_device("new", 5, 1.0, 0.01, 60, 9);
  try {
    train_pool_model("forest", test::synthetic_pool(20), {}, {})->adapt(some_of(device, 0, 2), {});
    ADD_FAILURE() << "a forest was trained";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("libxgboost-dev"), std::string::npos) << error.what();
  }
}

TEST(Forest, RefusesNodesThatFormNoTree) {
  if (!has_xgboost()) GTEST_SKIP() << "forests are trained by XGBoost: install libxgboost-dev";
  const auto device = test::synthetic_device("new", 5, 1.0, 0.01, 60, 9);
  const auto predictor = train_pool_model("forest", test::synthetic_pool(20), {}, {})->adapt(some_of(device, 0, 2), {});
  Archive archive = predictor->to_archive();
  std::vector<double> nodes = archive.doubles("forest.nodes");
  nodes[1] = 0;  // a child of the root that is the root: a walk without end
  nodes[0] = 0;
  archive.put("forest.nodes", to_array(nodes, {static_cast<std::int64_t>(nodes.size() / 4), 4}));
  const test::Folder folder;
  save(archive, folder.path() / "bad");
  EXPECT_THROW(load_predictor(folder.path() / "bad"), FormatError);
}

}  // namespace
}  // namespace tenshot::trainer
