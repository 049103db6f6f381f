#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "nasbench/graph/network_builder.h"
#include "nasbench/spaces/cell.h"
#include "nasbench/spaces/search_space.h"
#include "nasbench/support/error.h"
#include "tests/unit/nasbench/graph/reference_inference.h"

namespace tenshot::nasbench {
namespace {

Architecture uniform_cell(Operation operation) {
  Cell cell;
  cell.fill(operation);
  return architecture_of(cell);
}

LayerGraph network(const std::string& text, const NetworkShape& shape = {}) {
  return nasbench201().network(nasbench201().parse(text), shape);
}

const Layer& layer(const LayerGraph& graph, const std::string& name) {
  const auto found = std::find_if(graph.layers.begin(), graph.layers.end(),
                                  [&](const Layer& candidate) { return candidate.name == name; });
  if (found == graph.layers.end()) throw std::out_of_range("no layer " + name);
  return *found;
}

std::vector<std::string> inputs(const LayerGraph& graph, const std::string& name) {
  std::vector<std::string> names;
  for (const int input : layer(graph, name).inputs) names.push_back(graph.layers[static_cast<std::size_t>(input)].name);
  return names;
}

std::map<LayerKind, int> kinds(const LayerGraph& graph) {
  std::map<LayerKind, int> counts;
  for (const Layer& layer : graph.layers) ++counts[layer.kind];
  return counts;
}

std::vector<LayerKind> kinds_in_order(const LayerGraph& graph) {
  std::vector<LayerKind> result;
  for (const Layer& layer : graph.layers) result.push_back(layer.kind);
  return result;
}

using Names = std::vector<std::string>;

void expect_well_formed(const LayerGraph& graph) {
  std::set<std::string> names;
  std::set<int> used;
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    const Layer& layer = graph.layers[i];
    ASSERT_TRUE(names.insert(layer.name).second) << layer.name << " stands twice";
    ASSERT_TRUE(std::all_of(layer.name.begin(), layer.name.end(), [](unsigned char c) {
      return std::isalnum(c) != 0 || c == '_';
    })) << layer.name;
    const std::size_t expected_inputs = layer.kind == LayerKind::input ? 0 : layer.kind == LayerKind::add ? 2 : 1;
    ASSERT_EQ(layer.inputs.size(), expected_inputs) << layer.name;
    ASSERT_EQ(layer.kind == LayerKind::input, i == 0) << layer.name;
    for (const int input : layer.inputs) {
      ASSERT_GE(input, 0) << layer.name;
      ASSERT_LT(static_cast<std::size_t>(input), i) << layer.name;
      used.insert(input);
      const TensorShape& source = graph.layers[static_cast<std::size_t>(input)].output;
      TensorShape expected = source;
      if (layer.kind == LayerKind::convolution || layer.kind == LayerKind::average_pool) {
        ASSERT_GT(layer.kernel, 0);
        expected.height = (source.height + 2 * layer.padding - layer.kernel) / layer.stride + 1;
        expected.width = (source.width + 2 * layer.padding - layer.kernel) / layer.stride + 1;
      }
      if (layer.kind == LayerKind::convolution) expected.channels = layer.output.channels;
      if (layer.kind == LayerKind::global_average_pool) expected = {source.channels, 1, 1};
      if (layer.kind == LayerKind::linear) expected = {layer.output.channels, 1, 1};
      ASSERT_EQ(layer.output, expected) << layer.name;
    }
    ASSERT_GT(layer.output.channels * layer.output.height * layer.output.width, 0) << layer.name;
  }
}

// The figures NAS-Bench-201 publishes for CIFAR-10 (Dong and Yang, ICLR 2020).
TEST(NasBench201Network, Counts_EqualThePublishedOnes) {
  const NetworkShape shape;
  const LayerGraph nothing = nasbench201().network(uniform_cell(Operation::none), shape);
  EXPECT_EQ(parameter_count(nothing), 73'306);
  EXPECT_EQ(flop_count(nothing), 7'783'050);

  const LayerGraph largest = nasbench201().network(uniform_cell(Operation::nor_conv_3x3), shape);
  EXPECT_EQ(parameter_count(largest), 1'531'546);
  EXPECT_EQ(flop_count(largest), 220'119'690);

  const LayerGraph mixed =
      network("|nor_conv_3x3~0|+|nor_conv_3x3~0|avg_pool_3x3~1|+|skip_connect~0|nor_conv_3x3~1|skip_connect~2|");
  EXPECT_EQ(parameter_count(mixed), 802'426);
  EXPECT_EQ(flop_count(mixed), 113'951'370);
}

TEST(NasBench201Network, FlopCount_EqualsThatOfTheNetwork) {
  Rng rng(1);
  for (const NetworkShape& shape : {NetworkShape{32, 10}, NetworkShape{16, 120}, NetworkShape{224, 1000}}) {
    for (int i = 0; i < 100; ++i) {
      const Architecture architecture = nasbench201().random(rng);
      ASSERT_EQ(nasbench201().flop_count(architecture, shape), flop_count(nasbench201().network(architecture, shape)));
    }
  }
}

TEST(NasBench201Network, LargestShape_StaysWithinSixtyFourBits) {
  const std::int64_t flops = nasbench201().flop_count(uniform_cell(Operation::nor_conv_3x3), {16'384, 1'000'000});
  const std::int64_t classifier = 65 * 1'000'000LL;
  EXPECT_EQ(flops, (220'119'690LL - 650) * 512 * 512 + classifier);
}

TEST(NasBench201Network, StemResidualBlocksAndHead) {
  const LayerGraph graph = nasbench201().network(uniform_cell(Operation::none), {32, 10});
  EXPECT_EQ(graph.input_shape(), (TensorShape{3, 32, 32}));
  EXPECT_EQ(inputs(graph, "stem_conv"), Names{"input"});
  EXPECT_EQ(layer(graph, "stem_norm").output, (TensorShape{16, 32, 32}));
  EXPECT_EQ(inputs(graph, "cell0_edge0_zero"), Names{"stem_norm"});

  EXPECT_EQ(inputs(graph, "residual1_a_relu"), Names{"cell4_node3_add2"});
  EXPECT_EQ(inputs(graph, "residual1_a_conv"), Names{"residual1_a_relu"});
  EXPECT_EQ(layer(graph, "residual1_a_conv").stride, 2);
  EXPECT_EQ(inputs(graph, "residual1_b_relu"), Names{"residual1_a_norm"});
  EXPECT_EQ(layer(graph, "residual1_b_conv").stride, 1);
  EXPECT_EQ(inputs(graph, "residual1_shortcut_pool"), Names{"cell4_node3_add2"});
  EXPECT_EQ(layer(graph, "residual1_shortcut_pool").kernel, 2);
  EXPECT_EQ(layer(graph, "residual1_shortcut_pool").padding, 0);
  EXPECT_EQ(layer(graph, "residual1_shortcut_conv").kernel, 1);
  EXPECT_EQ(inputs(graph, "residual1_add"), (Names{"residual1_shortcut_conv", "residual1_b_norm"}));
  EXPECT_EQ(layer(graph, "residual1_add").output, (TensorShape{32, 16, 16}));
  EXPECT_EQ(layer(graph, "residual2_add").output, (TensorShape{64, 8, 8}));

  EXPECT_EQ(inputs(graph, "head_norm"), Names{"cell14_node3_add2"});
  EXPECT_EQ(inputs(graph, "head_linear"), Names{"head_pool"});
  EXPECT_EQ(layer(graph, "head_pool").output, (TensorShape{64, 1, 1}));
  EXPECT_EQ(graph.output().name, "head_linear");
  EXPECT_EQ(graph.output().output, (TensorShape{10, 1, 1}));
}

TEST(NasBench201Network, Cell_AddsItsEdgesInOrderAndKeepsNone) {
  const LayerGraph graph =
      network("|nor_conv_3x3~0|+|none~0|avg_pool_3x3~1|+|skip_connect~0|nor_conv_1x1~1|skip_connect~2|");
  EXPECT_EQ(inputs(graph, "cell0_edge0_relu"), Names{"stem_norm"});
  EXPECT_EQ(inputs(graph, "cell0_edge0_conv"), Names{"cell0_edge0_relu"});
  EXPECT_EQ(inputs(graph, "cell0_edge0_norm"), Names{"cell0_edge0_conv"});
  EXPECT_EQ(inputs(graph, "cell0_edge1_zero"), Names{"stem_norm"});
  EXPECT_EQ(inputs(graph, "cell0_edge2_pool"), Names{"cell0_edge0_norm"});
  EXPECT_EQ(inputs(graph, "cell0_node2_add1"), (Names{"cell0_edge1_zero", "cell0_edge2_pool"}));
  EXPECT_EQ(inputs(graph, "cell0_edge4_relu"), Names{"cell0_edge0_norm"});
  EXPECT_EQ(inputs(graph, "cell0_node3_add1"), (Names{"stem_norm", "cell0_edge4_norm"}));
  EXPECT_EQ(inputs(graph, "cell0_node3_add2"), (Names{"cell0_node3_add1", "cell0_node2_add1"}));
  EXPECT_EQ(inputs(graph, "cell1_edge0_relu"), Names{"cell0_node3_add2"});
}

TEST(NasBench201Network, LayersOfEachKind_FollowFromTheOperations) {
  Rng rng(2);
  for (int i = 0; i < 50; ++i) {
    const Architecture architecture = nasbench201().random(rng);
    const Cell cell = cell_of(architecture);
    const auto count = [&](Operation o) { return 15 * static_cast<int>(std::count(cell.begin(), cell.end(), o)); };
    const int convolutions = count(Operation::nor_conv_1x1) + count(Operation::nor_conv_3x3);
    auto layers = kinds(nasbench201().network(architecture, {}));
    EXPECT_EQ(layers[LayerKind::zero], count(Operation::none));
    EXPECT_EQ(layers[LayerKind::average_pool], count(Operation::avg_pool_3x3) + 2);
    EXPECT_EQ(layers[LayerKind::convolution], convolutions + 1 + 2 * 3);
    EXPECT_EQ(layers[LayerKind::relu], convolutions + 2 * 2 + 1);
    EXPECT_EQ(layers[LayerKind::batch_norm], convolutions + 1 + 2 * 2 + 1);
    EXPECT_EQ(layers[LayerKind::add], 15 * 3 + 2);
  }
}

TEST(NasBench201Network, RandomArchitectures_AreWellFormed) {
  Rng rng(3);
  for (int i = 0; i < 200; ++i) {
    const NetworkShape shape = {4 * static_cast<int>(1 + rng.below(16)), static_cast<int>(1 + rng.below(200))};
    const LayerGraph graph = nasbench201().network(nasbench201().random(rng), shape);
    expect_well_formed(graph);
    EXPECT_EQ(graph.input_shape(), (TensorShape{3, shape.resolution, shape.resolution}));
    EXPECT_EQ(graph.output().output, (TensorShape{shape.classes, 1, 1}));
  }
}

TEST(NasBench201Network, ImpossibleShape_IsRefused) {
  for (const NetworkShape& shape :
       {NetworkShape{0, 10}, {2, 10}, {-4, 10}, {30, 10}, {33, 10}, {32, 0}, {32, -1}, {16'388, 10}, {32, 1'000'001}}) {
    EXPECT_THROW(nasbench201().network(Architecture(6), shape), InputError) << shape.resolution << ' ' << shape.classes;
    EXPECT_THROW(nasbench201().flop_count(Architecture(6), shape), InputError);
    EXPECT_THROW(nasbench201().operators(shape), InputError);
  }
  EXPECT_NO_THROW(nasbench201().network(Architecture(6), {4, 1}));
}

TEST(NasBench201Operators, AreFiveOperationsAtThreeStages) {
  const std::vector<Operator> operators = nasbench201().operators({64, 10});
  ASSERT_EQ(operators.size(), 15U);
  for (std::size_t i = 0; i < 15; ++i) {
    const int stage = static_cast<int>(i % 3);
    EXPECT_EQ(operators[i].name, operation_names[i / 3]);
    EXPECT_EQ(operators[i].key.channels(), 16 << stage);
    EXPECT_EQ(operators[i].key.resolution(), 64 >> stage);
    const TensorShape shape = {operators[i].key.channels(), operators[i].key.resolution(),
                               operators[i].key.resolution()};
    EXPECT_EQ(operators[i].graph.input_shape(), shape);
    EXPECT_EQ(operators[i].graph.output().output, shape);
    expect_well_formed(operators[i].graph);
  }
}

TEST(NasBench201Operators, HaveTheLayersOfTheirOperation) {
  const std::vector<Operator> operators = nasbench201().operators({});
  const auto kinds_of = [&](std::size_t index) {
    std::vector<LayerKind> kinds;
    for (const Layer& layer : operators[index].graph.layers) kinds.push_back(layer.kind);
    return kinds;
  };
  using Kinds = std::vector<LayerKind>;
  EXPECT_EQ(kinds_of(0), (Kinds{LayerKind::input, LayerKind::zero}));
  EXPECT_EQ(kinds_of(3), Kinds{LayerKind::input});
  EXPECT_EQ(kinds_of(6), (Kinds{LayerKind::input, LayerKind::relu, LayerKind::convolution, LayerKind::batch_norm}));
  EXPECT_EQ(kinds_of(9), (Kinds{LayerKind::input, LayerKind::relu, LayerKind::convolution, LayerKind::batch_norm}));
  EXPECT_EQ(kinds_of(12), (Kinds{LayerKind::input, LayerKind::average_pool}));
  EXPECT_EQ(operators[8].graph.layers[2].kernel, 1);
  EXPECT_EQ(operators[11].graph.layers[2].kernel, 3);
}

/// An 8×8 image of independent normal values.
std::vector<float> image(std::uint64_t seed) {
  Rng rng(seed);
  std::vector<float> values(3 * 8 * 8);
  for (float& value : values) value = static_cast<float>(rng.normal());
  return values;
}

std::vector<Architecture> sample_with_extremes(std::uint64_t seed, int count) {
  std::vector<Architecture> architectures;
  for (std::size_t o = 0; o < operation_count; ++o) {
    architectures.push_back(uniform_cell(static_cast<Operation>(o)));
  }
  Rng rng(seed);
  for (int i = 0; i < count; ++i) architectures.push_back(nasbench201().random(rng));
  return architectures;
}

TEST(NasBench201Operators, WithTheBackbone_AddUpToTheNetwork) {
  const NetworkShape shape;
  const std::vector<Operator> operators = nasbench201().operators(shape);
  const std::int64_t backbone = nasbench201().flop_count(uniform_cell(Operation::none), shape);
  for (const Architecture& architecture : sample_with_extremes(6, 30)) {
    const std::vector<double> occurrences = nasbench201().operator_occurrences(architecture);
    ASSERT_EQ(occurrences.size(), operators.size());
    double sum = static_cast<double>(backbone), all = 0;
    for (std::size_t o = 0; o < operators.size(); ++o) {
      sum += occurrences[o] * static_cast<double>(flop_count(operators[o].graph));
      all += occurrences[o];
    }
    EXPECT_EQ(sum, static_cast<double>(nasbench201().flop_count(architecture, shape)));
    EXPECT_EQ(all, 15.0 * static_cast<double>(edge_count));
  }
}

TEST(NasBench201Chains, AreOfEveryOperationThatCosts_AtEveryStage) {
  const std::vector<OperationChain> chains = nasbench201().operation_chains({64, 10});
  const Names operations = {"nor_conv_1x1", "nor_conv_3x3", "avg_pool_3x3", "add", "relu", "multiply"};
  ASSERT_EQ(chains.size(), 3 * operations.size());
  for (std::size_t i = 0; i < chains.size(); ++i) {
    const int channels = 16 << (i % 3), resolution = 64 >> (i % 3);
    EXPECT_EQ(chains[i].name, operations[i / 3]);
    EXPECT_EQ(chains[i].key.channels(), channels);
    EXPECT_EQ(chains[i].key.resolution(), resolution);
    EXPECT_EQ(chains[i].repeats, 8);
    for (const LayerGraph* graph : {&chains[i].graph, &chains[i].surroundings}) {
      expect_well_formed(*graph);
      for (const Layer& layer : graph->layers) {
        EXPECT_EQ(layer.output, (TensorShape{channels, resolution, resolution})) << layer.name;
      }
    }
  }
}

TEST(NasBench201Chains, HoldNothingButTheirRepeatsBetweenTheSurroundings) {
  const std::map<std::string, std::vector<LayerKind>> instance = {
      {"nor_conv_1x1", {LayerKind::relu, LayerKind::convolution, LayerKind::batch_norm}},
      {"nor_conv_3x3", {LayerKind::relu, LayerKind::convolution, LayerKind::batch_norm}},
      {"avg_pool_3x3", {LayerKind::average_pool}},
      {"add", {LayerKind::add}},
      {"relu", {LayerKind::relu}},
      {"multiply", {LayerKind::zero}}};
  const std::vector<LayerKind> block = {LayerKind::relu, LayerKind::convolution, LayerKind::batch_norm};
  for (const OperationChain& chain : nasbench201().operation_chains({})) {
    std::vector<LayerKind> expected = {LayerKind::input};
    expected.insert(expected.end(), block.begin(), block.end());
    for (int i = 0; i < chain.repeats; ++i) {
      expected.insert(expected.end(), instance.at(chain.name).begin(), instance.at(chain.name).end());
    }
    expected.insert(expected.end(), block.begin(), block.end());
    EXPECT_EQ(kinds_in_order(chain.graph), expected) << chain.name;
    std::vector<LayerKind> around = {LayerKind::input};
    for (int i = 0; i < 2; ++i) around.insert(around.end(), block.begin(), block.end());
    EXPECT_EQ(kinds_in_order(chain.surroundings), around) << chain.name;
  }
}

TEST(NasBench201Chains, ComputeWhatTheOperatorsOfTheirNameDo) {
  const NetworkShape shape;
  std::map<std::pair<std::string, int>, std::int64_t> flops;
  for (const Operator& op : nasbench201().operators(shape)) flops[{op.name, op.key.channels()}] = flop_count(op.graph);
  for (const OperationChain& chain : nasbench201().operation_chains(shape)) {
    const std::int64_t added = flop_count(chain.graph) - flop_count(chain.surroundings);
    EXPECT_EQ(added, chain.repeats * flops[std::pair(chain.name, chain.key.channels())])
        << chain.name << chain.key.channels();
  }
}

TEST(NasBench201Chains, OfAShapeThatCannotBe_AreRefused) {
  EXPECT_THROW(nasbench201().operation_chains({30, 10}), InputError);
}

TEST(NasBench201Function, Outputs_AreFinite) {
  for (const Architecture& architecture : sample_with_extremes(4, 20)) {
    const LayerGraph graph = nasbench201().network(architecture, {8, 10});
    for (const float value : reference_inference(graph, image(1), 1)) {
      ASSERT_TRUE(std::isfinite(value)) << nasbench201().format(architecture);
    }
  }
}

TEST(NasBench201Function, DependsOnTheImage_ExactlyWhenConnected) {
  int disconnected = 0;
  std::vector<Architecture> architectures = sample_with_extremes(5, 20);
  for (const char* text : {"|nor_conv_3x3~0|+|none~0|none~1|+|none~0|none~1|nor_conv_3x3~2|",
                           "|none~0|+|none~0|nor_conv_1x1~1|+|none~0|avg_pool_3x3~1|nor_conv_3x3~2|",
                           "|nor_conv_3x3~0|+|skip_connect~0|avg_pool_3x3~1|+|none~0|none~1|none~2|"}) {
    architectures.push_back(nasbench201().parse(text));
  }
  for (const Architecture& architecture : architectures) {
    const LayerGraph graph = nasbench201().network(architecture, {8, 10});
    const bool depends = reference_inference(graph, image(1), 1) != reference_inference(graph, image(2), 1);
    EXPECT_EQ(depends, nasbench201().connected(architecture)) << nasbench201().format(architecture);
    disconnected += depends ? 0 : 1;
  }
  EXPECT_GE(disconnected, 4);
}

/// The operators of a graph for one image, in their order.
std::vector<OperatorSpecification> specifications_of(const LayerGraph& graph) {
  std::vector<OperatorSpecification> specifications;
  for (const NetworkNode& node : network_of(graph, 1).nodes) specifications.push_back(node.operation);
  return specifications;
}

TEST(NasBench201Operators, AreKeyedByWhatTheirGraphsExecute) {
  for (const Operator& op : nasbench201().operators({64, 10})) {
    EXPECT_EQ(op.key.operators, specifications_of(op.graph)) << op.name;
    EXPECT_EQ(op.key.is_empty_call(), op.name == "skip_connect");
    EXPECT_EQ(op.key.channels(), op.graph.input_shape().channels);
    EXPECT_EQ(op.key.resolution(), op.graph.input_shape().height);
  }
}

TEST(NasBench201Chains, AreKeyedByWhatOneInstanceAddsToTheGraph) {
  const auto count = [](const std::vector<OperatorSpecification>& all, const OperatorSpecification& wanted) {
    return std::count(all.begin(), all.end(), wanted);
  };
  for (const OperationChain& chain : nasbench201().operation_chains({})) {
    const auto whole = specifications_of(chain.graph), around = specifications_of(chain.surroundings);
    EXPECT_EQ(whole.size(), around.size() + static_cast<std::size_t>(chain.repeats) * chain.key.operators.size());
    for (const OperatorSpecification& op : chain.key.operators) {
      EXPECT_EQ(count(whole, op), count(around, op) + chain.repeats) << chain.name << ' ' << format(op);
    }
  }
}

TEST(OperatorSequence, IsTheSameAtAnotherResolutionOnly) {
  const OperatorSequence key = *nasbench201().named_operation("nor_conv_3x3", 16, 32);
  EXPECT_TRUE(same_at_any_resolution(key, *nasbench201().named_operation("nor_conv_3x3", 16, 8)));
  EXPECT_FALSE(same_at_any_resolution(key, *nasbench201().named_operation("nor_conv_3x3", 32, 32)));
  EXPECT_FALSE(same_at_any_resolution(key, *nasbench201().named_operation("nor_conv_1x1", 16, 32)));
  EXPECT_EQ(format(key, true), format(*nasbench201().named_operation("nor_conv_3x3", 16, 8), true));
  EXPECT_NE(format(key), format(*nasbench201().named_operation("nor_conv_3x3", 16, 8)));
  EXPECT_FALSE(nasbench201().named_operation("nor_conv_5x5", 16, 32));
  EXPECT_FALSE(nasbench201().named_operation("relu", 0, 32));
}

}  // namespace
}  // namespace tenshot::nasbench
