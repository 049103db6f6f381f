#include "trainer/predictors/maple_edge/descriptor_features.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "nasbench/spaces/search_space.h"
#include "nasbench/support/error.h"
#include "tests/unit/trainer/fixtures.h"
#include "trainer/core/nnls.h"

namespace tenshot::trainer {
namespace {

const nasbench::SearchSpace& space = nasbench::nasbench201();

TEST(NonNegativeLeastSquares, EqualsLeastSquaresWhereThatIsNonNegative) {
  Eigen::MatrixXd a(3, 2);
  a << 1, 0, 0, 1, 1, 1;
  const Eigen::VectorXd x = non_negative_least_squares(a, Eigen::Vector3d(1, 2, 3));
  EXPECT_NEAR(x[0], 1, 1e-12);
  EXPECT_NEAR(x[1], 2, 1e-12);
}

TEST(NonNegativeLeastSquares, LeavesOutWhatWouldBeNegative) {
  // Unconstrained: (2, −1). With x₁ ≥ 0 the best is x₀ = (1·2 + 1·1)/2 = 1.5.
  Eigen::MatrixXd a(2, 2);
  a << 1, 0, 1, 1;
  const Eigen::VectorXd x = non_negative_least_squares(a, Eigen::Vector2d(2, 1));
  EXPECT_NEAR(x[0], 1.5, 1e-12);
  EXPECT_EQ(x[1], 0);
}

TEST(NonNegativeLeastSquares, SatisfiesItsOptimalityConditions) {
  Rng rng(4);
  for (int round = 0; round < 200; ++round) {
    Eigen::MatrixXd a(10, 5);
    Eigen::VectorXd b(10);
    for (Eigen::Index i = 0; i < 10; ++i) {
      b[i] = rng.normal();
      for (Eigen::Index j = 0; j < 5; ++j) a(i, j) = rng.normal();
    }
    const Eigen::VectorXd x = non_negative_least_squares(a, b);
    const Eigen::VectorXd gradient = a.transpose() * (a * x - b);
    for (Eigen::Index j = 0; j < 5; ++j) {
      EXPECT_GE(x[j], 0);
      EXPECT_GE(gradient[j], -1e-8);
      if (x[j] > 0) {
        EXPECT_NEAR(gradient[j], 0, 1e-8);
      }
    }
  }
}

TEST(BoundedLeastSquares, FitsWhatIsAboveABoundToTheOthers) {
  Eigen::MatrixXd a(2, 2);
  a << 1, 0, 1, 1;
  const Eigen::Vector2d b(2, 3);
  EXPECT_TRUE(bounded_least_squares(a, b, Eigen::Vector2d(5, 5)).isApprox(Eigen::Vector2d(2, 1)));
  EXPECT_TRUE(bounded_least_squares(a, b, Eigen::Vector2d(1.5, 5)).isApprox(Eigen::Vector2d(1.5, 1.5)));
  EXPECT_TRUE(bounded_least_squares(a, b, Eigen::Vector2d(1.5, 1)).isApprox(Eigen::Vector2d(1.5, 1)));
}

AdaptationSet reference_of(const datasets::DeviceRuntime& device, std::size_t count) {
  AdaptationSet reference;
  for (std::size_t i = 0; i < count; ++i) {
    reference.architectures.push_back(device.latencies[i].architecture);
    reference.latency_ms.push_back(device.latencies[i].latency_ms);
  }
  return reference;
}

TEST(InferredCosts, FindTheCostsOfAnAdditiveDevice) {
  const AdaptationSet reference = reference_of(test::synthetic_device("d", 2, 1.25, 0, 30, 1), 12);
  const std::vector<double> costs = inferred_costs_ms(reference, space);
  const std::vector<double> expected = {4, 0.2, 1, 2.5, 0.8};
  ASSERT_EQ(costs.size(), expected.size());
  for (std::size_t i = 0; i < costs.size(); ++i) EXPECT_NEAR(costs[i], expected[i], 1e-9) << i;
}

TEST(InferredCosts, AreNotMovedByADisconnectedArchitecture) {
  AdaptationSet reference = reference_of(test::synthetic_device("d", 2, 1.25, 0, 30, 1), 12);
  const std::vector<double> before = inferred_costs_ms(reference, space);
  const double scale_before = reference_scale_ms(reference, space);
  reference.architectures.push_back(space.at(0));  // all none
  reference.latency_ms.push_back(0.003);
  EXPECT_EQ(inferred_costs_ms(reference, space), before);
  EXPECT_EQ(reference_scale_ms(reference, space), scale_before);
}

TEST(ReferenceScale, IsTheGeometricMean) {
  const AdaptationSet reference{{space.at(15624), space.at(15623)}, {2, 8}};
  EXPECT_NEAR(reference_scale_ms(reference, space), 4, 1e-12);
}

TEST(ReferenceScale, TakesDisconnectedArchitecturesWhereThereIsNothingElse) {
  EXPECT_NEAR(reference_scale_ms({{space.at(0)}, {3}}, space), 3, 1e-12);
}

datasets::HardwareDescriptor two_operators() {
  datasets::HardwareDescriptor descriptor;
  descriptor.source = "perf_event";
  descriptor.counters = {"cycles", "instructions"};
  descriptor.operators = {{"nor_conv_3x3",
                           *nasbench::nasbench201().named_operation("nor_conv_3x3", 16, 32),
                           2.0,
                           {4e6, std::numeric_limits<double>::quiet_NaN()}},
                          {"none", *nasbench::nasbench201().named_operation("none", 16, 32), 0.0, {10, 20}}};
  return descriptor;
}

/// A device of which one network was measured.
AdaptationSet device_of(const datasets::HardwareDescriptor& descriptor) {
  return {{space.at(15624)}, {1}, false, descriptor};
}

TEST(DeviceFeatures, AreEventsPerSecondOfTheOperator) {
  const auto features = device_features(DescriptorKind::counters, true, device_of(two_operators()), space, 4);
  ASSERT_EQ(features.size(), 6u);
  EXPECT_NEAR(features[0], std::log1p(4e6 / 2e-3), 1e-12);  // 4e6 cycles in 2 ms
  EXPECT_EQ(features[1], 0);                                // the core has no such counter
  EXPECT_NEAR(features[2], std::log1p(10 / 2e-6), 1e-12);   // floor: a thousandth of the slowest operator
  EXPECT_NEAR(features[4], std::log1p(2.0 / 4 * 1e3), 1e-12);
}

TEST(DeviceFeatures, AreAbsoluteWithoutNormalisation) {
  const auto features = device_features(DescriptorKind::counters, false, device_of(two_operators()), space, 4);
  EXPECT_NEAR(features[0], std::log1p(4e6), 1e-12);
  EXPECT_NEAR(features[4], std::log1p(2.0 * 1e3), 1e-12);
}

TEST(DeviceFeatures, SayWhatTheDescriptorLacks) {
  datasets::HardwareDescriptor latency_only = two_operators();
  latency_only.counters.clear();
  EXPECT_THROW(device_features(DescriptorKind::counters, true, device_of(latency_only), space, 1), InputError);
  EXPECT_THROW(device_features(DescriptorKind::latency, true, {}, space, 1), InputError);
  EXPECT_EQ(device_features(DescriptorKind::latency, true, device_of(latency_only), space, 1).size(), 2u);
}

TEST(CommonDescriptorKind, IsTheRichestThatEveryDeviceHas) {
  datasets::Pool pool = test::synthetic_pool(5);
  EXPECT_EQ(common_descriptor_kind(pool), DescriptorKind::inferred);
  for (auto& device : pool.devices) device.descriptor = two_operators();
  EXPECT_EQ(common_descriptor_kind(pool), DescriptorKind::counters);
  pool.devices[1].descriptor.counters.clear();
  EXPECT_EQ(common_descriptor_kind(pool), DescriptorKind::latency);
}

TEST(Standardisation, GivesZeroMeanAndTheSameDeviationToAll) {
  const Standardisation standardisation = standardisation_of({{1, 5, 100}, {3, 5, 300}});
  const std::vector<float> low = standardisation.apply({1, 5, 100}), high = standardisation.apply({3, 5, 300});
  EXPECT_FLOAT_EQ(low[0], -0.1F);
  EXPECT_FLOAT_EQ(high[0], 0.1F);
  EXPECT_EQ(low[1], 0);
  EXPECT_FLOAT_EQ(low[2], low[0]);
  EXPECT_THROW(standardisation.apply({1}), InputError);
}

TEST(Standardisation, DropsEveryFeatureOfAPoolOfOne) {
  const Standardisation standardisation = standardisation_of({{1, 20, 7}});
  EXPECT_EQ(standardisation.apply({5, -3, 7.001}), std::vector<float>(3, 0));
}

TEST(Standardisation, DropsWhatHardlyVariesAndBoundsTheRest) {
  // Deviations .005 (dropped) and 1: the new device is .5 off in the first, and 98 deviations off in the second.
  const Standardisation standardisation = standardisation_of({{2, 1}, {2.01, 3}});
  const std::vector<float> far = standardisation.apply({2.5, 100});
  EXPECT_EQ(far[0], 0);
  EXPECT_FLOAT_EQ(far[1], 0.3F);
  EXPECT_FLOAT_EQ(standardisation.apply({2.5, -100})[1], -0.3F);
  EXPECT_FLOAT_EQ(standardisation.apply({2.5, 4})[1], 0.2F);  // two deviations: as it is
}

}  // namespace
}  // namespace tenshot::trainer
