#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "nasbench/spaces/layered_space.h"

namespace tenshot::nasbench {
namespace {

std::int64_t flops(const SearchSpace& space, const std::string& text) {
  return space.flop_count(space.parse(text), space.default_shape());
}

std::int64_t parameters(const SearchSpace& space, const std::string& text) {
  std::int64_t count = 0;
  for (const OperatorSpecification& operation : space.operator_list(space.parse(text))) {
    count += parameter_count(operation);
  }
  return count;
}

TEST(FBNet, HasTwentyTwoLayersOfNineBlocks) {
  EXPECT_EQ(&known_space("fbnet"), &fbnet());
  EXPECT_EQ(fbnet().decisions(), std::vector<int>(22, 9));
  EXPECT_FALSE(fbnet().size().has_value());
}

// The networks of Wu et al. (CVPR 2019), figure 4, as facebookresearch/mobile-vision defines them. Its table 4 gives
// 249 M, 295 M and 375 M FLOPs; the public implementation of FBNet-C in timm (fbnetc_100) has 5,572,200 parameters.
TEST(FBNet, FlopsOfItsNetworks_AreThoseOfThePaper) {
  const std::string a =
      "skip|k3_e3|k3_e1|skip|skip|k5_e6|k3_e3|k5_e1|k3_e3|k5_e6|k5_e3|k5_e1_g2|k5_e6|k3_e6|k5_e1_g2|k5_e1|k3_e1_g2|"
      "k5_e6|k5_e6|k5_e3|k5_e6|k5_e6";
  const std::string b =
      "k3_e1|k3_e6|k5_e1|k3_e1|k3_e1|k5_e6|k5_e3|k3_e6|k5_e6|k5_e6|k5_e1|skip|k5_e3|k5_e6|k3_e1|k5_e1|k5_e3|k5_e6|"
      "k5_e1|k5_e6|k5_e6|k3_e6";
  const std::string c =
      "k3_e1|k3_e6|skip|k3_e1|k3_e1|k5_e6|k5_e3|k5_e6|k3_e6|k5_e6|k5_e3|k5_e6|k5_e6|k5_e6|k5_e6|k5_e6|k5_e3|k5_e6|"
      "k5_e6|k5_e6|k5_e6|k3_e6";
  EXPECT_NEAR(static_cast<double>(flops(fbnet(), a)), 249e6, 0.01 * 249e6);
  EXPECT_NEAR(static_cast<double>(flops(fbnet(), b)), 295e6, 0.01 * 295e6);
  EXPECT_NEAR(static_cast<double>(flops(fbnet(), c)), 375e6, 0.03 * 375e6);
  EXPECT_EQ(parameters(fbnet(), c), 5'572'200);
}

TEST(OnceForAll, HasTwentyBlocksAndAResolution) {
  EXPECT_EQ(&known_space("ofa"), &ofa());
  std::vector<int> decisions;
  for (int unit = 0; unit < 5; ++unit) decisions.insert(decisions.end(), {9, 9, 10, 10});
  decisions.push_back(25);
  EXPECT_EQ(ofa().decisions(), decisions);
}

// MobileNetV3-Large (Howard et al., ICCV 2019, table 1) with the templates of `ofa`, its own expansions and a
// classifier with bias: 219 M multiply-adds in the paper's table 3, and 5,483,032 parameters in torchvision.
TEST(OnceForAll, ItsOptionsFitEachOtherAtEveryResolution) {
  std::ifstream file(std::string(TENSHOT_SOURCE_DIR) + "/nasbench/spaces/shipped/ofa.json");
  nlohmann::json definition = nlohmann::json::parse(file);
  definition["name"] = "checked";
  EXPECT_NO_THROW(layered_space(definition, "checked.json")) << "which is looked at when files are read alone";
}

TEST(OnceForAll, TemplatesMakeMobileNetV3Large) {
  nlohmann::json definition =
      nlohmann::json::parse(std::ifstream(std::string(TENSHOT_SOURCE_DIR) + "/nasbench/spaces/shipped/ofa.json"));
  definition["name"] = "mobilenet-v3-large";
  definition.erase("resolution");
  definition.erase("option_sets");
  definition["layers"] = nlohmann::json::array();
  struct Row {
    int kernel;
    double expansion;
    int out, stride;
    bool squeeze_excite;
    const char* act;
  };
  for (const Row& row : std::vector<Row>{{3, 4, 24, 2, false, "relu"},
                                         {3, 3, 24, 1, false, "relu"},
                                         {5, 3, 40, 2, true, "relu"},
                                         {5, 3, 40, 1, true, "relu"},
                                         {5, 3, 40, 1, true, "relu"},
                                         {3, 6, 80, 2, false, "hard_swish"},
                                         {3, 2.5, 80, 1, false, "hard_swish"},
                                         {3, 2.3, 80, 1, false, "hard_swish"},
                                         {3, 2.3, 80, 1, false, "hard_swish"},
                                         {3, 6, 112, 1, true, "hard_swish"},
                                         {3, 6, 112, 1, true, "hard_swish"},
                                         {5, 6, 160, 2, true, "hard_swish"},
                                         {5, 6, 160, 1, true, "hard_swish"},
                                         {5, 6, 160, 1, true, "hard_swish"}}) {
    definition["layers"].push_back(
        {{"out", row.out},
         {"stride", row.stride},
         {"act", row.act},
         {"squeeze_excite", row.squeeze_excite},
         {"options",
          {{{"name", "block"}, {"template", "block"}, {"kernel", row.kernel}, {"expansion", row.expansion}}}}});
  }
  definition["head"][2] = {{"kind", "linear"}, {"channels", 1280}, {"activation", "hard_swish"}};
  const LayeredSpace& space = layered_space(definition, "mobilenet.json");
  EXPECT_EQ(parameters(space, space.example()), 5'483'032);
  EXPECT_NEAR(static_cast<double>(flops(space, space.example())), 219e6, 0.015 * 219e6);
}

/// The page's example of that number.
const LayeredSpace& documented_space(int number) {
  std::ifstream file(std::string(TENSHOT_SOURCE_DIR) + "/nasbench/spaces/README.md");
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::size_t begin = 0;
  for (int i = 0; i < number; ++i) begin = text.find("```json", begin) + 7;
  return layered_space(nlohmann::json::parse(text.substr(begin, text.find("```", begin) - begin)), "README.md");
}

TEST(Documentation, ItsExamplesAreSpaces) {
  const LayeredSpace& mobile = documented_space(1);
  EXPECT_EQ(mobile.size(), 1'953'125U);
  EXPECT_NO_THROW(mobile.parse("k3_e3|pool|k5_e6|k3_e3|k3_e3|pool|k5_e3|k5_e3|k3_e6"));
  const LayeredSpace& pyramid = documented_space(2);
  EXPECT_EQ(pyramid.size(), 27U);
  EXPECT_EQ(pyramid.computation(pyramid.parse("depth2|depth1|w0.75"), pyramid.default_shape(), 1).outputs.size(), 2U);
}

/// Reads the architectures of a public table.
class PublicTable : public testing::TestWithParam<const char*> {};

TEST_P(PublicTable, EveryString_ParsesAndReadsBack) {
  const char* tables = std::getenv("TENSHOT_TABLES");
  if (tables == nullptr) GTEST_SKIP() << "needs the tables of HELP (Lee et al., NeurIPS 2021) in TENSHOT_TABLES";
  const NetworkSpace& space = known_space(GetParam());
  std::ifstream table(std::string(tables) + "/help-" + GetParam() + "/latency_ms.csv");
  std::string line;
  std::getline(table, line);
  int rows = 0;
  for (; std::getline(table, line); ++rows) {
    const std::size_t begin = line.find(',') + 1;
    const std::string text = line.substr(begin, line.find(',', begin) - begin);
    const Architecture architecture = space.parse(text);
    ASSERT_EQ(space.format(architecture), text);
    ASSERT_GT(space.flop_count(architecture, space.default_shape()), 0);
  }
  EXPECT_EQ(rows, 5000);
}

INSTANTIATE_TEST_SUITE_P(Shipped, PublicTable, testing::Values("fbnet", "ofa"));

}  // namespace
}  // namespace tenshot::nasbench
