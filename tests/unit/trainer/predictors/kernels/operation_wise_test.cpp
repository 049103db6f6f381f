#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "nasbench/graph/network_builder.h"
#include "nasbench/support/error.h"
#include "nasbench/support/random.h"
#include "trainer/predictors/kernels/lasso.h"
#include "trainer/predictors/kernels/learners.h"

namespace tenshot::trainer::kernels {
namespace {

using nasbench::NetworkBuilder;
using nasbench::OperatorSpecification;
using nasbench::Source;

/// One convolution of an image of `in` channels, 3×3.
OperatorSpecification convolution(int in, int out, int size, int groups = 1) {
  NetworkBuilder b;
  b.convolution("conv", b.input("input", {1, in, size, size}), out, {nasbench::same_window(3), groups, false});
  return b.network().nodes[0].operation;
}

TEST(OperationFeatures, AreThoseOfThePapersTable) {
  const std::vector<double> expected = {8, 4, 8, 1, 3, 16, 256, 1024, 576, 36864};
  EXPECT_EQ(operation_features(convolution(4, 16, 8)), expected);
  EXPECT_EQ(operation_category(convolution(4, 16, 8)), "convolution");
  EXPECT_EQ(operation_category(convolution(4, 4, 8, 4)), "depthwise_convolution");
  EXPECT_EQ(operation_category(convolution(4, 16, 8, 2)), "grouped_convolution");
  EXPECT_EQ(operation_features(convolution(4, 16, 8, 2)).back(), 2);
}

TEST(OperationFeatures, HaveANameEach) {
  NetworkBuilder b;
  Source x = b.input("input", {1, 4, 8, 8});
  x = b.concatenate("concat", {x, b.activation("relu", x, "relu")});
  x = b.max_pool("pool", x, {nasbench::same_window(3, 2), false, false});
  b.output(b.linear("head", b.global_average_pool("mean", x), 10));
  for (const nasbench::NetworkNode& node : b.network().nodes) {
    EXPECT_EQ(operation_features(node.operation).size(), feature_names(operation_category(node.operation)).size())
        << node.name;
  }
  const std::vector<double> concat = {8, 4, 2, 8, 512, 512};
  EXPECT_EQ(operation_features(b.network().nodes[1].operation), concat);
  const std::vector<double> linear = {8, 10, 90, 80};
  EXPECT_EQ(operation_features(b.network().nodes[4].operation), linear);
}

TEST(OperationFeatures, DetailsSayHowMuchIsFilledUpAndMoved) {
  const std::vector<std::string> names = feature_names("grouped_convolution", LearnerKind::boosted);
  const std::vector<double> details = operation_features(convolution(4, 20, 8, 2), LearnerKind::boosted);
  ASSERT_EQ(details.size(), names.size());
  const auto detail = [&](const std::string& name) {
    return details.at(static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin()));
  };
  EXPECT_EQ(detail("dot_length"), 18);            // 3·3 of two channels
  EXPECT_EQ(detail("filters_filled"), 32. / 20);  // to two vectors of 16
  EXPECT_EQ(detail("row_filled"), 2);             // 8 to 16
  EXPECT_EQ(detail("elements_moved"), 256 + 1280 + 9 * 2 * 20);
  EXPECT_EQ(detail("intensity"), 64. * 18 * 20 / (256 + 1280 + 360));
}

TEST(Lasso, FindsALineWithPositiveWeights) {
  Eigen::MatrixXd features(50, 3);
  Eigen::VectorXd latency(50);
  Rng rng(2);
  for (int i = 0; i < 50; ++i) {
    features.row(i) << 1 + rng.uniform(), 10 * rng.uniform(), 7;  // the last one does not vary
    latency[i] = 2 + 3 * features(i, 0) + 0.5 * features(i, 1);
  }
  const Lasso lasso = fit_lasso(features, latency, 0);
  EXPECT_NEAR(lasso.predict(Eigen::Vector3d(1.5, 4, 7)), 8.5, 1e-5);
  EXPECT_EQ(lasso.weight[2], 0);
  // An exact line wants no penalty.
  EXPECT_GT(fit_lasso(features, latency).weight[1], fit_lasso(features, latency, 1e-3).weight[1]);
}

TEST(Lasso, WeightsAreNeverNegative) {
  Eigen::MatrixXd features(4, 1);
  features << 1, 2, 3, 4;
  const Lasso falling = fit_lasso(features, Eigen::Vector4d(4, 3, 2, 1), 0);
  EXPECT_EQ(falling.weight[0], 0);
  // The constant c with the least Σ (c/y − 1)²: Σ 1/y / Σ 1/y² of 1, 2, 3 and 4.
  const double constant = (1 + 1 / 2.0 + 1 / 3.0 + 1 / 4.0) / (1 + 1 / 4.0 + 1 / 9.0 + 1 / 16.0);
  EXPECT_NEAR(falling.intercept, constant, 1e-9);
}

TEST(Lasso, ALargerPenaltyShrinksTheWeights) {
  // Features −1 and 1, latencies 1 and 1.5; the objective's minimum is in closed form: with the intercept b and the
  // weight w, ((b − w) − 1)²/2 + ((b + w)/1.5 − 1)²/2 + α w. Where both derivatives are zero and α = 0: w = .25.
  Eigen::MatrixXd features(2, 1);
  features << -1, 1;
  const Eigen::Vector2d latency(1, 1.5);
  EXPECT_NEAR(fit_lasso(features, latency, 0).weight[0], 0.25, 1e-7);
  const double some = fit_lasso(features, latency, 0.01).weight[0];
  EXPECT_GT(some, 0);
  EXPECT_LT(some, 0.25);
  EXPECT_EQ(fit_lasso(features, latency, 10).weight[0], 0);
}

}  // namespace
}  // namespace tenshot::trainer::kernels
