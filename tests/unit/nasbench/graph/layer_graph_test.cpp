#include "nasbench/graph/layer_graph.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "nasbench/graph/layer_graph_builder.h"
#include "nasbench/support/error.h"
#include "nasbench/support/random.h"
#include "tests/unit/nasbench/graph/reference_inference.h"

namespace tenshot::nasbench {
namespace {

/// 2×6×6 → convolution 3×3, stride 2 → 4×3×3 → batch norm → pool → linear to 5.
LayerGraph small_graph() {
  LayerGraphBuilder builder({2, 6, 6});
  const int conv = builder.convolution("conv", builder.input(), 4, {3, 2, 1});
  const int norm = builder.batch_norm("norm", conv);
  const int pool = builder.global_average_pool("pool", norm);
  builder.linear("linear", pool, 5);
  return builder.take();
}

TEST(LayerGraphBuilder, WorksOutShapes) {
  const LayerGraph graph = small_graph();
  ASSERT_EQ(graph.layers.size(), 5U);
  EXPECT_EQ(graph.input_shape(), (TensorShape{2, 6, 6}));
  EXPECT_EQ(graph.layers[1].output, (TensorShape{4, 3, 3}));
  EXPECT_EQ(graph.layers[2].output, (TensorShape{4, 3, 3}));
  EXPECT_EQ(graph.layers[3].output, (TensorShape{4, 1, 1}));
  EXPECT_EQ(graph.output().output, (TensorShape{5, 1, 1}));
  EXPECT_EQ(graph.output().inputs, std::vector<int>{3});
}

TEST(LayerGraphBuilder, WindowLargerThanItsInput_IsRefused) {
  LayerGraphBuilder builder({2, 2, 2});
  EXPECT_THROW(builder.convolution("conv", builder.input(), 4, {5, 1, 1}), InputError);
  EXPECT_THROW(builder.average_pool("pool", builder.input(), {3, 1, 0}), InputError);
  EXPECT_EQ(builder.graph().layers.size(), 1U);
}

TEST(LayerGraphBuilder, SumOfUnlikeShapes_IsRefused) {
  LayerGraphBuilder builder({2, 4, 4});
  const int wide = builder.convolution("conv", builder.input(), 4, {1, 1, 0});
  EXPECT_THROW(builder.add("add", builder.input(), wide), InputError);
}

TEST(LayerGraph, Counts_AreThoseComputedByHand) {
  const LayerGraph graph = small_graph();
  EXPECT_EQ(parameter_count(graph), 4 * 2 * 9 + 2 * 4 + 4 * 5 + 5);
  EXPECT_EQ(flop_count(graph), 4 * 2 * 9 * 9 + 4 * 5 + 5);
}

TEST(LayerGraph, KindNames_AreDistinct) {
  std::set<std::string_view> names;
  for (int kind = 0; kind <= static_cast<int>(LayerKind::linear); ++kind) {
    names.insert(name(static_cast<LayerKind>(kind)));
  }
  EXPECT_EQ(names.size(), 9U);
  EXPECT_EQ(names.count("average_pool"), 1U);
}

TEST(RandomWeights, HaveTheSizesOfTheirLayers) {
  const LayerGraph graph = small_graph();
  const LayerWeights conv = random_weights(graph, 1, 1);
  EXPECT_EQ(conv.weight.size(), 4U * 2 * 9);
  EXPECT_TRUE(conv.bias.empty() && conv.mean.empty() && conv.variance.empty());
  const LayerWeights norm = random_weights(graph, 2, 1);
  EXPECT_EQ(norm.weight.size(), 4U);
  EXPECT_EQ(norm.bias.size(), 4U);
  EXPECT_EQ(norm.mean.size(), 4U);
  EXPECT_EQ(norm.variance.size(), 4U);
  const LayerWeights linear = random_weights(graph, 4, 1);
  EXPECT_EQ(linear.weight.size(), 20U);
  EXPECT_EQ(linear.bias.size(), 5U);
  for (const std::size_t index : {0U, 3U}) {
    const LayerWeights weights = random_weights(graph, index, 1);
    EXPECT_TRUE(weights.weight.empty() && weights.bias.empty() && weights.mean.empty() && weights.variance.empty());
  }
  EXPECT_THROW(random_weights(graph, 5, 1), InputError);
}

TEST(RandomWeights, RepeatWithSeedAndLayerAndDifferOtherwise) {
  LayerGraphBuilder builder({4, 4, 4});
  const int first = builder.convolution("first", builder.input(), 4, {3, 1, 1});
  builder.convolution("second", first, 4, {3, 1, 1});
  const LayerGraph graph = builder.take();
  EXPECT_EQ(random_weights(graph, 1, 1).weight, random_weights(graph, 1, 1).weight);
  EXPECT_NE(random_weights(graph, 1, 1).weight, random_weights(graph, 1, 2).weight);
  EXPECT_NE(random_weights(graph, 1, 1).weight, random_weights(graph, 2, 1).weight);
}

TEST(RandomWeights, FirstValues_FollowFromTheGenerator) {
  const LayerGraph graph = small_graph();
  Rng rng(7, 1);
  const double bound = std::sqrt(6.0 / 18.0);
  const std::vector<float> weight = random_weights(graph, 1, 7).weight;
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(weight[i], static_cast<float>(bound * (2 * rng.uniform() - 1)));
}

TEST(RandomWeights, KeepTheScaleOfActivations) {
  LayerGraphBuilder builder({64, 8, 8});
  builder.convolution("conv", builder.input(), 64, {3, 1, 1});
  double squares = 0;
  const std::vector<float> weight = random_weights(builder.graph(), 1, 1).weight;
  for (const float value : weight) squares += static_cast<double>(value) * value;
  EXPECT_NEAR(squares / static_cast<double>(weight.size()), 2.0 / (64 * 9), 0.02 * 2.0 / (64 * 9));
}

TEST(RandomWeights, BatchNormStatistics_AreNonTrivial) {
  LayerGraphBuilder builder({256, 1, 1});
  builder.batch_norm("norm", builder.input());
  const LayerWeights weights = random_weights(builder.graph(), 1, 1);
  for (std::size_t c = 0; c < 256; ++c) {
    EXPECT_TRUE(weights.weight[c] >= 0.5F && weights.weight[c] <= 1.5F);
    EXPECT_TRUE(weights.variance[c] >= 0.5F && weights.variance[c] <= 1.5F);
    EXPECT_TRUE(weights.bias[c] != 0.0F && std::abs(weights.bias[c]) <= 0.1F);
    EXPECT_TRUE(weights.mean[c] != 0.0F && std::abs(weights.mean[c]) <= 0.1F);
  }
  EXPECT_NE(weights.weight, weights.variance);
}

TEST(ReferenceInference, PoolDoesNotCountPadding) {
  LayerGraphBuilder builder({1, 2, 2});
  builder.average_pool("pool", builder.input(), {3, 1, 1});
  EXPECT_EQ(reference_inference(builder.graph(), {1, 2, 3, 6}, 1), (std::vector<float>{3, 3, 3, 3}));
}

TEST(ReferenceInference, GraphOfItsInputAlone_IsTheIdentity) {
  const LayerGraphBuilder builder({1, 1, 3});
  EXPECT_EQ(reference_inference(builder.graph(), {1, -2, 3}, 1), (std::vector<float>{1, -2, 3}));
}

}  // namespace
}  // namespace tenshot::nasbench
