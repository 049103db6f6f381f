#include "trainer/predictors/operators/cost_features.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/trainer/predictors/operators/specifications.h"

namespace tenshot::trainer::operators {
namespace {

using nasbench::OperatorKind;
using nasbench::OperatorSpecification;
using test::convolution;

double value(const Eigen::VectorXd& features, const std::string& name) {
  for (std::size_t f = 0; f < raw_feature_count(); ++f) {
    if (raw_feature_name(f) == name) return features[static_cast<Eigen::Index>(f)];
  }
  ADD_FAILURE() << "no feature " << name;
  return -1;
}

TEST(CostFeatures, OfAConvolutionAreItsCountArithmeticAndBytes) {
  // 3×3, 4 → 8 channels on 5×5: 5·5·9·4·8 = 7,200 multiply–adds; 100 and 200 numbers of 4 bytes; 288 weights.
  const Eigen::VectorXd features = raw_features({convolution(3, 1, 4, 8, 5), convolution(3, 1, 4, 8, 5)});
  EXPECT_EQ(value(features, "base"), 1);
  EXPECT_EQ(value(features, "convolution.count"), 2);
  EXPECT_EQ(value(features, "convolution.arithmetic"), 2 * 7200);
  EXPECT_EQ(value(features, "convolution.input_bytes"), 2 * 400);
  EXPECT_EQ(value(features, "convolution.output_bytes"), 2 * 800);
  EXPECT_EQ(value(features, "convolution.weight_bytes"), 2 * 1152);
  EXPECT_EQ(value(features, "depthwise_convolution.count"), 0);
}

TEST(CostFeatures, TellConvolutionsApartByKernelAndGroups) {
  const Eigen::VectorXd features =
      raw_features({convolution(1, 1, 8, 8, 4), convolution(3, 8, 8, 8, 4), convolution(3, 2, 8, 8, 4)});
  EXPECT_EQ(value(features, "convolution_1x1.count"), 1);
  EXPECT_EQ(value(features, "depthwise_convolution.count"), 1);
  EXPECT_EQ(value(features, "grouped_convolution.count"), 1);
  EXPECT_EQ(value(features, "convolution.count"), 0);
}

TEST(CostFeatures, CountAPoolsWindowAsArithmetic) {
  OperatorSpecification pool;
  pool.kind = OperatorKind::max_pool;
  pool.kernel = {3, 3};
  pool.inputs = {{1, 2, 8, 8}};
  pool.output = {1, 2, 4, 4};
  EXPECT_EQ(value(raw_features({pool}), "pool.arithmetic"), 2 * 4 * 4 * 9);
}

TEST(CostFeatures, OfAReshapeAreNone) {
  OperatorSpecification reshape;
  reshape.kind = OperatorKind::reshape;
  reshape.inputs = {{1, 2, 8, 8}};
  reshape.output = {1, 128};
  const Eigen::VectorXd features = raw_features({reshape});
  EXPECT_EQ(features.sum(), 1);  // the base alone
}

TEST(FeatureTable, MultipliesSumsOfBlocks) {
  FeatureTable table;
  table.blocks.resize(3, 2);
  table.blocks << 1, 0, 0, 2, 3, 1;
  table.block_of = {0, 1, 2, 1};
  table.begin = {0, 3, 4};
  Eigen::MatrixXd weights(2, 2);
  weights << 1, 10, 2, 20;
  const Eigen::MatrixXd expected = (Eigen::MatrixXd(2, 2) << 4 + 6, 40 + 60, 4, 40).finished();
  EXPECT_TRUE(table.times(weights).isApprox(expected));
  EXPECT_TRUE((table.rows() * weights).isApprox(expected));
}

}  // namespace
}  // namespace tenshot::trainer::operators
