#include "nasbench/graph/network.h"

#include <gtest/gtest.h>

#include <vector>

#include "nasbench/graph/network_builder.h"
#include "nasbench/graph/network_weights.h"
#include "nasbench/support/error.h"

namespace tenshot::nasbench {
namespace {

/// 8×8 image → depthwise 3×3, stride 2 → pointwise to 6 → global pool → linear to 5.
Network separable(const char* prefix = "") {
  const std::string p = prefix;
  NetworkBuilder builder;
  const Source image = builder.input("input", {2, 4, 8, 8});
  const Source depthwise = builder.convolution(p + "depthwise", image, 4, {same_window(3, 2), 4, false});
  const Source pointwise = builder.convolution(p + "pointwise", depthwise, 6, {{}, 1, true});
  const Source pool = builder.global_average_pool(p + "pool", builder.activation(p + "relu", pointwise, "relu"));
  builder.output(builder.linear(p + "head", pool, 5));
  return builder.take();
}

TEST(NetworkBuilder, WorksOutShapes) {
  const Network network = separable();
  ASSERT_EQ(network.nodes.size(), 5U);
  EXPECT_EQ(network.nodes[0].operation.output, (Shape{2, 4, 4, 4}));
  EXPECT_EQ(network.nodes[1].operation.output, (Shape{2, 6, 4, 4}));
  EXPECT_EQ(network.nodes[3].operation.output, (Shape{2, 6}));
  EXPECT_EQ(network.nodes[4].operation.output, (Shape{2, 5}));
  EXPECT_NO_THROW(require_sound(network));
}

TEST(NetworkBuilder, GivesANameThatIsTakenANumber) {
  NetworkBuilder builder;
  const Source image = builder.input("input", {1, 2, 4, 4});
  builder.activation("relu", builder.activation("relu", image, "relu"), "relu");
  EXPECT_EQ(builder.network().nodes[0].name, "relu");
  EXPECT_EQ(builder.network().nodes[1].name, "relu_2");
}

TEST(NetworkBuilder, RefusesShapesThatDoNotFit) {
  NetworkBuilder builder;
  const Source image = builder.input("input", {1, 6, 4, 4}), other = builder.input("other", {1, 6, 5, 4});
  EXPECT_THROW(builder.convolution("c", image, 8, {same_window(3), 4, false}), InputError);  // 4 does not divide 6
  EXPECT_THROW(builder.convolution("c", image, 8, {{{7, 7}, {}, {}, {}}}), InputError);
  EXPECT_THROW(builder.add("a", image, other), InputError);
  EXPECT_THROW(builder.concatenate("c", {image, other}), InputError);
  EXPECT_THROW(builder.split("s", image, {2, 3}), InputError);
  EXPECT_THROW(builder.reshape("r", image, {1, 97}), InputError);
  EXPECT_THROW(builder.transpose("t", image, {0, 1, 2, 2}), InputError);
  EXPECT_THROW(builder.matrix_product("m", image, other), InputError);
  EXPECT_THROW(builder.softmax("s", image, 4), InputError);
  EXPECT_TRUE(builder.network().nodes.empty());
}

TEST(NetworkBuilder, ShapesOfEveryKind) {
  NetworkBuilder builder;
  const Source image = builder.input("input", {1, 8, 7, 9});
  const auto shape = [&](const Source& source) { return builder.type(source).shape; };
  PoolOptions pool;
  pool.window = {{3, 3}, {2, 2}, {}, {}};
  EXPECT_EQ(shape(builder.max_pool("floor", image, pool)), (Shape{1, 8, 3, 4}));
  pool.window.kernel = {2, 2};
  EXPECT_EQ(shape(builder.average_pool("even", image, pool)), (Shape{1, 8, 3, 4}));
  pool.ceil_mode = true;
  EXPECT_EQ(shape(builder.average_pool("ceil", image, pool)), (Shape{1, 8, 4, 5}));
  ConvolutionOptions up;
  up.window = {{4, 4}, {2, 2}, {1, 1, 1, 1}, {}};
  EXPECT_EQ(shape(builder.transposed_convolution("up", image, 3, up)), (Shape{1, 3, 14, 18}));
  ConvolutionOptions dilated;
  dilated.window = {{3, 1}, {1, 1}, {}, {2, 1}};
  EXPECT_EQ(shape(builder.convolution("dilated", image, 2, dilated)), (Shape{1, 2, 3, 9}));
  const std::vector<Source> parts = builder.split("split", image, {2, 6});
  EXPECT_EQ(shape(parts[1]), (Shape{1, 6, 7, 9}));
  EXPECT_EQ(shape(builder.concatenate("concatenate", {parts[1], parts[0], parts[0]})), (Shape{1, 10, 7, 9}));
  EXPECT_EQ(shape(builder.transpose("transpose", image, {0, 2, 3, 1})), (Shape{1, 7, 9, 8}));
  EXPECT_EQ(shape(builder.global_average_pool("kept", image, true)), (Shape{1, 8, 1, 1}));
  const Source gate = builder.global_average_pool("gate", image, true);
  EXPECT_EQ(shape(builder.multiply("scaled", gate, image)), (Shape{1, 8, 7, 9}));
  const Source tokens = builder.reshape("tokens", image, {1, 8, 63});
  EXPECT_EQ(shape(builder.matrix_product("product", tokens, builder.transpose("t", tokens, {0, 2, 1}))),
            (Shape{1, 8, 8}));
  EXPECT_NO_THROW(require_sound(builder.network()));
}

TEST(WindowPositions, CeilModeNeedsTheLastWindowToBeginWithinTheImage) {
  EXPECT_EQ(window_positions(7, {2, 2, 1, 0, 0}, false), 3);
  EXPECT_EQ(window_positions(7, {2, 2, 1, 0, 0}, true), 4);
  EXPECT_EQ(window_positions(5, {1, 3, 1, 1, 1}, false), 3);
  EXPECT_EQ(window_positions(4, {1, 3, 1, 1, 1}, true), 2);  // a third window would begin in the zeros behind
  EXPECT_EQ(window_positions(2, {3, 1, 1, 0, 0}, true), 0);
}

TEST(BroadcastShape, AlignsAtTheRight) {
  EXPECT_EQ(broadcast_shape({2, 3, 4}, {3, 1}), (Shape{2, 3, 4}));
  EXPECT_EQ(broadcast_shape({4}, {2, 1}), (Shape{2, 4}));
  EXPECT_THROW(broadcast_shape({3}, {2}), InputError);
}

TEST(Network, Counts_AreThoseComputedByHand) {
  const Network network = separable();
  EXPECT_EQ(parameter_count(network), 4 * 9 + (4 * 6 + 6) + (6 * 5 + 5));
  EXPECT_EQ(multiply_adds(network), 2 * (4 * 16 * 9 + 6 * 16 * 4 + 5 * 6));
  EXPECT_EQ(weight_bytes(network), 4 * parameter_count(network));
}

TEST(Network, TrainedConstantsAreParameters) {
  OperatorSpecification embedding;
  embedding.kind = OperatorKind::add;
  embedding.inputs = {{1, 197, 192}};
  embedding.output = {1, 197, 192};
  embedding.constants = {{1, 197, 192}};
  EXPECT_EQ(parameter_count(embedding), 197 * 192);
  EXPECT_NE(format(embedding).find("constant 1x197x192"), std::string::npos);
}

TEST(ContentHash, IsTheSameWhateverNodesAreCalled) {
  EXPECT_EQ(content_hash(separable()), content_hash(separable("other_")));
  EXPECT_EQ(content_hash(separable()).size(), 64U);
}

TEST(ContentHash, IsTheSameInEveryOrderOfExecution) {
  const auto branches = [](bool swapped) {
    NetworkBuilder builder;
    const Source image = builder.input("input", {1, 4, 8, 8});
    const auto narrow = [&] { return builder.convolution("narrow", image, 4, {same_window(1)}); };
    const auto wide = [&] { return builder.convolution("wide", image, 4, {same_window(5)}); };
    Source a, b;
    if (swapped) {
      b = wide();
      a = narrow();
    } else {
      a = narrow();
      b = wide();
    }
    builder.output(builder.add("sum", a, b));
    return content_hash(builder.network());
  };
  EXPECT_EQ(branches(false), branches(true));
}

TEST(ContentHash, ChangesWithEveryPropertyOfANode) {
  const Network network = separable();
  const std::string hash = content_hash(network);
  const auto differs = [&](auto change) {
    Network changed = network;
    change(changed);
    EXPECT_NE(content_hash(changed), hash);
  };
  differs([](Network& n) { n.nodes[0].attributes.padding.right = 0; });
  differs([](Network& n) { n.nodes[0].operation.groups = 2; });
  differs([](Network& n) { n.nodes[1].operation.bias = false; });
  differs([](Network& n) { n.nodes[2].operation.name = "silu"; });
  differs([](Network& n) { n.nodes[4].operation.type = ElementType::float16; });
  differs([](Network& n) { n.nodes[3].inputs[0].node = 1; });
  differs([](Network& n) { n.outputs[0].node = 3; });
  differs([](Network& n) { n.inputs[0].type.shape[0] = 1; });
}

TEST(ContentHash, TellsASharedNodeFromTwoEqualOnes) {
  const auto sum = [](bool shared) {
    NetworkBuilder builder;
    const Source image = builder.input("input", {1, 4, 8, 8});
    const Source a = builder.convolution("a", image, 4, {});
    builder.output(builder.add("sum", a, shared ? a : builder.convolution("b", image, 4, {})));
    return content_hash(builder.network());
  };
  EXPECT_NE(sum(true), sum(false));
}

TEST(RequireSound, NamesTheNode) {
  Network network = separable();
  network.nodes[1].inputs[0].node = 4;
  try {
    require_sound(network);
    FAIL() << "a node that reads a later one is no network";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("'pointwise'"), std::string::npos) << error.what();
  }
}

TEST(RandomWeightsOfNetworks, HaveTheShapesOfTheirNodes) {
  NetworkBuilder builder;
  const Source image = builder.input("input", {1, 8, 5, 5});
  ConvolutionOptions options;
  options.groups = 2;
  options.bias = true;
  options.window = same_window(3);
  builder.convolution("convolution", image, 6, options);
  builder.transposed_convolution("transposed", image, 6, options);
  const Network& network = builder.network();
  EXPECT_EQ(weight_shapes(network.nodes[0]).weight, (Shape{6, 4, 3, 3}));
  EXPECT_EQ(weight_shapes(network.nodes[1]).weight, (Shape{8, 3, 3, 3}));
  EXPECT_EQ(random_weights(network, 0, 1).weight.size(), 6U * 4 * 9);
  EXPECT_EQ(random_weights(network, 1, 1).bias.size(), 6U);
  EXPECT_EQ(parameter_count(network.nodes[1].operation), 8 * 3 * 9 + 6);
  EXPECT_THROW(random_weights(network, 2, 1), InputError);
}

}  // namespace
}  // namespace tenshot::nasbench
