#include "descriptor/fusion/fusion_cases.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "nasbench/graph/network.h"
#include "nasbench/kernels/fusion_rules.h"
#include "nasbench/support/error.h"

namespace tenshot::descriptor {
namespace {

std::multiset<std::string> kinds(const nasbench::Network& network) {
  std::multiset<std::string> result;
  for (const nasbench::NetworkNode& node : network.nodes) result.insert(fusion_types(node.operation).front());
  return result;
}

TEST(FusionCases, BothNetworksOfACaseHaveTheSameOperatorsAndFencesInAnotherOrder) {
  const std::vector<FusionCase> cases = all_cases({8, 16});
  EXPECT_EQ(cases.size(), 10U + 200U + 12U + 24U);
  std::set<std::string> names;
  for (const FusionCase& one : cases) {
    names.insert(one.name);
    const bool alone = one.name.find("__") == std::string::npos;
    EXPECT_EQ(kinds(one.apart) == kinds(one.together), !alone) << one.name;
    EXPECT_NE(content_hash(one.apart), content_hash(one.together)) << one.name;
    for (const nasbench::Network* network : {&one.apart, &one.together}) {
      ASSERT_EQ(network->inputs.size(), 1U) << one.name;
      EXPECT_EQ(network->inputs[0].type.shape, (nasbench::Shape{1, 8, 16, 16})) << one.name;
      EXPECT_EQ(network->outputs.size(), one.name.find("__fork__") == std::string::npos ? 1U : 2U) << one.name;
    }
  }
  EXPECT_EQ(names.size(), cases.size());
}

TEST(FusionCases, OperatorsStandSideBySideInOneNetworkAndBehindFencesInTheOther) {
  const auto follows = [](const nasbench::Network& network) {
    int count = 0;
    for (const nasbench::NetworkNode& node : network.nodes) {
      if (fusion_types(node.operation).front() != "relu" || node.inputs[0].node < 0) continue;
      const nasbench::NetworkNode& before = network.nodes[static_cast<std::size_t>(node.inputs[0].node)];
      count += fusion_types(before.operation).front() == "convolution" ? 1 : 0;
    }
    return count;
  };
  for (const Fence fence : {Fence::softmax, Fence::pool}) {
    const FusionCase one = pair_case("convolution", "relu", fence, {8, 16});
    EXPECT_EQ(follows(one.apart), 0) << one.name;
    EXPECT_EQ(follows(one.together), one.repeats) << one.name;
  }
}

TEST(FusionCases, UnknownOperatorsAreNamed) {
  try {
    operator_case("warp", {});
    FAIL() << "there is no such operator";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("'warp'"), std::string::npos) << error.what();
  }
  EXPECT_THROW(join_case("relu", "relu", "sigmoid", {}), InputError);
}

}  // namespace
}  // namespace tenshot::descriptor
