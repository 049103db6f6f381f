#include "nasbench/graph/network_weights.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "nasbench/graph/network_builder.h"
#include "nasbench/support/error.h"
#include "nasbench/support/random.h"
#include "tests/unit/nasbench/graph/reference_inference.h"

namespace tenshot::nasbench {
namespace {

/// 2×6×6 → convolution 3×3, stride 2 → 4×3×3 → batch norm → pool → linear to 5.
Network small_network() {
  NetworkBuilder builder;
  const Source conv = builder.convolution("conv", builder.input("input", {1, 2, 6, 6}), 4, {same_window(3, 2)});
  const Source norm = builder.batch_norm("norm", conv);
  const Source pool = builder.global_average_pool("pool", norm);
  builder.output(builder.linear("linear", pool, 5));
  return builder.take();
}

TEST(RandomWeights, HaveTheSizesOfTheirNodes) {
  const Network network = small_network();
  const LayerWeights conv = random_weights(network, 0, 1);
  EXPECT_EQ(conv.weight.size(), 4U * 2 * 9);
  EXPECT_TRUE(conv.bias.empty() && conv.mean.empty() && conv.variance.empty());
  const LayerWeights norm = random_weights(network, 1, 1);
  EXPECT_EQ(norm.weight.size(), 4U);
  EXPECT_EQ(norm.bias.size(), 4U);
  EXPECT_EQ(norm.mean.size(), 4U);
  EXPECT_EQ(norm.variance.size(), 4U);
  const LayerWeights pool = random_weights(network, 2, 1);
  EXPECT_TRUE(pool.weight.empty() && pool.bias.empty() && pool.mean.empty() && pool.variance.empty());
  const LayerWeights linear = random_weights(network, 3, 1);
  EXPECT_EQ(linear.weight.size(), 20U);
  EXPECT_EQ(linear.bias.size(), 5U);
  EXPECT_THROW(random_weights(network, 4, 1), InputError);
}

TEST(RandomWeights, RepeatWithSeedAndNodeAndDifferOtherwise) {
  NetworkBuilder builder;
  const Source first = builder.convolution("first", builder.input("input", {1, 4, 4, 4}), 4, {same_window(3)});
  builder.output(builder.convolution("second", first, 4, {same_window(3)}));
  const Network network = builder.take();
  EXPECT_EQ(random_weights(network, 0, 1).weight, random_weights(network, 0, 1).weight);
  EXPECT_NE(random_weights(network, 0, 1).weight, random_weights(network, 0, 2).weight);
  EXPECT_NE(random_weights(network, 0, 1).weight, random_weights(network, 1, 1).weight);
}

TEST(RandomWeights, FirstValues_FollowFromTheGenerator) {
  Rng rng(7, 1);
  const double bound = std::sqrt(6.0 / 18.0);
  const std::vector<float> weight = random_weights(small_network(), 0, 7).weight;
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(weight[i], static_cast<float>(bound * (2 * rng.uniform() - 1)));
}

TEST(RandomWeights, KeepTheScaleOfActivations) {
  NetworkBuilder builder;
  builder.convolution("conv", builder.input("input", {1, 64, 8, 8}), 64, {same_window(3)});
  double squares = 0;
  const std::vector<float> weight = random_weights(builder.network(), 0, 1).weight;
  for (const float value : weight) squares += static_cast<double>(value) * value;
  EXPECT_NEAR(squares / static_cast<double>(weight.size()), 2.0 / (64 * 9), 0.02 * 2.0 / (64 * 9));
}

TEST(RandomWeights, BatchNormStatistics_AreNonTrivial) {
  NetworkBuilder builder;
  builder.batch_norm("norm", builder.input("input", {1, 256, 1, 1}));
  const LayerWeights weights = random_weights(builder.network(), 0, 1);
  for (std::size_t c = 0; c < 256; ++c) {
    EXPECT_TRUE(weights.weight[c] >= 0.5F && weights.weight[c] <= 1.5F);
    EXPECT_TRUE(weights.variance[c] >= 0.5F && weights.variance[c] <= 1.5F);
    EXPECT_TRUE(weights.bias[c] != 0.0F && std::abs(weights.bias[c]) <= 0.1F);
    EXPECT_TRUE(weights.mean[c] != 0.0F && std::abs(weights.mean[c]) <= 0.1F);
  }
  EXPECT_NE(weights.weight, weights.variance);
}

TEST(ReferenceInference, PoolDoesNotCountPadding) {
  NetworkBuilder builder;
  builder.output(builder.average_pool("pool", builder.input("input", {1, 1, 2, 2}), {same_window(3)}));
  EXPECT_EQ(reference_inference(builder.network(), {1, 2, 3, 6}, 1), (std::vector<float>{3, 3, 3, 3}));
}

TEST(ReferenceInference, NetworkWithoutNodes_IsTheIdentity) {
  NetworkBuilder builder;
  builder.output(builder.input("input", {1, 1, 1, 3}));
  EXPECT_EQ(reference_inference(builder.network(), {1, -2, 3}, 1), (std::vector<float>{1, -2, 3}));
}

}  // namespace
}  // namespace tenshot::nasbench
