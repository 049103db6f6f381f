#include "datasets/pool/in_network.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/datasets/fixtures.h"

namespace tenshot::datasets {
namespace {

/// A chain of the space, or surroundings where the operation is empty.
ChainNetwork chain(const std::string& operation, int channels, int resolution, int repeats) {
  if (operation.empty()) return {"", {{1, channels, resolution, resolution}, {}}, 0};
  return {operation, *space().named_operation(operation, channels, resolution), repeats};
}

TEST(ChainGraphs, HaveEverySurroundingsOnceAndBeforeItsChains) {
  const std::vector<ChainGraph> graphs = chain_graphs(space().operation_chains({}, 1));
  ASSERT_EQ(graphs.size(), 18U + 3U);
  std::vector<ChainNetwork> surroundings;
  for (const ChainGraph& graph : graphs) {
    const auto same = [&](const ChainNetwork& other) { return graph.network.is_surrounded_by(other); };
    const bool known = std::any_of(surroundings.begin(), surroundings.end(), same);
    EXPECT_NE(graph.network.is_surroundings(), known);
    if (graph.network.is_surroundings()) surroundings.push_back(graph.network);
    EXPECT_EQ(graph.graph.inputs.at(0).type.shape, graph.network.key.input);
  }
  EXPECT_EQ(surroundings.size(), 3U);
  EXPECT_EQ(graphs[1].network.operation, "nor_conv_1x1");
  EXPECT_EQ(graphs[1].network.repeats, 8);
  EXPECT_TRUE(chain_graphs({}).empty());
}

TEST(InNetworkLatencies, AreTheDifferenceToTheSurroundingsByTheRepeats) {
  const std::vector<OperatorProfile> latencies = in_network_latencies({{chain("", 16, 32, 0), 1},
                                                                       {chain("nor_conv_3x3", 16, 32, 8), 5},
                                                                       {chain("", 32, 16, 0), 2},
                                                                       {chain("nor_conv_3x3", 32, 16, 4), 5},
                                                                       {chain("relu", 16, 32, 8), 0.75}});
  ASSERT_EQ(latencies.size(), 3U);
  EXPECT_EQ(latencies[0].name, "nor_conv_3x3");
  EXPECT_EQ(latencies[0].key.channels(), 16);
  EXPECT_EQ(latencies[0].key.resolution(), 32);
  EXPECT_EQ(latencies[0].latency_ms, 0.5);
  EXPECT_EQ(latencies[1].latency_ms, 0.75);
  EXPECT_EQ(latencies[2].name, "relu");
  EXPECT_EQ(latencies[2].latency_ms, 0) << "what the runtime leaves out costs nothing, not less";
}

TEST(InNetworkLatencies, NeedTheSurroundings) {
  EXPECT_NE(message_of([] {
              in_network_latencies({{chain("", 16, 32, 0), 1}, {chain("relu", 32, 16, 8), 5}});
            }).find("the chain of relu of 32 channels was measured without its surroundings"),
            std::string::npos);
}

}  // namespace
}  // namespace tenshot::datasets
