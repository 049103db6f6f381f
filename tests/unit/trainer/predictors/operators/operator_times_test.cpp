#include "trainer/predictors/operators/operator_times.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <string>

#include "datasets/kit/measured_source.h"
#include "datasets/operators/kernel_table.h"
#include "nasbench/spaces/networks.h"
#include "nasbench/support/error.h"
#include "nasbench/support/random.h"
#include "nasbench/support/temporaries.h"
#include "tests/unit/trainer/fixtures.h"
#include "tests/unit/trainer/predictors/operators/specifications.h"
#include "trainer/core/adaptation.h"
#include "trainer/predictors/operators/operators_model.h"
#include "trainer/predictors/operators/operators_predictor.h"
#ifdef TENSHOT_HAS_TORCH
#include "tests/unit/trainer/predictors/operators/torchscript_agreement.h"
#endif

namespace tenshot::trainer::operators {
namespace {

using nasbench::OperatorSpecification;
using test::convolution;

/// Made-up accelerators: a convolution of 32 channels or fewer leaves most of one idle, and takes as long as one of 64.
double operator_ms(const OperatorSpecification& operation, double speed, double bandwidth) {
  const double idle = operation.output[1] <= 32 ? std::pow(64.0 / static_cast<double>(operation.output[1]), 2) : 1;
  return 0.01 + idle * speed * 1e-8 * static_cast<double>(nasbench::multiply_adds(operation)) +
         bandwidth * 1e-7 * static_cast<double>(nasbench::input_bytes(operation) + nasbench::output_bytes(operation));
}

double latency_ms(const Architecture& network, double speed, double bandwidth) {
  double sum = 0.3;
  for (const OperatorSpecification& op : nasbench::networks().operator_list(network)) {
    sum += operator_ms(op, speed, bandwidth);
  }
  return sum;
}

std::vector<Architecture> made_up_networks(std::size_t count) {
  Rng rng(11);
  std::vector<Architecture> identities;
  for (std::size_t n = 0; n < count; ++n) {
    std::vector<OperatorSpecification> operators;
    const auto layers = 3 + rng.below(12), narrowest = rng.below(5);
    for (std::uint64_t l = 0; l < layers; ++l) {
      const auto channels = static_cast<std::int64_t>(8 << (narrowest + rng.below(3))),
                 size = std::int64_t{7} << rng.below(3);
      operators.push_back(convolution(rng.below(2) == 0 ? 1 : 3, 1, channels, channels, size));
    }
    identities.push_back(
        nasbench::add_network(nasbench::named_network("accelerated-" + std::to_string(n), operators, "test")));
  }
  return identities;
}

datasets::Pool pool_of(const std::vector<Architecture>& networks) {
  datasets::Pool pool;
  pool.space = &nasbench::networks();
  Rng rng(7);
  for (int d = 0; d < 5; ++d) {
    datasets::DeviceRuntime device;
    device.id = "npu" + std::to_string(d) + "_fp16";
    device.device = device.id;
    const double speed = std::exp(0.5 * rng.normal()), bandwidth = std::exp(0.5 * rng.normal());
    for (const Architecture& network : networks) {
      datasets::Measurement row;
      row.architecture = network;
      row.latency_ms = latency_ms(network, speed, bandwidth) * std::exp(0.01 * rng.normal());
      device.latencies.push_back(row);
      for (const OperatorSpecification& op : nasbench::networks().operator_list(network)) {
        device.operator_latencies.push_back({op, operator_ms(op, speed, bandwidth) * std::exp(0.02 * rng.normal()),
                                             nasbench::networks().format(network)});
      }
    }
    pool.devices.push_back(std::move(device));
  }
  return pool;
}

AdaptationSet measured(const std::vector<Architecture>& networks) {
  AdaptationSet set;
  set.architectures = networks;
  for (const Architecture& network : networks) set.latency_ms.push_back(latency_ms(network, 2, 0.5));
  return set;
}

double mean_error(const Predictor& predictor, const std::vector<Architecture>& networks) {
  const Predictions predicted = predictor.predict(networks, 0.9);
  double sum = 0;
  for (std::size_t i = 0; i < networks.size(); ++i) {
    sum += std::abs(predicted.latency_ms[i] / latency_ms(networks[i], 2, 0.5) - 1);
  }
  return sum / static_cast<double>(networks.size());
}

class LearnedOperatorTimes : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_xgboost()) GTEST_SKIP() << "needs XGBoost";
  }
  static void SetUpTestSuite() {
    if (!has_xgboost()) return;
    const std::vector<Architecture> all = made_up_networks(110);
    known_.assign(all.begin(), all.begin() + 80);
    new_.assign(all.begin() + 80, all.end());
    model_ = train_operators(pool_of(known_), {});
    predictor_ = model_->adapt(measured({known_.begin(), known_.begin() + 10}), {});
  }
  static void TearDownTestSuite() {
    predictor_.reset();
    model_.reset();
  }

  static std::vector<Architecture> known_, new_;
  static std::unique_ptr<PoolModel> model_;
  static std::unique_ptr<Predictor> predictor_;
};

std::vector<Architecture> LearnedOperatorTimes::known_, LearnedOperatorTimes::new_;
std::unique_ptr<PoolModel> LearnedOperatorTimes::model_;
std::unique_ptr<Predictor> LearnedOperatorTimes::predictor_;

TEST_F(LearnedOperatorTimes, HalveTheErrorWhereCostsAreNotLinear) {
  PosteriorOptions linear;
  linear.operator_times = 0;
  const auto without =
      train_operators(pool_of(known_), {linear})->adapt(measured({known_.begin(), known_.begin() + 10}), {});
  EXPECT_LT(mean_error(*predictor_, new_), 0.5 * mean_error(*without, new_));
}

TEST_F(LearnedOperatorTimes, ComeBackFromArchivesToTheDigit) {
  const auto back = load_operators_predictor(Archive::parse(predictor_->to_archive().serialise(), "memory"));
  EXPECT_EQ(back->predict(new_, 0.9).latency_ms, predictor_->predict(new_, 0.9).latency_ms);
  EXPECT_EQ(back->predict(new_, 0.9).upper_ms, predictor_->predict(new_, 0.9).upper_ms);
  const auto model = load_operators(Archive::parse(model_->to_archive().serialise(), "memory"));
  EXPECT_EQ(model->predict_pool(new_), model_->predict_pool(new_));
  const auto again = model->adapt(measured({known_.begin(), known_.begin() + 10}), {});
  EXPECT_EQ(again->predict(new_, 0.9).latency_ms, predictor_->predict(new_, 0.9).latency_ms);
}

TEST_F(LearnedOperatorTimes, DamagedArchivesAreRefused) {
  for (const char* key : {"per_ms", "per_operator", "base", "most_efficiency"}) {
    Archive archive = predictor_->to_archive();
    archive.card["features"]["learned"][0][key] = -1;
    EXPECT_THROW(load_operators_predictor(archive), FormatError) << key;
  }
  Archive archive = predictor_->to_archive();
  archive.card["features"]["learned"][0]["groups"]["convolution"] = "sometimes";
  EXPECT_THROW(load_operators_predictor(archive), FormatError);
  archive = model_->to_archive();
  archive.card["library_blocks"][0] = 99;
  EXPECT_THROW(load_operators(archive), FormatError);
}

TEST_F(LearnedOperatorTimes, ThePoolsOwnDevicesAreKnownWell) {
  const std::vector<std::vector<double>> predicted = model_->predict_pool(known_);
  const datasets::LatencyMatrix truth = datasets::latency_matrix(pool_of(known_));
  for (std::size_t d = 0; d < predicted.size(); ++d) {
    double sum = 0;
    for (std::size_t n = 0; n < known_.size(); ++n) sum += std::abs(predicted[d][n] / truth.latency_ms[d][n] - 1);
    EXPECT_LT(sum / static_cast<double>(known_.size()), 0.1) << d;
  }
}

TEST_F(LearnedOperatorTimes, AnOperatorWithoutATimeOfItsOwnIsInThoseAroundIt) {
  datasets::Pool pool = pool_of(known_);
  datasets::DeviceRuntime& device = pool.devices[0];
  device.operator_latencies.erase(std::remove_if(device.operator_latencies.begin(), device.operator_latencies.end(),
                                                 [](const auto& l) { return l.operation.kernel.height == 1; }),
                                  device.operator_latencies.end());
  const datasets::LatencyMatrix matrix = datasets::latency_matrix(pool);
  const OperatorMeasurements operators(pool, matrix.architectures);
  std::vector<Eigen::Index> all(matrix.architectures.size());
  std::iota(all.begin(), all.end(), Eigen::Index{0});
  const Eigen::Map<const Eigen::VectorXd> latency(matrix.latency_ms[0].data(),
                                                  static_cast<Eigen::Index>(matrix.latency_ms[0].size()));
  const Eigen::VectorXd costs = Eigen::VectorXd::Constant(3, 0.1), features = Eigen::VectorXd::Constant(3, 1);
  const OperatorFeatures of_operator = [&](const auto&) { return features; };
  const OperatorTimes times = operators.learn(0, all, latency, 1, costs, of_operator);
  EXPECT_EQ(times.efficiency(convolution(1, 1, 64, 64, 14), features), 0);
  EXPECT_GT(times.efficiency(convolution(3, 1, 64, 64, 14), features), 0);
  EXPECT_EQ(times.efficiency(convolution(3, 64, 64, 64, 14), features), 1) << "no network has a depthwise one";
  EXPECT_TRUE(operators.learn(0, {0, 1}, latency, 1, costs, of_operator).trees.trees.empty())
      << "two networks say too little";
}

/// Linear costs are the one feature; the trees are still to be made.
OperatorTimes times_of_one_cost() {
  OperatorTimes times;
  times.groups.assign(timed_group_count(), GroupTimes::learned);
  times.per_ms = 1;
  times.costs = Eigen::VectorXd::Ones(1);
  return times;
}

TEST_F(LearnedOperatorTimes, OperatorsOfOneGroupMayTakeTimesFarApart) {
  OperatorTimes times = times_of_one_cost();
  const OperatorSpecification operation = convolution(3, 1, 64, 64, 14);
  times.trees.base = static_cast<float>(std::log(0.02 + least_operator_ms));
  EXPECT_NEAR(times.efficiency(operation, Eigen::VectorXd::Ones(1)), 0.02, 1e-4);
  times.most_efficiency = 10;  // as in files of earlier versions
  EXPECT_NEAR(times.efficiency(operation, Eigen::VectorXd::Ones(1)), 0.1, 1e-12);
}

TEST_F(LearnedOperatorTimes, BeyondTheCostliestMeasuredTheyGrowAsLinearCostsDo) {
  OperatorTimes times = times_of_one_cost();
  const OperatorSpecification operation = convolution(3, 1, 64, 64, 14);
  times.trees.base = static_cast<float>(std::log(2 + least_operator_ms));  // which say 2 ms, however large it is
  const auto taken = [&](double linear) {
    return linear * times.efficiency(operation, Eigen::VectorXd::Constant(1, linear));
  };
  EXPECT_NEAR(taken(16), 2, 1e-4) << "as in files of earlier versions";
  times.most_linear.assign(timed_group_count(), 4);
  EXPECT_NEAR(taken(3), 2, 1e-4);
  EXPECT_NEAR(taken(16), 2 * 16 / 4.0, 1e-3);
}

TEST_F(LearnedOperatorTimes, TreesMayStartFromLinearCosts) {
  OperatorTimes times;
  times.groups.assign(timed_group_count(), GroupTimes::learned);
  times.unit_ms = 5;
  times.per_ms = 1 / times.unit_ms;
  times.costs = Eigen::VectorXd::Constant(1, 0.01);
  const std::size_t linear =
      tree_feature_count();  // the feature behind all others: above log(0.5 ms) take twice as long
  times.trees.trees = {{{{static_cast<std::int32_t>(linear), std::log(0.5F), 1, 2, 0},
                         {-1, 0, 0, 0, 0},
                         {-1, 0, 0, 0, std::log(2.0F)}}}};
  const OperatorSpecification operation = convolution(3, 1, 64, 64, 14);
  const auto features = [](double value) -> Eigen::VectorXd { return Eigen::VectorXd::Constant(1, value); };
  EXPECT_NEAR(times.operator_ms(operation, features(2)), 0.1, 1e-6) << "2 · 0.01 · 5 ms";
  EXPECT_NEAR(times.operator_ms(operation, features(20)), 2, 0.01) << "twice 20 · 0.01 · 5 ms";
  EXPECT_NEAR(times.efficiency(operation, features(2)), 1, 1e-3);
  EXPECT_NEAR(times.efficiency(operation, features(20)), 2, 0.01);
}

TEST(TreeFeatures, TellKindsOfOneGroupApart) {
  OperatorSpecification sum, product, function;
  sum.kind = nasbench::OperatorKind::add;
  product.kind = nasbench::OperatorKind::multiply;
  function.kind = nasbench::OperatorKind::activation;
  for (OperatorSpecification* operation : {&sum, &product, &function}) {
    operation->inputs = {{1, 8, 7, 7}};
    operation->output = {1, 8, 7, 7};
  }
  EXPECT_EQ(timed_group(sum), timed_group(product));
  EXPECT_NE(tree_features(sum)[1], tree_features(product)[1]);
  function.name = "tanh";
  EXPECT_LT(tree_features(function)[1], 12) << "as in files of earlier versions, whose trees know 12 for all else";
  EXPECT_GT(tree_features(sum)[1], 12);
}

TEST_F(LearnedOperatorTimes, APoolKeepsWhatItsOperatorsTake) {
  const TemporaryFolder folder;
  datasets::Pool pool = pool_of({known_.begin(), known_.begin() + 5});
  pool.devices[2].operator_latencies.push_back({convolution(3, 64, 64, 64, 14), 0.5, ""});
  datasets::write_pool(folder.path(), pool);
  const datasets::Pool back = datasets::read_pool(folder.path());
  ASSERT_EQ(back.devices[2].operator_latencies.size(), pool.devices[2].operator_latencies.size());
  EXPECT_EQ(back.devices[2].operator_latencies[7].latency_ms, pool.devices[2].operator_latencies[7].latency_ms);
  EXPECT_EQ(back.devices[2].operator_latencies[7].network, pool.devices[2].operator_latencies[7].network);
  EXPECT_EQ(back.devices[2].operator_latencies[7].operation, pool.devices[2].operator_latencies[7].operation);
  EXPECT_EQ(datasets::content_hash(back), datasets::content_hash(pool));
  std::set<std::string> kernels;  // learners tell them apart
  for (const auto& row : datasets::read_kernel_table(folder.path() / back.devices[2].id / "operators.csv")) {
    kernels.insert(row.kernel);
  }
  EXPECT_EQ(kernels.count("depthwise_convolution"), 1U);
  datasets::Pool without = back;
  without.devices[0].operator_latencies.clear();
  EXPECT_NE(datasets::content_hash(without), datasets::content_hash(pool));
}

TEST_F(LearnedOperatorTimes, TheDocumentHasTheFeaturesOfEachBlock) {
  const auto& own = dynamic_cast<const OperatorsPredictor&>(*predictor_);
  const nlohmann::json document = predictor_->to_document();
  EXPECT_EQ(document["features"].size(), own.features().features());
  EXPECT_EQ(document["components"][0]["costs_ms"].size(), own.features().features());
  EXPECT_NE(document["features"].back()["name"].get<std::string>().find(" as on npu"), std::string::npos);
}

/// Ten measured networks with what a profiler says of their operators, 0.8 of which is a latency's share.
AdaptationSet profiled(const std::vector<Architecture>& networks) {
  AdaptationSet set = measured(networks);
  for (const Architecture& network : networks) {
    for (const OperatorSpecification& op : nasbench::networks().operator_list(network)) {
      set.operator_latencies.push_back({op, 0.8 * operator_ms(op, 2, 0.5), nasbench::networks().format(network)});
    }
  }
  return set;
}

class OwnOperatorTimes : public LearnedOperatorTimes {
 protected:
  static std::unique_ptr<PoolModel> model_without_operators() {
    datasets::Pool pool = pool_of(known_);
    for (datasets::DeviceRuntime& device : pool.devices) device.operator_latencies.clear();
    return train_operators(pool, {});
  }
  static std::vector<Architecture> ten() { return {known_.begin(), known_.begin() + 10}; }
};

TEST_F(OwnOperatorTimes, MakeThePredictorBetter) {
  const auto model = model_without_operators();
  const auto with = model->adapt(profiled(ten()), {}), without = model->adapt(measured(ten()), {});
  EXPECT_LT(mean_error(*with, new_), 0.75 * mean_error(*without, new_));
  ASSERT_FALSE(with->explanation().empty());
  EXPECT_NE(with->explanation().front().text.find("inside 10 of the measured networks are used"), std::string::npos);
  const auto back = load_operators_predictor(Archive::parse(with->to_archive().serialise(), "memory"));
  EXPECT_EQ(back->predict(new_, 0.9).latency_ms, with->predict(new_, 0.9).latency_ms);
  EXPECT_EQ(back->predict(new_, 0.9).upper_ms, with->predict(new_, 0.9).upper_ms);
}

/// Where what the pool lets expect is nothing like the device, the device's own operators are what counts: the pool's
/// devices are given the latencies of other networks.
TEST_F(OwnOperatorTimes, CountMoreWhereThePoolSaysNothing) {
  datasets::Pool pool = pool_of(known_);
  for (datasets::DeviceRuntime& device : pool.devices) {
    device.operator_latencies.clear();
    for (std::size_t n = 0; n + 1 < device.latencies.size(); n += 2) {
      std::swap(device.latencies[n].latency_ms, device.latencies[n + 1].latency_ms);
    }
  }
  const auto own_weight = [](const PoolModel& model) {
    const auto predictor = model.adapt(profiled(ten()), {});
    const auto& posterior = dynamic_cast<const OperatorsPredictor&>(*predictor).posterior();
    double weight = 0;
    for (const CostComponent& component : posterior.components) weight += component.entry == 5 ? component.weight : 0;
    return weight;
  };
  EXPECT_GE(own_weight(*model_without_operators()), 0.5 - 1e-9);
  EXPECT_GT(own_weight(*train_operators(pool, {})), 0.8);
}

TEST_F(OwnOperatorTimes, ThatContradictTheLatenciesAreSaidAndNotUsed) {
  const auto model = model_without_operators();
  AdaptationSet set = profiled(ten());
  for (datasets::OperatorLatency& row : set.operator_latencies) row.latency_ms *= 1000;
  const auto with = model->adapt(set, {}), without = model->adapt(measured(ten()), {});
  EXPECT_EQ(with->predict(new_, 0.9).latency_ms, without->predict(new_, 0.9).latency_ms);
  EXPECT_TRUE(with->explanation().front().warns);
  EXPECT_NE(with->explanation().front().text.find("times the latency of their networks"), std::string::npos);
}

TEST_F(OwnOperatorTimes, ComeWithADeviceRuntimesFolder) {
  const TemporaryFolder folder;
  const datasets::Pool pool = pool_of(ten());
  datasets::write_pool(folder.path(), pool);
  const datasets::MeasuredSource source =
      datasets::read_measured(folder.path() / pool.devices[0].id, nasbench::networks(), datasets::Quantity::latency);
  EXPECT_EQ(source.operator_latencies.size(), pool.devices[0].operator_latencies.size());
  AdaptationSet set;
  set.quantity = datasets::Quantity::latency;
  add_measured(set, source, *model_);
  EXPECT_EQ(set.operator_latencies.size(), source.operator_latencies.size());
  const std::size_t rows = set.operator_latencies.size();
  set.operator_latencies.clear();
  const std::filesystem::path file = folder.path() / pool.devices[0].id / "operators.csv";
  add_operators(set, file, *model_);
  EXPECT_EQ(set.operator_latencies.size(), rows) << "the same as a file of its own";
  set = {};
  set.quantity = datasets::Quantity::energy;
  EXPECT_THROW(add_operators(set, file, *model_), InputError);
  add_measured(set, source, *model_);
  EXPECT_TRUE(set.operator_latencies.empty()) << "times say nothing of energy";
}

#ifdef TENSHOT_HAS_TORCH

TEST_F(LearnedOperatorTimes, TorchScriptSaysTheSame) { test::expect_same_in_torchscript(*predictor_, new_); }

#endif

}  // namespace
}  // namespace tenshot::trainer::operators
