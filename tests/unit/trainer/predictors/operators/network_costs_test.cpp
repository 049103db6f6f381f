#include "trainer/predictors/operators/network_costs.h"

#include <gtest/gtest.h>

#include <cmath>

#include "nasbench/spaces/networks.h"
#include "tests/unit/trainer/predictors/operators/made_up_pool.h"
#include "trainer/predictors/operators/operators_model.h"

namespace tenshot::trainer::operators {
namespace {

using nasbench::OperatorKind;
using nasbench::OperatorSpecification;

OperatorSpecification pointwise() {
  OperatorSpecification op;
  op.kind = OperatorKind::convolution;
  op.inputs = {{1, 8, 4, 4}};
  op.output = {1, 8, 4, 4};
  return op;
}

/// A network of two equal convolutions and a reshape, and a posterior in which its base costs 1 ± 0.2 ms and each of
/// the five measures of both convolutions together 0.4 ms, of which the first is uncertain by 0.6 ms.
class NetworkCosts : public testing::Test {
 protected:
  NetworkCosts() {
    OperatorSpecification reshape = pointwise();
    reshape.kind = OperatorKind::reshape;
    network_ =
        nasbench::add_network(nasbench::named_network("two-convolutions", {pointwise(), reshape, pointwise()}, "test"));
    map_ = make_feature_map(nasbench::networks(), {network_});
    Eigen::VectorXd costs = Eigen::VectorXd::Constant(6, 0.4);
    costs[0] = 1;
    posterior_.components = {{0, 0.01, 1.0, costs}};
    posterior_.floor_ms = 1e-6;
    posterior_.spread_ms = Eigen::MatrixXd::Zero(6, 2);
    posterior_.spread_ms(0, 0) = 0.2;
    posterior_.spread_ms(1, 1) = 0.6;
    posterior_.rest_ms2 = Eigen::VectorXd::Zero(6);
  }

  nasbench::Architecture network_;
  FeatureMap map_;
  CostPosterior posterior_;
};

TEST_F(NetworkCosts, AreThoseOfTheBaseAndOfEachOperatorInOrder) {
  const std::vector<PartCost> parts = network_costs(posterior_, map_, nasbench::networks(), network_);
  ASSERT_EQ(parts.size(), 3u) << "a reshape moves no number";
  EXPECT_EQ(parts[0].kind, "base");
  EXPECT_NEAR(parts[0].cost_ms, 1, 1e-12);
  EXPECT_NEAR(parts[0].deviation_ms, 0.2, 1e-12);
  for (const std::size_t i : {1u, 2u}) {  // half of each of five features
    EXPECT_EQ(parts[i].kind, "convolution_1x1");
    EXPECT_EQ(parts[i].name, nasbench::format(pointwise()));
    EXPECT_NEAR(parts[i].cost_ms, 1, 1e-12);
    EXPECT_NEAR(parts[i].deviation_ms, 0.3, 1e-12);
  }
}

TEST_F(NetworkCosts, OfUnsureComponentsVaryByWhatTheyDisagreeOn) {
  posterior_.components[0].weight = 0.5;
  posterior_.components.push_back(posterior_.components[0]);
  posterior_.components[1].costs_ms[0] = 3;  // the base: 1 or 3 ms
  const std::vector<PartCost> parts = network_costs(posterior_, map_, nasbench::networks(), network_);
  const double predicted_ms = std::sqrt(3.0 * 5.0), scale = predicted_ms / 4;  // the parts' means add up to 4 ms
  EXPECT_NEAR(parts[0].cost_ms, 2 * scale, 1e-9);
  EXPECT_NEAR(parts[0].deviation_ms, std::sqrt(1 + 0.04) * scale, 1e-9);
  double sum_ms = 0;
  for (const PartCost& part : parts) sum_ms += part.cost_ms;
  EXPECT_NEAR(sum_ms, predicted_ms, 1e-9);
}

TEST_F(NetworkCosts, ByKindAreTheDearestFirst) {
  const std::vector<PartCost> kinds = costs_by_kind(posterior_, map_, nasbench::networks(), {network_});
  ASSERT_EQ(kinds.size(), 2u);
  EXPECT_EQ(kinds[0].name, "convolution_1x1");
  EXPECT_NEAR(kinds[0].cost_ms, 2, 1e-12);
  EXPECT_NEAR(kinds[0].deviation_ms, 0.6, 1e-12);
  EXPECT_EQ(kinds[1].name, "base");
  EXPECT_TRUE(costs_by_kind(posterior_, map_, nasbench::networks(), {}).empty());
}

TEST(Operators, OfAPoolOfFewNetworksAreDoubted) {
  for (const std::size_t count : {3U, 8U}) {
    const std::vector<Architecture> few = test::made_up_networks(count);
    const auto model = train_operators(test::pool_of(nasbench::networks(), few), {});
    const std::vector<Remark> remarks = model->adapt(test::measured(nasbench::networks(), few), {})->explanation();
    const bool warned = std::any_of(remarks.begin(), remarks.end(), [](const Remark& remark) { return remark.warns; });
    EXPECT_EQ(warned, count == 3) << count;
  }
}

}  // namespace
}  // namespace tenshot::trainer::operators
