#include "nasbench/kernels/kernel_search.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

#include "experiments/kernels/published_cnn.h"
#include "nasbench/graph/onnx_reader.h"
#include "nasbench/spaces/synthetic_networks.h"
#include "nasbench/support/error.h"
#include "tests/unit/nasbench/graph/network_fixtures.h"

namespace tenshot::nasbench {
namespace {

std::map<std::string, int> counts(const std::vector<Kernel>& kernels) {
  std::map<std::string, int> result;
  for (const Kernel& kernel : kernels) ++result[kernel.name];
  return result;
}

FusionRules rules(const std::string& body) {
  return parse_fusion_rules(R"({"format": "tenshot.fusion/1", )" + body + "}", "rules.json");
}

/// What is wrong with the rules of that body.
std::string complaint(const std::string& body) {
  try {
    rules(body);
  } catch (const FormatError& error) {
    return error.what();
  }
  return "";
}

// Table 4 of Zhang et al., MobiSys 2021.
const std::map<std::string, int> table4_cpu = {{"convolution++batch_norm++relu", 9},
                                               {"max_pool", 1},
                                               {"convolution++batch_norm", 11},
                                               {"add++relu", 8},
                                               {"global_pool", 1},
                                               {"linear", 1}};
const std::map<std::string, int> table4_gpu = {
    {"convolution++batch_norm++relu", 9}, {"max_pool", 1},    {"convolution++batch_norm++add++relu", 8},
    {"convolution++batch_norm", 3},       {"global_pool", 1}, {"linear", 1}};

TEST(KernelSearch, GivesThePapersKernelsOfResNet18) {
  const Network network = experiments::published_cnn("resnet18");
  EXPECT_EQ(counts(find_kernels(network, fusion_rules("activation"))), table4_cpu);
  EXPECT_EQ(counts(find_kernels(network, fusion_rules("activation-add"))), table4_gpu);
  EXPECT_EQ(find_kernels(network, fusion_rules("none")).size(), network.nodes.size());
}

TEST(KernelSearch, GivesThePapersKernelsOfTheExportOfResNet18) {
  const char* folder = std::getenv("TENSHOT_EXPORTS");
  if (folder == nullptr) GTEST_SKIP() << "TENSHOT_EXPORTS names no folder of exports";
  const Network network = read_onnx(std::filesystem::path(folder) / "resnet18.onnx");
  EXPECT_EQ(counts(find_kernels(network, fusion_rules("activation"))), table4_cpu);
  EXPECT_EQ(counts(find_kernels(network, fusion_rules("activation-add"))), table4_gpu);
}

/// input → relu → {sigmoid, tanh}, which are added up.
Network fork() {
  NetworkBuilder b;
  const Source trunk = b.activation("trunk", b.input("input", {1, 4, 8, 8}), "relu");
  const Source left = b.activation("left", trunk, "sigmoid"), right = b.activation("right", trunk, "tanh");
  b.output(b.add("sum", left, right));
  return b.take();
}

TEST(KernelSearch, BranchRulesChooseWhichBranchFuses) {
  const std::string pairs = R"("pairs": [["activation", "activation"], ["activation", "add"]])";
  const auto kernels = [&](const std::string& branches) {
    return counts(find_kernels(fork(), rules(pairs + branches)));
  };
  const std::map<std::string, int> apart = {{"relu", 1}, {"sigmoid", 1}, {"tanh", 1}, {"add", 1}};
  EXPECT_EQ(kernels(""), apart);
  const std::map<std::string, int> first_in = {{"relu", 1}, {"sigmoid++add", 1}, {"tanh", 1}};
  EXPECT_EQ(kernels(R"(, "multi_inbound": "first")"), first_in);
  const std::map<std::string, int> last_in = {{"relu", 1}, {"sigmoid", 1}, {"tanh++add", 1}};
  EXPECT_EQ(kernels(R"(, "multi_inbound": "last")"), last_in);
  const std::map<std::string, int> first_out = {{"relu++sigmoid", 1}, {"tanh", 1}, {"add", 1}};
  EXPECT_EQ(kernels(R"(, "multi_outbound": "first")"), first_out);
  const std::map<std::string, int> last_out = {{"relu++tanh", 1}, {"sigmoid", 1}, {"add", 1}};
  EXPECT_EQ(kernels(R"(, "multi_outbound": "last")"), last_out);
}

TEST(KernelSearch, KernelsNeverWaitForEachOther) {
  // trunk++left++sum would wait for right, which waits for trunk (nn-Meter §4.1).
  const FusionRules greedy = rules(
      R"("pairs": [["activation", "activation"], ["activation", "add"]],
         "multi_inbound": "first", "multi_outbound": "first")");
  const std::map<std::string, int> expected = {{"relu++sigmoid", 1}, {"tanh++add", 1}};
  EXPECT_EQ(counts(find_kernels(fork(), greedy)), expected);
}

TEST(KernelSearch, AnOutputOfTheNetworkIsAReader) {
  NetworkBuilder b;
  const Source x = b.convolution("stem", b.input("input", {1, 3, 8, 8}), 8, {same_window(3), 1, false});
  b.output(b.activation("relu", x, "relu"));
  EXPECT_EQ(find_kernels(b.network(), fusion_rules("activation")).size(), 1U);
  b.output(x);
  EXPECT_EQ(find_kernels(b.network(), fusion_rules("activation")).size(), 2U);
}

TEST(KernelSearch, EveryOperatorIsInOneKernelAfterWhatItReads) {
  const FusionRules all = rules(
      R"("groups": {"any": ["convolution", "depthwise_convolution", "grouped_convolution", "batch_norm", "activation",
          "add", "multiply", "max_pool", "average_pool", "concatenate", "split", "shuffle", "linear", "reshape",
          "global_pool", "group_norm", "elementwise", "layer_norm", "softmax", "matrix_product", "transpose"]},
         "pairs": [["any", "any"]], "multi_inbound": "first", "multi_outbound": "first")");
  std::vector<Network> networks = {network_of_convolutions(), network_of_attention(), fork()};
  for (std::uint64_t i = 0; i < 20; ++i) networks.push_back(synthetic_cnn(7, i, 1));
  for (const Network& network : networks) {
    std::set<int> done;
    for (const Kernel& kernel : find_kernels(network, all)) {
      const std::set<int> own(kernel.nodes.begin(), kernel.nodes.end());
      for (const int node : kernel.nodes) {
        for (const Source& source : network.nodes[static_cast<std::size_t>(node)].inputs) {
          EXPECT_TRUE(source.node < 0 || done.count(source.node) + own.count(source.node) == 1)
              << kernel.name << " waits for " << source.node;
        }
      }
      for (const int node : own) EXPECT_TRUE(done.insert(node).second) << "node " << node << " stands in two kernels";
    }
    EXPECT_EQ(done.size(), network.nodes.size());
  }
}

TEST(FusionRules, WhatIsWrittenIsReadBack) {
  for (const std::string& name : shipped_rule_names()) {
    const FusionRules shipped = fusion_rules(name);
    const FusionRules again = parse_fusion_rules(to_json(shipped).dump(), "again.json");
    EXPECT_EQ(again.name, name);
    EXPECT_EQ(again.pairs, shipped.pairs);
    EXPECT_EQ(again.multi_inbound, shipped.multi_inbound);
    EXPECT_EQ(again.multi_outbound, shipped.multi_outbound);
  }
}

TEST(FusionRules, GroupsStandForTheirMembers) {
  const FusionRules found =
      rules(R"("groups": {"a": ["b", "add"], "b": ["convolution", "linear"]}, "pairs": [["a", "relu"]])");
  const std::set<std::pair<std::string, std::string>> expected = {
      {"add", "relu"}, {"convolution", "relu"}, {"linear", "relu"}};
  EXPECT_EQ(found.pairs, expected);
}

TEST(FusionRules, UnknownOperatorsAreNamed) {
  const std::string unknown = complaint(R"("pairs": [["convolution", "relu"], ["convolution", "warp"]])");
  EXPECT_NE(unknown.find("rules.json: pairs[1][1] is \"warp\", expected an operator"), std::string::npos) << unknown;
  const std::string member = complaint(R"("groups": {"g": ["add", 3]}, "pairs": [])");
  EXPECT_NE(member.find("groups.g[1] is 3"), std::string::npos) << member;
}

TEST(FusionRules, CyclesOfGroupsAreNamed) {
  const std::string cycle = complaint(R"("groups": {"a": ["b"], "b": ["add", "a"]}, "pairs": [])");
  EXPECT_NE(cycle.find("groups.a contains itself: a → b → a"), std::string::npos) << cycle;
}

TEST(FusionRules, WrongShapesAreNamed) {
  EXPECT_NE(complaint(R"("pairs": [["add"]])").find("pairs[0]"), std::string::npos);
  EXPECT_NE(complaint(R"("pairs": {})").find("pairs"), std::string::npos);
  EXPECT_NE(complaint(R"("name": "no pairs")").find("no key 'pairs'"), std::string::npos);
  EXPECT_NE(complaint(R"("pairs": [], "multi_inbound": 1)").find("multi_inbound"), std::string::npos);
  EXPECT_NE(complaint(R"("pairs": [], "multi_inbound": "both")").find("none, first, last or latest"),
            std::string::npos);
  EXPECT_NE(complaint(R"("groups": {"add": ["relu"]}, "pairs": [])").find("name of an operator"), std::string::npos);
  EXPECT_THROW(parse_fusion_rules(R"({"format": "tenshot.fusion/2", "pairs": []})", "newer.json"), FormatError);
  EXPECT_THROW(fusion_rules("tflite"), FileError);
}

}  // namespace
}  // namespace tenshot::nasbench
