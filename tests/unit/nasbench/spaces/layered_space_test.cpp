#include "nasbench/spaces/layered_space.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "nasbench/support/error.h"
#include "nasbench/support/json_reader.h"
#include "tests/unit/nasbench/spaces/space_text.h"

namespace tenshot::nasbench {
namespace {

using nlohmann::json;

/// Two layers of two options each on an image of 8 × 8, whose costs are counted by hand below.
const char* const tiny_text = R"({
  "format": "tenshot.space/1", "name": "tiny", "input": {"channels": 3, "resolution": 8}, "classes": 5,
  "templates": {"conv": [{"kind": "convolution", "channels": "out", "kernel": "kernel", "stride": "stride",
                          "activation": "relu"}]},
  "option_sets": {"kernels": [{"name": "k1", "template": "conv", "kernel": 1},
                              {"name": "k3", "template": "conv", "kernel": 3}]},
  "stem": [{"kind": "convolution", "channels": 4}],
  "layers": [{"out": 8, "stride": 2, "options": "kernels"},
             {"out": 8, "options": ["kernels", {"name": "skip", "operators": []}]}],
  "head": [{"kind": "global_pool"}, {"kind": "linear", "channels": "classes"}]})";

json tiny() { return json::parse(tiny_text); }

const LayeredSpace& tiny_space() { return layered_space(tiny(), "tiny.json"); }

TEST(LayeredSpace, DecidesOncePerLayer) {
  EXPECT_EQ(tiny_space().name(), "tiny");
  EXPECT_EQ(tiny_space().decisions(), (std::vector<int>{2, 3}));
  EXPECT_EQ(tiny_space().size(), 6U);
}

TEST(LayeredSpace, Strings_AreOptionNamesJoinedByBars) {
  EXPECT_EQ(tiny_space().parse("k3|skip"), (Architecture{1, 2}));
  for (const Architecture& architecture : tiny_space().all()) {
    EXPECT_EQ(tiny_space().parse(tiny_space().format(architecture)), architecture);
  }
}

TEST(LayeredSpace, StringThatIsNone_IsRefusedWithACorrectOne) {
  for (const char* text : {"", "k3", "k3|skip|k1", "k3|", "k3|k9", "skip|skip", "K3|skip"}) {
    try {
      tiny_space().parse(text);
      FAIL() << text;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("write it like k1|k1"), std::string::npos) << error.what();
    }
  }
}

TEST(LayeredSpace, OperatorList_IsWhatTheNetworkExecutes) {
  const std::vector<std::string> expected = {"convolution 1x3x8x8 -> 1x4x8x8 float32",
                                             "convolution 3x3 stride 2x2 1x4x8x8 -> 1x8x4x4 float32",
                                             "activation relu 1x8x4x4 -> 1x8x4x4 float32",
                                             "global_pool 1x8x4x4 -> 1x8 float32", "linear bias 1x8 -> 1x5 float32"};
  EXPECT_EQ(lines_of(tiny_space(), "k3|skip"), expected);
}

TEST(LayeredSpace, FlopCount_IsTheMultiplyAddsOfItsOperators) {
  // stem 8·8·4·3, layer 4·4·8·4·9, second layer 4·4·8·8, linear 8·5
  EXPECT_EQ(tiny_space().flop_count(tiny_space().parse("k3|k1"), tiny_space().default_shape()), 768 + 4608 + 1024 + 40);
  // twice the resolution, seven classes
  EXPECT_EQ(tiny_space().flop_count(tiny_space().parse("k3|k1"), {16, 7}), 4 * (768 + 4608 + 1024) + 56);
}

TEST(LayeredSpace, Parts_JoinedAreTheOperatorList) {
  const SearchSpace& space = ofa();
  Rng rng(1);
  for (int trial = 0; trial < 20; ++trial) {
    const Architecture architecture = space.random(rng);
    std::vector<OperatorSpecification> joined;
    const auto resolution = static_cast<std::size_t>(architecture[20]);
    Architecture own = architecture;
    own[20] = static_cast<std::uint8_t>(resolution);
    for (const std::uint32_t part : space.operator_parts(own)) {
      for (const OperatorSpecification& operation : space.operator_part(part)) joined.push_back(operation);
    }
    EXPECT_EQ(joined, space.operator_list(architecture));
  }
  EXPECT_THROW(space.operator_part(4'000'000'000U), InputError);
}

TEST(LayeredSpace, OfEqualContent_IsOneObject) {
  EXPECT_EQ(&layered_space(tiny(), "a.json"), &layered_space(tiny(), "b.json"));
  json other = tiny();
  other["classes"] = 6;
  EXPECT_NE(&layered_space(tiny(), "a.json"), &layered_space(other, "a.json"));
}

TEST(LayeredSpace, Definition_ReadsBackAsTheSpace) {
  EXPECT_EQ(&layered_space(json::parse(tiny_space().definition()), "card"), &tiny_space());
  EXPECT_EQ(fbnet().definition(), "") << "a space known by name needs none";
}

TEST(LayeredSpace, Network_HasTheFlopsAndParametersOfItsOperators) {
  for (const Architecture& architecture : tiny_space().all()) {
    const Network network = tiny_space().computation(architecture, tiny_space().default_shape(), 1);
    EXPECT_EQ(multiply_adds(network), tiny_space().flop_count(architecture, tiny_space().default_shape()));
    std::int64_t parameters = 0;
    for (const OperatorSpecification& operation : tiny_space().operator_list(architecture)) {
      parameters += parameter_count(operation);
    }
    EXPECT_EQ(parameter_count(network), parameters);
  }
}

TEST(LayeredSpace, Computation_HasTheOperatorsOfTheListForABatch) {
  const Architecture architecture = ofa().parse(
      "k3_e3|k5_e6|skip|skip|k7_e3|k3_e4|k3_e3|skip|k3_e3|k3_e3|skip|skip|k3_e3|k3_e3|k3_e6|k5_e3|k3_e3|k3_e3|skip|"
      "skip|r132");
  const Network network = ofa().computation(architecture, ofa().default_shape(), 1);
  EXPECT_NO_THROW(require_sound(network));
  EXPECT_EQ(operator_list(network), ofa().operator_list(architecture));
  const Network batch = ofa().computation(architecture, ofa().default_shape(), 4);
  EXPECT_EQ(multiply_adds(batch), 4 * multiply_adds(network));
  EXPECT_EQ(tensor_type(batch, batch.outputs[0]).shape, (Shape{4, 1000}));
}

TEST(LayeredSpace, Resolution_MayBeTheLastDecision) {
  json definition = tiny();
  definition["resolution"] = {8, 16};
  const LayeredSpace& space = layered_space(definition, "tiny.json");
  EXPECT_EQ(space.decisions(), (std::vector<int>{2, 3, 2}));
  const std::int64_t small = space.flop_count(space.parse("k1|k1|r8"), space.default_shape());
  const std::int64_t large = space.flop_count(space.parse("k1|k1|r16"), space.default_shape());
  EXPECT_EQ(large - 40, 4 * (small - 40));
  EXPECT_EQ(space.operator_list(space.parse("k1|k1|r16"))[0].output, (Shape{1, 4, 16, 16}));
}

TEST(LayeredSpace, Branches_JoinBySumOrByChannels) {
  json definition = tiny();
  definition["layers"] = json::parse(R"([{"out": 8, "options": [
    {"name": "both", "operators": [{"kind": "branches", "join": "concatenate", "operators": [
        [{"kind": "convolution", "channels": 2}], [{"kind": "max_pool", "kernel": 3}], [{"kind": "convolution", "channels": 2}]]}]},
    {"name": "sum", "operators": [{"kind": "branches", "join": "add", "operators": [
        [{"kind": "convolution", "channels": 8}], [{"kind": "convolution", "channels": "in*2", "kernel": 3}]]}]}]}])");
  const LayeredSpace& space = layered_space(definition, "tiny.json");
  const std::vector<std::string> both = lines_of(space, "both"), sum = lines_of(space, "sum");
  EXPECT_EQ(both[4], "concatenate 1x2x8x8 1x4x8x8 1x2x8x8 -> 1x8x8x8 float32");
  EXPECT_EQ(sum[3], "add 1x8x8x8 1x8x8x8 -> 1x8x8x8 float32");
}

TEST(LayeredSpace, LargeSpace_ParsesAndAsksForCandidatesInsteadOfAList) {
  json definition = tiny();
  definition["layers"] = json::array({{{"out", 8}, {"repeat", 128}, {"options", "kernels"}}});
  const LayeredSpace& space = layered_space(definition, "tiny.json");
  EXPECT_EQ(space.decisions().size(), 128U);
  EXPECT_FALSE(space.size().has_value());
  Rng rng(1);
  const Architecture architecture = space.random(rng);
  EXPECT_EQ(space.parse(space.format(architecture)), architecture);
  try {
    space.all();
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("candidates"), std::string::npos);
  }
}

TEST(LayeredSpaceFile, WrongChannelChain_IsNamed) {
  json definition = tiny();
  definition["layers"][1]["out"] = 9;
  EXPECT_TRUE(says(definition, {"bad.json", "layers[1], option 'skip'", "gives 8 channels", "'out' is 9"}));
}

TEST(LayeredSpaceFile, OptionsOfUnlikeSizes_AreNamed) {
  json definition = tiny();
  definition["layers"][1]["options"][1] =
      json::parse(R"({"name": "pool", "operators": [{"kind": "max_pool", "stride": 2}]})");
  EXPECT_TRUE(says(definition, {"layers[1], option 'pool'", "gives 2x2", "option 'k1' gives 4x4"}));
}

TEST(LayeredSpaceFile, UnknownNames_AreNamedWithTheKnownOnes) {
  json definition = tiny();
  definition["option_sets"]["kernels"][0]["template"] = "cnov";
  EXPECT_TRUE(says(definition, {"option_sets.kernels[0]", "no template 'cnov'", "there are: conv"}));
  definition = tiny();
  definition["layers"][0]["options"] = "kernel";
  EXPECT_TRUE(says(definition, {"layers[0].options", "no list 'kernel'", "there are: kernels"}));
  definition = tiny();
  definition["head"][0]["kind"] = "globalpool";
  EXPECT_TRUE(says(definition, {"head[0].kind", "no kind 'globalpool'", "global_pool"}));
  definition = tiny();
  definition["stem"][0]["chanels"] = 4;
  EXPECT_TRUE(says(definition, {"stem[0]", "key 'chanels' is unknown", "channels"}));
  definition = tiny();
  definition["stem"][0]["channels"] = "width*2";
  EXPECT_TRUE(says(definition, {"stem[0].channels", "'width'", "known are"}));
  definition = tiny();
  definition["stem"][0]["activation"] = "swich";
  EXPECT_TRUE(says(definition, {"stem[0].activation", "no activation 'swich'", "hard_swish"}));
  definition = tiny();
  definition["laers"] = 1;
  EXPECT_TRUE(says(definition, {"key 'laers' is unknown"}));
}

TEST(LayeredSpaceFile, MissingOrRepeatedOptions_AreNamed) {
  json definition = tiny();
  definition["layers"][0]["options"] = json::array();
  EXPECT_TRUE(says(definition, {"layers[0]", "has no options"}));
  definition = tiny();
  definition["layers"] = json::array();
  EXPECT_TRUE(says(definition, {"layers is empty"}));
  definition = tiny();
  definition["layers"][1]["options"][1]["name"] = "k3";
  EXPECT_TRUE(says(definition, {"layers[1].options[1]", "'k3' names another option"}));
  definition = tiny();
  definition["layers"][1]["options"][1] = {{"name", "empty"}};
  EXPECT_TRUE(says(definition, {"'empty' has neither 'template' nor 'operators'"}));
  definition = tiny();
  definition["layers"][1]["options"][1]["name"] = "a|b";
  EXPECT_TRUE(says(definition, {"layers[1].options[1].name is \"a|b\"", "without blanks"}));
}

TEST(LayeredSpaceFile, TooManyDecisionsOrOptions_AreRefused) {
  json definition = tiny();
  definition["layers"][1]["repeat"] = 128;
  EXPECT_TRUE(says(definition, {"layers[1]", "129 decisions", "at most 128"}));
  definition = tiny();
  for (int i = 0; i < 260; ++i) {
    definition["layers"][1]["options"].push_back({{"name", "o" + std::to_string(i)}, {"operators", json::array()}});
  }
  EXPECT_TRUE(says(definition, {"layers[1]", "263 options", "at most 255"}));
}

TEST(LayeredSpaceFile, NestingBombs_AreRefused) {
  json definition = tiny();
  definition["templates"]["conv"] = json::array({{{"template", "conv"}}});
  EXPECT_TRUE(says(definition, {"templates.conv", "nested in over 16"}));
  definition = tiny();
  for (int level = 0; level < 12; ++level) {  // 8^12 operators in a page
    json list = json::array();
    for (int copy = 0; copy < 8; ++copy) {
      list.push_back(level == 0 ? json{{"kind", "activation"}, {"name", "relu"}}
                                : json{{"template", "t" + std::to_string(level - 1)}});
    }
    definition["templates"]["t" + std::to_string(level)] = list;
  }
  definition["stem"] = json::array({{{"template", "t11"}}});
  EXPECT_TRUE(says(definition, {"make over 1000000 operators"}));
  std::string deep = "[";
  for (int i = 0; i < 100'000; ++i) deep += "[";
  EXPECT_THROW(parse_json(deep, "deep.json"), FormatError);
}

TEST(LayeredSpaceFile, SizesBeyondAnyDevice_AreRefused) {
  json definition = tiny();
  definition["stem"][0]["channels"] = 1e300;
  EXPECT_TRUE(says(definition, {"stem[0].channels", "expected 1 to"}));
  definition = tiny();
  definition["stem"][0]["channels"] = "in*0";
  EXPECT_TRUE(says(definition, {"stem[0].channels is 0"}));
  definition = tiny();
  definition["stem"][0]["channels"] = "in/0";
  EXPECT_TRUE(says(definition, {"stem[0].channels"}));
  definition = tiny();
  definition["input"]["resolution"] = 16384;
  definition["stem"][0]["channels"] = 1 << 20;
  EXPECT_TRUE(says(definition, {"stem[0]", "too large"}));
  definition = tiny();
  definition["stem"][0]["kernel"] = 9;
  definition["stem"][0]["padding"] = 0;
  EXPECT_TRUE(says(definition, {"stem[0]", "leaves nothing"}));
  definition = tiny();
  definition["stem"][0]["groups"] = 2;
  EXPECT_TRUE(says(definition, {"2 groups do not divide 3"}));
}

TEST(LayeredSpaceFile, OfAnotherFormatOrName_IsRefused) {
  json definition = tiny();
  definition["format"] = "tenshot.space/2";
  EXPECT_TRUE(says(definition, {"newer than this tenshot reads"}));
  definition = tiny();
  definition["name"] = "../up";
  EXPECT_TRUE(says(definition, {"name is \"../up\""}));
  definition = tiny();
  definition["name"] = "fbnet";
  EXPECT_TRUE(says(definition, {"name is 'fbnet'", "give the space another name"}));
  EXPECT_TRUE(says(json::array(), {"bad.json"}));
  EXPECT_TRUE(says(json(), {"bad.json"}));
}

}  // namespace
}  // namespace tenshot::nasbench
