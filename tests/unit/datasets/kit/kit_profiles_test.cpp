#include "datasets/kit/kit_profiles.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "datasets/kit/kit_manifest.h"
#include "datasets/kit/profile_matching.h"
#include "datasets/tables/network_sources.h"
#include "nasbench/graph/network_builder.h"
#include "nasbench/graph/onnx.h"
#include "nasbench/graph/onnx_reader.h"
#include "nasbench/spaces/networks.h"
#include "tests/unit/datasets/kit/kit_fixture.h"

namespace tenshot::datasets {
namespace {

const std::string csv_table =
    "=== Run Order ===\nnode type, start, first, avg_ms, %, cdf%, mem KB, times called, name\n"
    "CONV_2D, 0, 0.09, 0.092, 10%, 10%, 0, 1, [net/BN;net/Conv2D]:0\n"
    "SOFTMAX, 0, 0.004, 0.004, 10%, 10%, 0, 2, [a, b]:1\n";

TEST(LayerTimes, OfBenchmarkModelAreReadFromItsCsvToo) {
  const std::vector<LayerTime> layers = layer_times(csv_table + "\n=== Top by Computation Time ===\n", "profile");
  ASSERT_EQ(layers.size(), 2u);
  EXPECT_EQ(layers[0].name, "[net/BN;net/Conv2D]:0");
  EXPECT_EQ(layers[0].kind, "CONV_2D");
  EXPECT_EQ(layers[0].ms, 0.092);
  EXPECT_EQ(layers[1].name, "[a, b]:1");
  EXPECT_EQ(layers[1].ms, 0.008) << "it was called twice";
}

TEST(LayerTimes, OfATableWithoutItsEndAreRefused) {
  EXPECT_EQ(message_of([] { layer_times(csv_table, "profile"); }),
            "profile: its table of layers does not end; it is cut");
}

TEST(LayerTimes, OfOnnxRuntimeTellNodesWithoutAName) {
  const auto event = [](const std::string& number) {
    return R"({"cat": "Node", "name": "_kernel_time", "dur": 5000, "args": {"op_name": "Conv", "graph_index": ")" +
           number + "\"}}";
  };
  const std::vector<LayerTime> layers = layer_times("[" + event("1") + "," + event("2") + "]", "profile");
  ASSERT_EQ(layers.size(), 2u);
  EXPECT_EQ(layers[0].kind, "Conv");
  EXPECT_EQ(layers[1].ms, 5);
}

TEST(ProfileMatching, KnowsNamesWithSemicolonsAndLeavesCopies) {
  nasbench::NetworkBuilder b;
  b.output(b.linear("net/BN;net/Conv2D", b.input("x", {1, 8}), 4));
  const nasbench::Network network = b.take();
  const auto matched = [&](const std::string& layer) {
    return match_profile({{layer, "", 7}}, network, {{"net/BN;net/Conv2D", 0}}).matched;
  };
  EXPECT_EQ(matched("[net/BN;net/Conv2D]:0"), 1u);
  EXPECT_EQ(matched("net/BN;net/Conv2D + relu input reformatter 0"), 0u);
  EXPECT_EQ(matched("net/BN;net/Conv2D output reformatter 1"), 0u);
}

TEST(KitProfiles, AreReadFromTheResultsOfWhatWasMeasured) {
  const MeasuredKit kit;
  EXPECT_EQ(read_kit_profiles(kit.path()).networks, 0u) << "there is none";
  const nasbench::Network network = nasbench::read_onnx(kit.path() / "models/arch_01.onnx");
  std::string layers = "[ { \"count\" : 20 }";
  for (const nasbench::NetworkNode& one : network.nodes) {
    layers += ", { \"name\" : \"" + one.name + "\", \"averageMs\" : 0.25 }";
  }
  kit.put("arch_01/profile.json", layers + ", { \"name\" : \"copy\", \"averageMs\" : 1 } ]");
  kit.put("arch_02/profile.json", "[ { \"name\" : \"of another network\", \"averageMs\" : 1 } ]");
  kit.put("arch_03/profile.json", "damaged");
  const KitProfiles profiles = read_kit_profiles(kit.path());
  EXPECT_EQ(profiles.networks, 1u);
  EXPECT_EQ(profiles.matched, network.nodes.size());
  EXPECT_EQ(profiles.layers, network.nodes.size() + 1);
  ASSERT_EQ(profiles.problems.size(), 2u);
  EXPECT_NE(profiles.problems[0].find("none of its 1 layers is an operator of"), std::string::npos);
  EXPECT_NE(profiles.problems[1].find("is no profile of trtexec"), std::string::npos);
  const std::vector<OperatorLatency> latencies = operators_in_networks(profiles.rows);
  ASSERT_FALSE(latencies.empty());
  EXPECT_EQ(latencies.front().latency_ms, 0.25);
  EXPECT_EQ(latencies.front().network, space().format(space().at(0)));
  EXPECT_NE(profiles.summary().find(" layers of 1 network are known operators"), std::string::npos);
}

/// As many convolutions as `layers` says, each before a ReLU, with names that any exported network has.
std::string generic_network(int layers) {
  nasbench::NetworkBuilder b;
  nasbench::Source x = b.input("input", {1, 8, 16, 16});
  for (int i = 0; i < layers; ++i) {
    x = b.convolution("node_" + std::to_string(2 * i), x, 8, {nasbench::same_window(3), 1, false});
    x = b.activation("node_" + std::to_string(2 * i + 1), x, "relu");
  }
  b.output(x);
  return nasbench::onnx_model(b.take(), {1, "net"});
}

/// A measured kit of five networks of 12, 10, 8, 6 and 3 layers, whose operators add up to `share` of the latency.
class ProfiledKit {
 public:
  ProfiledKit() : kit_(request_of(folder_.path())) {
    for (std::size_t i = 0; i < 5; ++i) profile(i, i, 0.9);
  }

  /// Gives network `of` the profile of network `from`.
  void profile(std::size_t of, std::size_t from, double share) const {
    const nasbench::Network network = nasbench::read_onnx(kit_.path() / model_file(kit_.manifest.models[from]));
    const double ms = share * static_cast<double>(of + 1) / static_cast<double>(network.nodes.size());
    std::string layers;
    for (const nasbench::NetworkNode& one : network.nodes) {
      layers += (layers.empty() ? R"({"name": ")" : R"(, {"name": ")") + one.name + R"(", "averageMs": )" +
                std::to_string(ms) + "}";
    }
    kit_.put(kit_.manifest.models[of].id + "/profile.json", "[" + layers + "]");
  }

  KitProfiles read() const { return read_kit_profiles(kit_.path()); }

 private:
  static KitRequest request_of(const std::filesystem::path& folder) {
    KitRequest request;
    request.space = &nasbench::networks();
    for (const int layers : {12, 10, 8, 6, 3}) {
      const std::filesystem::path file = folder / ("profiled-kit-" + std::to_string(layers) + ".onnx");
      write_file_quickly(file, generic_network(layers));
      request.architectures.push_back(read_networks(file.string()).front());
    }
    return request;
  }

  TemporaryFolder folder_;
  MeasuredKit kit_;
};

/// Gives one network that profile, and expects the four others to be used.
void expect_left_out(const ProfiledKit& kit, const std::string& file, const std::string& why) {
  const KitProfiles profiles = kit.read();
  EXPECT_EQ(profiles.networks, 4u);
  ASSERT_EQ(profiles.problems.size(), 1u);
  EXPECT_NE(profiles.problems[0].find(file + ": the share of " + why + " in the other profiles; is it of another"),
            std::string::npos)
      << profiles.problems[0];
}

TEST(KitProfiles, OneOfAnotherNetworkIsLeftOutByItsFileAndTheOthersAreUsed) {
  const ProfiledKit kit;
  EXPECT_TRUE(kit.read().problems.empty());
  EXPECT_EQ(kit.read().networks, 5u);
  kit.profile(4, 0, 0.9);
  expect_left_out(kit, "arch_05/profile.json", "its layers that are operators of its network is 25 %, and 100 %");
  kit.profile(4, 4, 0.9);
  kit.profile(0, 4, 0.9);
  expect_left_out(kit, "arch_01/profile.json", "its network's multiply-adds that its layers name is 25 %, and 100 %");
}

TEST(KitProfiles, OneThatAddsUpToAnotherLatencyIsLeftOutByItsFile) {
  const ProfiledKit kit;
  for (const double share : {2.7, 0.3}) {
    kit.profile(3, 3, share);
    expect_left_out(kit, "arch_04/profile.json",
                    "the measured latency that its layers add up to is " + std::to_string(std::lround(100 * share)) +
                        " %, and 90 %");
  }
  for (std::size_t i = 0; i < 5; ++i) kit.profile(i, i, 0.9 / static_cast<double>(1 + i));
  EXPECT_EQ(kit.read().networks, 5u) << "where all differ, none is told from the others";
  for (std::size_t i = 0; i < 5; ++i) kit.profile(i, i, 900);
  const KitProfiles other_unit = kit.read();
  EXPECT_EQ(other_unit.networks, 0u);
  ASSERT_EQ(other_unit.problems.size(), 5u);
  EXPECT_NE(other_unit.problems[0].find("arch_01/profile.json: its layers add up to 900 times its network's measured "
                                        "latency; is one of them in another unit?"),
            std::string::npos)
      << other_unit.problems[0];
}

}  // namespace
}  // namespace tenshot::datasets
