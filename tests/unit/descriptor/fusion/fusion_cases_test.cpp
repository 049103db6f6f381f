#include "descriptor/fusion/fusion_cases.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "nasbench/graph/network.h"
#include "nasbench/support/error.h"

namespace tenshot::descriptor {
namespace {

TEST(FusionCases, AllOfThemHaveOneInputAndAreDifferentNetworks) {
  const std::vector<NamedCase> cases = all_cases({8, 16});
  EXPECT_EQ(cases.size(), 10U + 100U + 56U + 48U);
  std::set<std::string> names, hashes;
  for (const NamedCase& one : cases) {
    EXPECT_EQ(one.network.inputs.size(), 1U) << one.name;
    EXPECT_EQ(one.network.inputs[0].type.shape, (nasbench::Shape{1, 8, 16, 16})) << one.name;
    EXPECT_EQ(one.network.outputs.size(), one.name.find("__fork__") == std::string::npos ? 1U : 2U) << one.name;
    names.insert(one.name);
    hashes.insert(content_hash(one.network));
  }
  EXPECT_EQ(names.size(), cases.size());
  EXPECT_EQ(hashes.size(), cases.size());
}

TEST(FusionCases, AnAdditionTakesTheImageTwiceWhereACaseHasOneInput) {
  CaseImage image{4, 8};
  EXPECT_EQ(single_case("add", image).inputs.size(), 2U);
  image.one_input = true;
  const nasbench::Network twice = single_case("add", image);
  ASSERT_EQ(twice.inputs.size(), 1U);
  ASSERT_EQ(twice.nodes[0].inputs.size(), 2U);
  EXPECT_EQ(twice.nodes[0].inputs[0].node, twice.nodes[0].inputs[1].node);
}

TEST(FusionCases, UnknownOperatorsAreNamed) {
  try {
    single_case("warp", {});
    FAIL() << "there is no such operator";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("'warp'"), std::string::npos) << error.what();
  }
  EXPECT_THROW(join_case("relu", "relu", "sigmoid", {}), InputError);
}

}  // namespace
}  // namespace tenshot::descriptor
