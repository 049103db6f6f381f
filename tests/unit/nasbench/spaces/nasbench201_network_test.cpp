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

Network network(const Architecture& architecture, const NetworkShape& shape = {}) {
  return nasbench201().computation(architecture, shape, 1);
}

Network network(const std::string& text) { return network(nasbench201().parse(text)); }

const NetworkNode& node(const Network& network, const std::string& name) {
  const auto found = std::find_if(network.nodes.begin(), network.nodes.end(),
                                  [&](const NetworkNode& candidate) { return candidate.name == name; });
  if (found == network.nodes.end()) throw std::out_of_range("no node " + name);
  return *found;
}

const Shape& output(const Network& network, const std::string& name) { return node(network, name).operation.output; }

using Names = std::vector<std::string>;

Names inputs(const Network& network, const std::string& name) {
  Names names;
  for (const Source& source : node(network, name).inputs) {
    names.push_back(source.node < 0 ? "input" : network.nodes[static_cast<std::size_t>(source.node)].name);
  }
  return names;
}

using Kinds = std::vector<OperatorKind>;

Kinds kinds_in_order(const Network& network) {
  Kinds kinds;
  for (const NetworkNode& node : network.nodes) kinds.push_back(node.operation.kind);
  return kinds;
}

void expect_well_formed(const Network& network) {
  ASSERT_NO_THROW(require_sound(network));
  ASSERT_EQ(network.inputs.size(), 1U);
  ASSERT_EQ(network.outputs.size(), 1U);
  EXPECT_EQ(network.outputs[0].node, static_cast<int>(network.nodes.size()) - 1);
  std::set<std::string> names;
  for (const NetworkNode& node : network.nodes) {
    ASSERT_TRUE(names.insert(node.name).second) << node.name << " stands twice";
    ASSERT_TRUE(std::all_of(node.name.begin(), node.name.end(), [](unsigned char c) {
      return std::isalnum(c) != 0 || c == '_';
    })) << node.name;
    const OperatorSpecification& op = node.operation;
    ASSERT_EQ(op.inputs.size(), op.kind == OperatorKind::add ? 2U : 1U) << node.name;
    Shape expected = op.inputs[0];
    if (op.kind == OperatorKind::convolution || op.kind == OperatorKind::average_pool) {
      ASSERT_GT(op.kernel.height, 0) << node.name;
      expected[2] = (expected[2] + 2 * node.attributes.padding.top - op.kernel.height) / op.stride.height + 1;
      expected[3] = (expected[3] + 2 * node.attributes.padding.left - op.kernel.width) / op.stride.width + 1;
    }
    if (op.kind == OperatorKind::convolution) expected[1] = op.output[1];
    if (op.kind == OperatorKind::global_pool) expected = {expected[0], expected[1]};
    if (op.kind == OperatorKind::linear) expected = {expected[0], op.output[1]};
    ASSERT_EQ(op.output, expected) << node.name;
    ASSERT_GT(element_count(op.output), 0) << node.name;
  }
}

// The figures NAS-Bench-201 publishes for CIFAR-10 (Dong and Yang, ICLR 2020).
TEST(NasBench201Network, Counts_EqualThePublishedOnes) {
  const NetworkShape shape;
  const Architecture nothing = uniform_cell(Operation::none), largest = uniform_cell(Operation::nor_conv_3x3);
  EXPECT_EQ(parameter_count(network(nothing)), 73'306);
  EXPECT_EQ(nasbench201().flop_count(nothing, shape), 7'783'050);

  EXPECT_EQ(parameter_count(network(largest)), 1'531'546);
  EXPECT_EQ(nasbench201().flop_count(largest, shape), 220'119'690);

  const Architecture mixed = nasbench201().parse(
      "|nor_conv_3x3~0|+|nor_conv_3x3~0|avg_pool_3x3~1|+|skip_connect~0|nor_conv_3x3~1|skip_connect~2|");
  EXPECT_EQ(parameter_count(network(mixed)), 802'426);
  EXPECT_EQ(nasbench201().flop_count(mixed, shape), 113'951'370);
}

// NAS-Bench-201 counts the classifier's biases too.
TEST(NasBench201Network, FlopCount_EqualsThatOfTheNetwork) {
  Rng rng(1);
  for (const NetworkShape& shape : {NetworkShape{32, 10}, NetworkShape{16, 120}, NetworkShape{224, 1000}}) {
    for (int i = 0; i < 100; ++i) {
      const Architecture architecture = nasbench201().random(rng);
      ASSERT_EQ(nasbench201().flop_count(architecture, shape),
                multiply_adds(network(architecture, shape)) + shape.classes);
    }
  }
}

TEST(NasBench201Network, LargestShape_StaysWithinSixtyFourBits) {
  const std::int64_t flops = nasbench201().flop_count(uniform_cell(Operation::nor_conv_3x3), {16'384, 1'000'000});
  const std::int64_t classifier = 65 * 1'000'000LL;
  EXPECT_EQ(flops, (220'119'690LL - 650) * 512 * 512 + classifier);
}

TEST(NasBench201Network, StemResidualBlocksAndHead) {
  const Network graph = network(uniform_cell(Operation::none), {32, 10});
  EXPECT_EQ(graph.inputs.at(0).type.shape, (Shape{1, 3, 32, 32}));
  EXPECT_EQ(inputs(graph, "stem_conv"), Names{"input"});
  EXPECT_EQ(output(graph, "stem_norm"), (Shape{1, 16, 32, 32}));
  EXPECT_EQ(inputs(graph, "cell0_edge0_zero"), Names{"stem_norm"});

  EXPECT_EQ(inputs(graph, "residual1_a_relu"), Names{"cell4_node3_add2"});
  EXPECT_EQ(inputs(graph, "residual1_a_conv"), Names{"residual1_a_relu"});
  EXPECT_EQ(node(graph, "residual1_a_conv").operation.stride.height, 2);
  EXPECT_EQ(inputs(graph, "residual1_b_relu"), Names{"residual1_a_norm"});
  EXPECT_EQ(node(graph, "residual1_b_conv").operation.stride.height, 1);
  EXPECT_EQ(inputs(graph, "residual1_shortcut_pool"), Names{"cell4_node3_add2"});
  EXPECT_EQ(node(graph, "residual1_shortcut_pool").operation.kernel.height, 2);
  EXPECT_EQ(node(graph, "residual1_shortcut_pool").attributes.padding, Padding{});
  EXPECT_EQ(node(graph, "residual1_shortcut_conv").operation.kernel.height, 1);
  EXPECT_EQ(inputs(graph, "residual1_add"), (Names{"residual1_shortcut_conv", "residual1_b_norm"}));
  EXPECT_EQ(output(graph, "residual1_add"), (Shape{1, 32, 16, 16}));
  EXPECT_EQ(output(graph, "residual2_add"), (Shape{1, 64, 8, 8}));

  EXPECT_EQ(inputs(graph, "head_norm"), Names{"cell14_node3_add2"});
  EXPECT_EQ(inputs(graph, "head_linear"), Names{"head_pool"});
  EXPECT_EQ(output(graph, "head_pool"), (Shape{1, 64}));
  EXPECT_EQ(graph.nodes.back().name, "head_linear");
  EXPECT_EQ(output(graph, "head_linear"), (Shape{1, 10}));
}

TEST(NasBench201Network, Cell_AddsItsEdgesInOrderAndKeepsNone) {
  const Network graph =
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

TEST(NasBench201Network, OperatorsOfEachKind_FollowFromTheOperations) {
  Rng rng(2);
  for (int i = 0; i < 50; ++i) {
    const Architecture architecture = nasbench201().random(rng);
    const Cell cell = cell_of(architecture);
    const auto count = [&](Operation o) { return 15 * static_cast<int>(std::count(cell.begin(), cell.end(), o)); };
    const int convolutions = count(Operation::nor_conv_1x1) + count(Operation::nor_conv_3x3);
    std::map<OperatorKind, int> kinds;
    for (const OperatorKind kind : kinds_in_order(network(architecture))) ++kinds[kind];
    EXPECT_EQ(kinds[OperatorKind::multiply], count(Operation::none));
    EXPECT_EQ(kinds[OperatorKind::average_pool], count(Operation::avg_pool_3x3) + 2);
    EXPECT_EQ(kinds[OperatorKind::convolution], convolutions + 1 + 2 * 3);
    EXPECT_EQ(kinds[OperatorKind::activation], convolutions + 2 * 2 + 1);
    EXPECT_EQ(kinds[OperatorKind::batch_norm], convolutions + 1 + 2 * 2 + 1);
    EXPECT_EQ(kinds[OperatorKind::add], 15 * 3 + 2);
  }
}

TEST(NasBench201Network, RandomArchitectures_AreWellFormed) {
  Rng rng(3);
  for (int i = 0; i < 200; ++i) {
    const NetworkShape shape = {4 * static_cast<int>(1 + rng.below(16)), static_cast<int>(1 + rng.below(200))};
    const int batch = static_cast<int>(1 + rng.below(3));
    const Network graph = nasbench201().computation(nasbench201().random(rng), shape, batch);
    expect_well_formed(graph);
    EXPECT_EQ(graph.inputs[0].type.shape, (Shape{batch, 3, shape.resolution, shape.resolution}));
    EXPECT_EQ(graph.nodes.back().operation.output, (Shape{batch, shape.classes}));
  }
}

TEST(NasBench201Network, ImpossibleShape_IsRefused) {
  for (const NetworkShape& shape :
       {NetworkShape{0, 10}, {2, 10}, {-4, 10}, {30, 10}, {33, 10}, {32, 0}, {32, -1}, {16'388, 10}, {32, 1'000'001}}) {
    EXPECT_THROW(network(Architecture(6), shape), InputError) << shape.resolution << ' ' << shape.classes;
    EXPECT_THROW(nasbench201().flop_count(Architecture(6), shape), InputError);
    EXPECT_THROW(nasbench201().operators(shape, 1), InputError);
  }
  EXPECT_NO_THROW(network(Architecture(6), {4, 1}));
  EXPECT_THROW(nasbench201().computation(Architecture(6), {}, 0), InputError) << "a batch of none";
  EXPECT_THROW(nasbench201().operators({}, 0), InputError);
}

TEST(NasBench201Operators, AreFiveOperationsAtThreeStages) {
  const std::vector<Operator> operators = nasbench201().operators({64, 10}, 1);
  ASSERT_EQ(operators.size(), 15U);
  for (std::size_t i = 0; i < 15; ++i) {
    const int stage = static_cast<int>(i % 3);
    EXPECT_EQ(operators[i].name, operation_names[i / 3]);
    EXPECT_EQ(operators[i].key.channels(), 16 << stage);
    EXPECT_EQ(operators[i].key.resolution(), 64 >> stage);
    const Shape shape = {1, operators[i].key.channels(), operators[i].key.resolution(), operators[i].key.resolution()};
    EXPECT_EQ(operators[i].graph.inputs.at(0).type.shape, shape);
    EXPECT_EQ(tensor_type(operators[i].graph, operators[i].graph.outputs.at(0)).shape, shape);
    expect_well_formed(operators[i].graph);
  }
}

TEST(NasBench201Operators, ExecuteTheirOperation) {
  const std::vector<Operator> operators = nasbench201().operators({}, 1);
  const Kinds block = {OperatorKind::activation, OperatorKind::convolution, OperatorKind::batch_norm};
  EXPECT_EQ(kinds_in_order(operators[0].graph), Kinds{OperatorKind::multiply});
  EXPECT_EQ(kinds_in_order(operators[3].graph), Kinds{});
  EXPECT_EQ(kinds_in_order(operators[6].graph), block);
  EXPECT_EQ(kinds_in_order(operators[9].graph), block);
  EXPECT_EQ(kinds_in_order(operators[12].graph), Kinds{OperatorKind::average_pool});
  EXPECT_EQ(operators[8].graph.nodes[1].operation.kernel.height, 1);
  EXPECT_EQ(operators[11].graph.nodes[1].operation.kernel.height, 3);
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
  const std::vector<Operator> operators = nasbench201().operators(shape, 1);
  const std::int64_t backbone = nasbench201().flop_count(uniform_cell(Operation::none), shape);
  for (const Architecture& architecture : sample_with_extremes(6, 30)) {
    const std::vector<double> occurrences = nasbench201().operator_occurrences(architecture);
    ASSERT_EQ(occurrences.size(), operators.size());
    double sum = static_cast<double>(backbone), all = 0;
    for (std::size_t o = 0; o < operators.size(); ++o) {
      sum += occurrences[o] * static_cast<double>(multiply_adds(operators[o].graph));
      all += occurrences[o];
    }
    EXPECT_EQ(sum, static_cast<double>(nasbench201().flop_count(architecture, shape)));
    EXPECT_EQ(all, 15.0 * static_cast<double>(edge_count));
  }
}

TEST(NasBench201Chains, AreOfEveryOperationThatCosts_AtEveryStage) {
  const std::vector<OperationChain> chains = nasbench201().operation_chains({64, 10}, 1);
  const Names operations = {"nor_conv_1x1", "nor_conv_3x3", "avg_pool_3x3", "add", "relu", "multiply"};
  ASSERT_EQ(chains.size(), 3 * operations.size());
  for (std::size_t i = 0; i < chains.size(); ++i) {
    const int channels = 16 << (i % 3), resolution = 64 >> (i % 3);
    EXPECT_EQ(chains[i].name, operations[i / 3]);
    EXPECT_EQ(chains[i].key.channels(), channels);
    EXPECT_EQ(chains[i].key.resolution(), resolution);
    EXPECT_EQ(chains[i].repeats, 8);
    for (const Network* graph : {&chains[i].graph, &chains[i].surroundings}) {
      expect_well_formed(*graph);
      for (const NetworkNode& node : graph->nodes) {
        EXPECT_EQ(node.operation.output, (Shape{1, channels, resolution, resolution})) << node.name;
      }
    }
  }
}

TEST(NasBench201Chains, HoldNothingButTheirRepeatsBetweenTheSurroundings) {
  const Kinds block = {OperatorKind::activation, OperatorKind::convolution, OperatorKind::batch_norm};
  const std::map<std::string, Kinds> instance = {{"nor_conv_1x1", block},
                                                 {"nor_conv_3x3", block},
                                                 {"avg_pool_3x3", {OperatorKind::average_pool}},
                                                 {"add", {OperatorKind::add}},
                                                 {"relu", {OperatorKind::activation}},
                                                 {"multiply", {OperatorKind::multiply}}};
  for (const OperationChain& chain : nasbench201().operation_chains({}, 1)) {
    Kinds expected = block;
    for (int i = 0; i < chain.repeats; ++i) {
      expected.insert(expected.end(), instance.at(chain.name).begin(), instance.at(chain.name).end());
    }
    expected.insert(expected.end(), block.begin(), block.end());
    EXPECT_EQ(kinds_in_order(chain.graph), expected) << chain.name;
    Kinds around = block;
    around.insert(around.end(), block.begin(), block.end());
    EXPECT_EQ(kinds_in_order(chain.surroundings), around) << chain.name;
  }
}

TEST(NasBench201Chains, ComputeWhatTheOperatorsOfTheirNameDo) {
  const NetworkShape shape;
  std::map<std::pair<std::string, int>, std::int64_t> flops;
  for (const Operator& op : nasbench201().operators(shape, 1))
    flops[{op.name, op.key.channels()}] = multiply_adds(op.graph);
  for (const OperationChain& chain : nasbench201().operation_chains(shape, 1)) {
    const std::int64_t added = multiply_adds(chain.graph) - multiply_adds(chain.surroundings);
    EXPECT_EQ(added, chain.repeats * flops[std::pair(chain.name, chain.key.channels())])
        << chain.name << chain.key.channels();
  }
}

TEST(NasBench201Chains, OfAShapeThatCannotBe_AreRefused) {
  EXPECT_THROW(nasbench201().operation_chains({30, 10}, 1), InputError);
}

TEST(NasBench201Function, Outputs_AreFinite) {
  for (const Architecture& architecture : sample_with_extremes(4, 20)) {
    const Network graph = network(architecture, {8, 10});
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
    const Network graph = network(architecture, {8, 10});
    const bool depends = reference_inference(graph, image(1), 1) != reference_inference(graph, image(2), 1);
    EXPECT_EQ(depends, nasbench201().connected(architecture)) << nasbench201().format(architecture);
    disconnected += depends ? 0 : 1;
  }
  EXPECT_GE(disconnected, 4);
}

/// The operators of a network, in their order.
std::vector<OperatorSpecification> specifications_of(const Network& graph) {
  std::vector<OperatorSpecification> specifications;
  for (const NetworkNode& node : graph.nodes) specifications.push_back(node.operation);
  return specifications;
}

TEST(NasBench201Operators, AreKeyedByWhatTheirGraphsExecute) {
  for (const Operator& op : nasbench201().operators({64, 10}, 1)) {
    EXPECT_EQ(op.key.operators, specifications_of(op.graph)) << op.name;
    EXPECT_EQ(op.key.is_empty_call(), op.name == "skip_connect");
    EXPECT_EQ(op.key.input, op.graph.inputs.at(0).type.shape);
  }
}

TEST(NasBench201Chains, AreKeyedByWhatOneInstanceAddsToTheGraph) {
  const auto count = [](const std::vector<OperatorSpecification>& all, const OperatorSpecification& wanted) {
    return std::count(all.begin(), all.end(), wanted);
  };
  for (const OperationChain& chain : nasbench201().operation_chains({}, 1)) {
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
