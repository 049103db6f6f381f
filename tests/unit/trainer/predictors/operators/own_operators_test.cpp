#include "trainer/predictors/operators/own_operators.h"

#include <gtest/gtest.h>

#include <cmath>

#include "nasbench/spaces/networks.h"
#include "nasbench/support/numbers_below.h"
#include "tests/unit/trainer/predictors/operators/cost_bench.h"
#include "tests/unit/trainer/predictors/operators/specifications.h"

namespace tenshot::trainer::operators {
namespace {

using nasbench::OperatorSpecification;
using test::convolution;

nasbench::Architecture network_of(const std::string& name, const std::vector<OperatorSpecification>& operators) {
  return nasbench::add_network(nasbench::named_network(name, operators, "test"));
}

/// Two networks: `profiled-a` has a 3x3 convolution twice and a 1x1 one, `profiled-b` the 3x3 one once.
struct Profiled {
  OperatorSpecification wide = convolution(3, 1, 8, 8, 14), narrow = convolution(1, 1, 8, 8, 14);
  AdaptationSet set;

  Profiled() {
    set.architectures = {network_of("profiled-a", {wide, wide, narrow}), network_of("profiled-b", {wide})};
    set.latency_ms = {10, 5};
  }
};

TEST(OwnOperators, AreTheMediansOverTheMeasuredNetworks) {
  Profiled made;
  made.set.operator_latencies = {{made.wide, 3, "profiled-a"}, {made.wide, 5, "profiled-b"}, {made.wide, 9, "other"}};
  const OwnOperators own = own_operators(nasbench::networks(), made.set);
  ASSERT_EQ(own.operators.size(), 1u);
  EXPECT_EQ(own.latency_ms[0], 3) << "the median of 3, 3 and 5";
  EXPECT_EQ(own.sum_ms, (std::vector<double>{6, 5})) << "what has no time of its own is executed with another";
  EXPECT_EQ(own.timed_share(made.wide), 1);
  EXPECT_EQ(own.timed_share(made.narrow), 0);
  EXPECT_EQ(own.timed_share(convolution(3, 8, 8, 8, 14)), 1) << "none was seen";
}

TEST(OwnOperators, OfNoNetworkCountInEachThatHasThem) {
  Profiled made;
  made.set.operator_latencies = {{made.wide, 4, ""}, {made.narrow, 1, ""}};
  const OwnOperators own = own_operators(nasbench::networks(), made.set);
  EXPECT_EQ(own.sum_ms, (std::vector<double>{9, 4}));
  const OperatorSums sums = operator_sums(own, made.set);
  EXPECT_EQ(sums.networks, 2u);
  EXPECT_NEAR(sums.share, std::sqrt(0.9 * 0.8), 1e-12);
  EXPECT_NEAR(sums.scatter, 0.5 * std::log(0.9 / 0.8), 1e-12);
  EXPECT_NEAR(sums.spread, 0.5 * std::log(2), 1e-12);
}

TEST(OwnOperators, ThatContradictTheLatenciesAreNamed) {
  OwnOperators own;
  OperatorSums sums{10, 0.95, 0.08, 0.6};
  EXPECT_NE(contradiction(own, sums).find("only 0 operators"), std::string::npos);
  own.operators.assign(30, convolution(3, 1, 8, 8, 14));
  EXPECT_EQ(contradiction(own, sums), "");
  sums.share = 0.56;
  EXPECT_EQ(contradiction(own, sums), "") << "a GPU's operators are that small a part of a latency";
  sums.share = 950;
  EXPECT_NE(contradiction(own, sums).find("950 times the latency"), std::string::npos);
  sums = {10, 0.95, 0.5, 0.6};
  EXPECT_NE(contradiction(own, sums).find("of one device?"), std::string::npos);
  sums = {10, 0.95, 0.26, 2};
  EXPECT_EQ(contradiction(own, sums), "") << "latencies that differ this much are still told";
}

TEST(OwnOperators, AreOfTheNetworksThatWereProfiled) {
  Profiled made;
  const auto profiled = [&](std::vector<datasets::OperatorLatency> times) {
    made.set.operator_latencies = std::move(times);
    return operator_sums(own_operators(nasbench::networks(), made.set), made.set).networks;
  };
  EXPECT_EQ(profiled({}), 0u);
  EXPECT_EQ(profiled({{made.wide, 3, "profiled-a"}, {made.narrow, 5, "profiled-a"}, {made.wide, 9, "other"}}), 1u);
  EXPECT_EQ(profiled({{made.wide, 4, ""}}), 2u) << "a time of no network is one of each";
}

/// Convolutions take as long as they have channels, but for one that takes a tenth of that. Trees with several
/// operators in a leaf cannot follow it.
TEST(OwnOperators, CorrectThoseNearbyByWhatTreesLeaveOfThem) {
  if (!has_xgboost()) GTEST_SKIP() << "this program was built without XGBoost";
  FeatureMap map;
  map.raw = numbers_below(raw_feature_count());
  map.unit = Eigen::VectorXd::Ones(static_cast<Eigen::Index>(map.raw.size()));
  CostLibrary library;
  library.costs = Eigen::MatrixXd::Constant(1, map.unit.size(), 1e-6);
  library.operator_features = map.raw.size();
  library.median_ms = Eigen::VectorXd::Ones(1);
  library.differences = Eigen::MatrixXd::Zero(1, 1);
  OwnOperators own;
  for (int i = 0; i < 40; ++i) {
    own.operators.push_back(convolution(3, 1, 16 + 4 * i, 16 + 4 * i, 14));
    own.latency_ms.push_back((i == 20 ? 0.1 : 1) * (16.0 + 4 * i));
  }
  const OperatorSpecification odd = own.operators[20], other_window = convolution(5, 1, 96, 96, 14);
  const auto expected = [&](double reach) {
    return expected_times(map, library, own, Eigen::VectorXd::Constant(map.unit.size(), 1e-6), {odd, other_window},
                          reach);
  };
  const std::vector<double> by_trees = expected(0), corrected = expected(0.01);
  EXPECT_GT(by_trees[0], 30);
  EXPECT_LT(corrected[0], 20) << "it takes 9.6 ms";
  EXPECT_GT(corrected[0], 9.6) << "one time is not believed whole";
  EXPECT_EQ(corrected[1], by_trees[1]) << "no own operator has its window";
}

TEST(OwnOperators, CountAsMuchAsOtherDevicesFromTenNetworksAndThreeTimesAsMuchFromThirty) {
  const Bench bench = bench_of(3, 60, 4, 1);  // the last device stands for the new one
  const CostLibrary library = fit_library(bench.pool);
  const AdaptationFeatures set{bench.pool.features.topRows(2),
                               {bench.pool.latency_ms(2, 0), bench.pool.latency_ms(2, 1)}};
  const auto own_share = [&](std::size_t profiled) {
    double share = 0;
    for (const CostComponent& component : adapt_beside_own(library, set, profiled).components) {
      if (component.entry == 2) share += component.weight;
    }
    return share;
  };
  EXPECT_NEAR(own_share(3), 0.5, 1e-9);
  EXPECT_NEAR(own_share(10), 0.5, 1e-9);
  EXPECT_NEAR(own_share(30), 0.75, 1e-9);
}

/// Knowledge that has grown by ten networks, which the others measured and the new device's entry did not.
TEST(OwnOperators, StandBesideDevicesThatOtherNetworksWereMeasuredOn) {
  const Bench bench = bench_of(3, 60, 4, 1);
  CostLibrary library = fit_library(bench.pool);
  library.network_growth = Eigen::VectorXd::Zero(60);
  library.network_growth.tail(10).setOnes();
  library.device_growth = Eigen::Vector3d(1, 1, 0);
  const AdaptationFeatures set{bench.pool.features.topRows(2),
                               {bench.pool.latency_ms(2, 0), bench.pool.latency_ms(2, 1)}};
  const CostPosterior both = adapt_beside_own(library, set, 2);
  ASSERT_EQ(both.anchors.rows(), 12) << "the ten that are known, and the two measured";
  ASSERT_EQ(both.anchor_weights.size(), both.anchors.rows());
  double share = 0;
  for (const CostComponent& component : both.components) share += component.entry == 2 ? component.weight : 0;
  const CostPosterior others = adapt(with_devices(library, {0, 1}), set), own = adapt(with_devices(library, {2}), set);
  ASSERT_EQ(own.anchors.rows(), 52);
  const Eigen::VectorXd expected = (1 - share) * others.anchor_weights.tail(2) + share * own.anchor_weights.tail(2);
  EXPECT_TRUE(both.anchor_weights.tail(2).isApprox(expected)) << both.anchor_weights.tail(2) << "\n\n" << expected;
}

}  // namespace
}  // namespace tenshot::trainer::operators
