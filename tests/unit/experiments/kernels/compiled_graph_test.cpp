#include "experiments/kernels/compiled_graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include "descriptor/runtimes/libtorch_runtime.h"
#include "nasbench/graph/network_builder.h"
#include "nasbench/spaces/cell.h"
#include "nasbench/spaces/search_space.h"
#include "nasbench/structures/cell_structures.h"
#include "nasbench/support/error.h"
#include "nasbench/support/random.h"

namespace tenshot::experiments {
namespace {

using descriptor::torch_versions;
using nasbench::Architecture;
using nasbench::Cell;
using nasbench::CellCounts;
using nasbench::Network;
using nasbench::Operation;

constexpr Operation none = Operation::none;
constexpr Operation skip = Operation::skip_connect;
constexpr Operation conv1 = Operation::nor_conv_1x1;
constexpr Operation conv3 = Operation::nor_conv_3x3;
constexpr Operation pool = Operation::avg_pool_3x3;

// Cells are written in the order of `edges`: 0>1, 0>2, 1>2, 0>3, 1>3, 2>3.

using NodeCounts = std::map<std::string, int>;

/// The network of an architecture up to the operator whose name begins with `end`.
Network network_until(const Architecture& architecture, const std::string& end) {
  nasbench::NetworkShape shape;
  shape.resolution = 4;
  Network graph = nasbench::nasbench201().computation(architecture, shape, 1);
  const auto from = std::find_if(graph.nodes.begin(), graph.nodes.end(),
                                 [&](const nasbench::NetworkNode& node) { return node.name.rfind(end, 0) == 0; });
  graph.nodes.erase(from, graph.nodes.end());
  graph.outputs = {{static_cast<int>(graph.nodes.size()) - 1, 0}};
  return graph;
}

int count(const NodeCounts& nodes, std::initializer_list<const char*> kinds) {
  int sum = 0;
  for (const char* kind : kinds) {
    const auto found = nodes.find(kind);
    if (found != nodes.end()) sum += found->second;
  }
  return sum;
}

int relus_in_convolutions(const NodeCounts& nodes) {
  return count(nodes, {"prepacked::conv2d_clamp_run 1x1 relu", "prepacked::conv2d_clamp_run 3x3 relu"});
}

/// What the nodes do, however the compiler spells it.
CellCounts executed(const NodeCounts& nodes) {
  CellCounts counts;
  counts.conv_1x1 = count(nodes, {"aten::conv2d 1x1", "prim::mkldnn_convolution 1x1", "prepacked::conv2d_clamp_run 1x1",
                                  "prepacked::conv2d_clamp_run 1x1 relu"});
  counts.conv_3x3 = count(nodes, {"aten::conv2d 3x3", "prim::mkldnn_convolution 3x3", "prepacked::conv2d_clamp_run 3x3",
                                  "prepacked::conv2d_clamp_run 3x3 relu"});
  counts.pool = count(nodes, {"aten::avg_pool2d"});
  counts.add = count(nodes, {"aten::add", "aten::add_", "aten::_add_relu"});
  counts.relu = count(nodes, {"aten::relu", "aten::relu_", "aten::_add_relu"}) + relus_in_convolutions(nodes);
  counts.multiply = count(nodes, {"aten::mul", "prim::MKLDNNScalarMul", "prim::MKLDNNScalarMul_"});
  counts.reorder = count(nodes, {"prim::MKLDNNScalarMul"});  // not in place: oneDNN converts the new tensor first
  return counts;
}

/// Nothing of the cell reads its input but its `none`; node 1 may be the input by another name.
bool only_multiplies_its_input(const Cell& cell) {
  const bool node_1 = cell[0] == none || (cell[0] == skip && cell[2] == none && cell[4] == none);
  return node_1 && cell[1] == none && cell[3] == none;
}

/// `cells` times the rule's counts, and what surrounds the cells. Where the first cell only multiplies its input, the
/// stem's convolution absorbs that.
CellCounts predicted(const Cell& cell, const CellCounts& rule, int cells, const CellCounts& surroundings) {
  CellCounts counts = surroundings;
  counts.conv_1x1 += cells * rule.conv_1x1;
  counts.conv_3x3 += cells * rule.conv_3x3;
  counts.pool += cells * rule.pool;
  counts.add += cells * rule.add;
  counts.relu += cells * rule.relu;
  counts.multiply += cells * rule.multiply - (only_multiplies_its_input(cell) ? 1 : 0);
  counts.reorder += cells * rule.reorder;
  return counts;
}

/// 250 cells: those that leave little to compute, then a seeded draw.
std::vector<Architecture> sample_of_cells() {
  const nasbench::SearchSpace& space = nasbench::nasbench201();
  std::vector<Architecture> sample;
  for (std::size_t operation = 0; operation < nasbench::operation_count; ++operation) {
    Cell cell;
    cell.fill(static_cast<Operation>(operation));  // all none, all skip ...
    sample.push_back(nasbench::architecture_of(cell));
  }
  for (const Cell& cell : {Cell{conv3, none, none, none, none, conv3},  // no path connects
                           Cell{skip, skip, none, none, none, none}, Cell{skip, none, none, none, none, pool},
                           Cell{conv3, none, none, skip, none, none},  // node 1's `none` goes into its convolution
                           Cell{conv1, skip, skip, skip, skip, none},  // node 3 begins with node 2's addition
                           Cell{none, none, skip, none, skip, conv1}}) {
    sample.push_back(nasbench::architecture_of(cell));
  }
  Rng rng(201);
  while (sample.size() < 250) sample.push_back(space.random(rng));
  return sample;
}

void expect_equal(const CellCounts& counts, const CellCounts& rule, const std::string& what) {
  EXPECT_EQ(counts.conv_1x1, rule.conv_1x1) << what;
  EXPECT_EQ(counts.conv_3x3, rule.conv_3x3) << what;
  EXPECT_EQ(counts.pool, rule.pool) << what;
  EXPECT_EQ(counts.add, rule.add) << what;
  EXPECT_EQ(counts.relu, rule.relu) << what;
  EXPECT_EQ(counts.multiply, rule.multiply) << what;
  EXPECT_EQ(counts.reorder, rule.reorder) << what;
}

/// A runtime and the rule that it follows.
struct Compiler {
  std::string runtime;
  CellCounts (*rule)(const Cell&);
};

bool has_onednn() { return torch_versions().find("oneDNN") != std::string::npos; }

class CompiledGraph : public testing::TestWithParam<Compiler> {
 protected:
  void SetUp() override {
    if (GetParam().runtime == "libtorch-optimized" && !has_onednn()) GTEST_SKIP() << "this LibTorch has no oneDNN";
  }
  static void expect_rule(const Architecture& architecture, const std::string& end, int cells,
                          const CellCounts& surroundings) {
    const Cell cell = nasbench::cell_of(architecture);
    const NodeCounts nodes = compiled_node_counts(GetParam().runtime, network_until(architecture, end));
    expect_equal(executed(nodes), predicted(cell, GetParam().rule(cell), cells, surroundings),
                 nasbench::nasbench201().format(architecture));
  }
};

TEST_P(CompiledGraph, OfTwoCellsInARowIsWhatItsRuleSays) {
  constexpr CellCounts stem = {0, 0, 1, 0, 0, 0, 0, 0};
  for (const Architecture& architecture : sample_of_cells()) expect_rule(architecture, "cell2", 2, stem);
}

TEST_P(CompiledGraph, OfAllFifteenCellsIsWhatItsRuleSays) {
  // Stem and two residual blocks, each two 3×3 convolutions behind ReLUs, a pool, a 1×1 convolution and an addition.
  constexpr CellCounts backbone = {0, 2, 5, 2, 2, 4, 0, 0};
  const std::vector<Architecture> sample = sample_of_cells();
  for (std::size_t i = 0; i < sample.size(); i += 12) expect_rule(sample[i], "head", 15, backbone);
}

INSTANTIATE_TEST_SUITE_P(LibTorch, CompiledGraph,
                         testing::Values(Compiler{"libtorch-frozen", nasbench::cse_structure},
                                         Compiler{"libtorch-optimized", nasbench::in_place_structure},
                                         Compiler{"libtorch-xnnpack", nasbench::cse_structure}),
                         [](const testing::TestParamInfo<Compiler>& info) {
                           std::string name = info.param.runtime;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(CompiledGraphOfOptimized, ItsNodesConvertLayoutsAtTheNetworksEndsOnly) {
  if (!has_onednn()) GTEST_SKIP() << "this LibTorch has no oneDNN";
  for (const Cell& cell : {Cell{none, none, none, none, none, none}, Cell{conv3, none, skip, pool, conv1, none}}) {
    const NodeCounts nodes =
        compiled_node_counts("libtorch-optimized", network_until(nasbench::architecture_of(cell), "head"));
    EXPECT_EQ(count(nodes, {"aten::to_mkldnn"}), 1);
    EXPECT_EQ(count(nodes, {"aten::to_dense"}), 1);
  }
}

TEST(CompiledGraphOfXnnpack, FusesAReluIntoTheConvolutionOrAdditionThatItAloneReads) {
  const Architecture all_conv3 = nasbench::architecture_of({conv3, conv3, conv3, conv3, conv3, conv3});
  const NodeCounts nodes = compiled_node_counts("libtorch-xnnpack", network_until(all_conv3, "head"));
  // Convolutions: 0>1 of 15 cells, the stem, the first of each residual block.
  EXPECT_EQ(relus_in_convolutions(nodes), 15 + 1 + 2);
  // Additions: node 2 of 15 cells, the outputs of the 12 cells before a cell, the outputs of the residual blocks. The
  // outputs of the other cells are read by a pool too, or by nothing.
  EXPECT_EQ(count(nodes, {"aten::_add_relu"}), 15 + 12 + 2);
  EXPECT_EQ(count(nodes, {"aten::relu"}), 2);  // the first of each residual block
}

TEST(CompiledGraphOfXnnpack, CountsConvolutionsByTheirKernel) {
  nasbench::NetworkBuilder builder;
  const nasbench::Source image = builder.input("input", {1, 3, 8, 8});
  const nasbench::Source a = builder.convolution("a", image, 4, {nasbench::same_window(5)});
  const nasbench::Source relu = builder.activation("relu", a, "relu");
  builder.output(builder.convolution("b", relu, 4, {nasbench::same_window(1)}));
  const NodeCounts nodes = compiled_node_counts("libtorch-xnnpack", builder.network());
  EXPECT_EQ(count(nodes, {"prepacked::conv2d_clamp_run 5x5 relu"}), 1);
  EXPECT_EQ(count(nodes, {"prepacked::conv2d_clamp_run 1x1"}), 1);
  EXPECT_EQ(count(nodes, {"aten::relu", "aten::conv2d 5x5"}), 0);
}

TEST(CompiledNodeCounts, RefusesARuntimeThatDoesNotCompile) {
  nasbench::NetworkBuilder builder;
  builder.output(builder.activation("relu", builder.input("input", {1, 1, 2, 2}), "relu"));
  try {
    compiled_node_counts("libtorch-eager", builder.network());
    FAIL() << "expected InputError";
  } catch (const InputError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("'libtorch-eager'"), std::string::npos) << message;
    EXPECT_NE(message.find("libtorch-frozen, libtorch-optimized, libtorch-xnnpack"), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace tenshot::experiments
