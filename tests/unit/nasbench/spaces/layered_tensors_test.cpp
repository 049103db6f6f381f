// Named tensors, resizing, splitting, widths and depths of layered spaces.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "nasbench/spaces/layered_space.h"
#include "nasbench/support/error.h"
#include "tests/unit/nasbench/spaces/space_text.h"

namespace tenshot::nasbench {
namespace {

using nlohmann::json;

/// A pyramid of two levels on an image of 16 × 16.
const char* const pyramid_text = R"({
  "format": "tenshot.space/1", "name": "pyramid", "input": {"channels": 3, "resolution": 16}, "classes": 5,
  "width": {"multipliers": [0.5, 1], "multiple_of": 4},
  "templates": {"conv": [{"kind": "convolution", "channels": "out", "kernel": 3, "stride": "stride", "repeat": "depth"}]},
  "stem": [{"kind": "convolution", "channels": 8, "as": "image"}],
  "layers": [
    {"out": 16, "template": "conv", "depth": [1, 2], "as": "p1"},
    {"out": 24, "stride": 2, "options": [{"name": "a", "template": "conv", "depth": 1}], "as": "p2"},
    {"operators": [{"kind": "resize", "factor": 2}], "as": "up"},
    {"from": ["up", "p1"], "out": 16, "operators": [{"kind": "convolution", "channels": "out"}], "as": "n1"}],
  "head": [{"kind": "convolution", "from": "n1", "channels": "classes", "as": "large"},
           {"kind": "convolution", "from": "p2", "channels": "classes", "as": "small"}],
  "outputs": ["large", "small"]})";

json pyramid() { return json::parse(pyramid_text); }

/// One option of operators on an image of 8 × 8 with 8 channels.
json with_operators(const char* operators) {
  return {{"format", "tenshot.space/1"},
          {"name", "one"},
          {"input", {{"channels", 8}, {"resolution", 8}}},
          {"layers", {{{"out", 8}, {"options", {{{"name", "only"}, {"operators", json::parse(operators)}}}}}}}};
}

std::vector<std::string> lines_of(const json& definition, const std::string& text) {
  return nasbench::lines_of(layered_space(definition, "space.json"), text);
}

TEST(LayeredTensors, Pyramid_IsItsOperators) {
  const std::vector<std::string> expected = {"convolution 1x3x16x16 -> 1x8x16x16 float32",
                                             "convolution 3x3 1x8x16x16 -> 1x16x16x16 float32",
                                             "convolution 3x3 1x16x16x16 -> 1x16x16x16 float32",
                                             "convolution 3x3 stride 2x2 1x16x16x16 -> 1x24x8x8 float32",
                                             "resize 1x24x8x8 -> 1x24x16x16 float32",
                                             "concatenate 1x24x16x16 1x16x16x16 -> 1x40x16x16 float32",
                                             "convolution 1x40x16x16 -> 1x16x16x16 float32",
                                             "convolution 1x16x16x16 -> 1x5x16x16 float32",
                                             "convolution 1x24x8x8 -> 1x5x8x8 float32"};
  EXPECT_EQ(lines_of(pyramid(), "depth2|a|w1"), expected);
}

TEST(LayeredTensors, Width_ScalesAndRoundsEveryPlainWidth) {
  // 8, 16 and 24 halved are 4, 8 and 12; the classes are no width. At multiples of 8, 12 becomes 16.
  const std::vector<std::string> lines = lines_of(pyramid(), "depth1|a|w0.5");
  EXPECT_EQ(lines[0], "convolution 1x3x16x16 -> 1x4x16x16 float32");
  EXPECT_EQ(lines[2], "convolution 3x3 stride 2x2 1x8x16x16 -> 1x12x8x8 float32");
  EXPECT_EQ(lines[6], "convolution 1x8x16x16 -> 1x5x16x16 float32");
  json definition = pyramid();
  definition["width"] = {0.5, 1};
  EXPECT_EQ(lines_of(definition, "depth1|a|w0.5")[2], "convolution 3x3 stride 2x2 1x8x16x16 -> 1x16x8x8 float32");
  definition["stem"][0]["scaled"] = false;
  definition["layers"][0]["scaled"] = false;
  EXPECT_EQ(lines_of(definition, "depth1|a|w0.5")[1], "convolution 3x3 1x8x16x16 -> 1x16x16x16 float32");
}

TEST(LayeredTensors, Decisions_AreThoseOfLayersThenWidthThenResolution) {
  json definition = pyramid();
  definition["resolution"] = {16, 32, 48};
  const LayeredSpace& space = layered_space(definition, "space.json");
  EXPECT_EQ(space.decisions(), (std::vector<int>{2, 1, 2, 3}));
  EXPECT_EQ(space.size(), 12U);
  EXPECT_EQ(space.encoding_width(), 8U);
  EXPECT_EQ(space.format(space.at(11)), "depth2|a|w1|r48");
  EXPECT_EQ(space.operator_list(space.parse("depth1|a|w1|r48")).front().output, (Shape{1, 8, 48, 48}));
  EXPECT_EQ(space.counted_operations(), (std::vector<std::string>{"depth1", "depth2", "a"}));
  EXPECT_EQ(space.operation_counts(space.parse("depth2|a|w1|r16")), (std::vector<double>{0, 1, 1}));
}

TEST(LayeredTensors, RepeatOfALayer_MayBeADecision) {
  json definition = pyramid();
  definition["layers"][1]["repeat"] = {1, 3};
  const std::vector<std::string> once = lines_of(definition, "depth1|a|x1|w1"),
                                 thrice = lines_of(definition, "depth1|a|x3|w1");
  ASSERT_EQ(thrice.size(), once.size() + 2);
  EXPECT_EQ(thrice[2], "convolution 3x3 stride 2x2 1x16x16x16 -> 1x24x8x8 float32");
  EXPECT_EQ(thrice[3], "convolution 3x3 1x24x8x8 -> 1x24x8x8 float32");
  EXPECT_EQ(thrice[4], thrice[3]);
  const LayeredSpace& space = layered_space(definition, "space.json");
  EXPECT_EQ(space.operation_counts(space.parse("depth1|a|x3|w1")), (std::vector<double>{1, 0, 3, 0, 1}));
}

TEST(LayeredTensors, Split_GivesItsLastPartAndNamesEach) {
  const json definition = with_operators(R"([
    {"kind": "split", "parts": ["in/4", "in/2", 2], "as": ["a", "b", "c"]},
    {"kind": "convolution", "kernel": 3, "as": "d"},
    {"kind": "concatenate", "from": ["d", "b", "a"]}])");
  EXPECT_EQ(lines_of(definition, "only"),
            (std::vector<std::string>{"split 1x8x8x8 -> 1x2x8x8 float32", "convolution 3x3 1x2x8x8 -> 1x2x8x8 float32",
                                      "concatenate 1x2x8x8 1x4x8x8 1x2x8x8 -> 1x8x8x8 float32"}));
  const LayeredSpace& space = layered_space(definition, "space.json");
  const Network network = space.computation(space.parse("only"), space.default_shape(), 3);
  EXPECT_NO_THROW(require_sound(network));
  EXPECT_EQ(network.nodes[0].outputs[1].shape, (Shape{3, 4, 8, 8}));
  EXPECT_EQ(network.nodes[1].inputs[0], (Source{0, 2}));
  EXPECT_EQ(network.nodes[2].inputs, (std::vector<Source>{{1, 0}, {0, 1}, {0, 0}}));
}

TEST(LayeredTensors, NameOfARepeatedOperator_StandsForAllThatItGave) {
  EXPECT_EQ(lines_of(with_operators(R"([
      {"kind": "max_pool", "kernel": 5, "repeat": 2, "as": "pools"},
      {"kind": "convolution", "from": "pools", "channels": 8}])"),
                     "only"),
            (std::vector<std::string>{
                "max_pool 5x5 1x8x8x8 -> 1x8x8x8 float32", "max_pool 5x5 1x8x8x8 -> 1x8x8x8 float32",
                "concatenate 1x8x8x8 1x8x8x8 -> 1x16x8x8 float32", "convolution 1x16x8x8 -> 1x8x8x8 float32"}));
}

TEST(LayeredTensors, Add_SumsNamedTensors) {
  EXPECT_EQ(lines_of(with_operators(R"([{"kind": "convolution", "as": "a"}, {"kind": "convolution", "as": "b"},
                                        {"kind": "add", "from": ["a", "b", "a"]}])"),
                     "only")[3],
            "add 1x8x8x8 1x8x8x8 -> 1x8x8x8 float32");
}

TEST(LayeredTensors, TransposedConvolution_CountsItsInputPositions) {
  const json definition = with_operators(R"([
    {"kind": "transposed_convolution", "channels": 8, "kernel": 2, "stride": 2, "bias": true},
    {"kind": "max_pool", "stride": 2}])");
  EXPECT_EQ(lines_of(definition, "only")[0], "transposed_convolution 2x2 stride 2x2 bias 1x8x8x8 -> 1x8x16x16 float32");
  const LayeredSpace& space = layered_space(definition, "space.json");
  EXPECT_EQ(space.flop_count(space.parse("only"), space.default_shape()), 8 * 8 * 8 * 8 * 2 * 2);
  EXPECT_EQ(
      lines_of(with_operators(R"([{"kind": "transposed_convolution", "kernel": 3, "stride": 2, "output_padding": 1},
                                        {"kind": "max_pool", "stride": 2}])"),
               "only")[0],
      "transposed_convolution 3x3 stride 2x2 1x8x8x8 -> 1x8x16x16 float32");
}

TEST(LayeredTensors, Resize_IsByAFactorOrToASizeInOneOfTwoModes) {
  const json definition = with_operators(R"([{"kind": "resize", "factor": 1.5, "mode": "bilinear"},
                                             {"kind": "resize", "size": ["resolution", 8]}])");
  EXPECT_EQ(lines_of(definition, "only"),
            (std::vector<std::string>{"resize 1x8x8x8 -> 1x8x12x12 float32", "resize 1x8x12x12 -> 1x8x8x8 float32"}));
  const LayeredSpace& space = layered_space(definition, "space.json");
  const Network network = space.computation(space.parse("only"), space.default_shape(), 1);
  EXPECT_EQ(network.nodes[0].attributes.mode, "linear");
  EXPECT_EQ(network.nodes[1].attributes.mode, "nearest");
}

TEST(LayeredTensors, ArchitectureOfAnotherSpace_IsRefused) {
  const LayeredSpace& space = layered_space(pyramid(), "space.json");
  for (const std::size_t decisions : {std::size_t{0}, std::size_t{1}, std::size_t{128}}) {
    EXPECT_THROW(space.operator_list(Architecture(decisions)), InputError);
    EXPECT_THROW(space.operator_parts(Architecture(decisions)), InputError);
    EXPECT_THROW(space.operation_counts(Architecture(decisions)), InputError);
  }
}

TEST(LayeredTensorsFile, UnknownOrLaterTensors_AreNamed) {
  json definition = pyramid();
  definition["layers"][3]["from"] = {"up", "p9"};
  EXPECT_TRUE(says(definition, {"bad.json", "layers[3].from", "no tensor 'p9'", "image, p1, p2, up"}));
  definition = pyramid();
  definition["layers"][2]["from"] = "n1";
  EXPECT_TRUE(
      says(definition, {"layers[2].from", "no tensor 'n1' before this", "layers[3] makes it, which comes later"}));
  definition = pyramid();
  definition["outputs"][1] = "tiny";
  EXPECT_TRUE(says(definition, {"outputs[1]", "no tensor \"tiny\"", "large"}));
  definition = pyramid();
  definition["outputs"] = {"large", "large"};
  EXPECT_TRUE(says(definition, {"outputs[1]", "'large' is an output already"}));
  definition = pyramid();
  definition["layers"][3]["from"] = json::array();
  EXPECT_TRUE(says(definition, {"layers[3].from", "the name of a tensor"}));
  EXPECT_TRUE(says(with_operators(R"([{"kind": "concatenate"}])"), {"layers[0].options[0].operators[0]", "no 'from'"}));
}

TEST(LayeredTensorsFile, TensorsThatDoNotFit_AreNamedWithTheirShapes) {
  json definition = pyramid();
  definition["layers"][3]["from"] = {"p2", "p1"};
  EXPECT_TRUE(says(definition, {"layers[3].from", "'p1' is 8x16x16", "does not fit 12x8x8 of 'p2'"}));
  EXPECT_TRUE(
      says(with_operators(
               R"([{"kind": "convolution", "channels": 4, "as": "a"}, {"kind": "convolution", "channels": 8, "as": "b"},
                                      {"kind": "add", "from": ["b", "a"]}])"),
           {"layers[0].options[0].operators[2].from", "'a' is 4x8x8", "8x8x8 of 'b'"}));
  definition = pyramid();
  definition["resolution"] = {16, 17, 32};  // 17 pixels halved and doubled are 18
  EXPECT_TRUE(says(definition, {"layers[3].from", "'p1' is 8x17x17", "12x18x18 of 'up'"}));
}

TEST(LayeredTensorsFile, NamesTwice_AreRefused) {
  json definition = pyramid();
  definition["layers"][2]["as"] = "p1";
  EXPECT_TRUE(says(definition, {"layers[2].as", "'p1' names another tensor too"}));
  definition = pyramid();
  definition["layers"][1]["as"] = "image";
  EXPECT_TRUE(says(definition, {"layers[1].as", "'image' names another tensor too"}));
  EXPECT_TRUE(
      says(with_operators(R"([{"kind": "split", "as": ["a", "a"]}])"), {"operators[0].as", "'a' names another"}));
  EXPECT_TRUE(says(with_operators(R"([{"kind": "split", "as": ["a"]}])"), {"operators[0].as", "2 names"}));
  EXPECT_TRUE(
      says(with_operators(R"([{"kind": "convolution", "as": ["a"]}])"), {"operators[0].as", "a name of letters"}));
  definition = pyramid();
  definition["layers"][1]["as"] = "a b";
  EXPECT_TRUE(says(definition, {"layers[1].as is \"a b\"", "a name of letters"}));
}

TEST(LayeredTensorsFile, RepeatsOutOfRange_AreRefused) {
  for (const json& repeat : {json(0), json(-1), json(1'000'000'000), json(1e300), json("in*0")}) {
    json definition = pyramid();
    definition["templates"]["conv"][0]["repeat"] = repeat;
    EXPECT_TRUE(says(definition, {"templates.conv[0].repeat", "expected 1 to 128"}));
  }
  json definition = pyramid();
  definition["layers"][2]["repeat"] = 1'000'000'000;
  EXPECT_TRUE(says(definition, {"layers[2]", "1000000002 layers, at most 1000"}));
  definition["layers"][2]["repeat"] = 0;
  EXPECT_TRUE(says(definition, {"layers[2].repeat is 0"}));
  for (const json& repeat : {json(0), json(1'000'000'000), json(1.5), json("x")}) {
    definition["layers"][2]["repeat"] = {1, repeat};
    EXPECT_TRUE(says(definition, {"layers[2].repeat[1]"}));
  }
  definition = pyramid();
  definition["layers"][0]["depth"] = {1, 1};
  EXPECT_TRUE(says(definition, {"layers[0].depth[1]", "each number once"}));
  definition["layers"][0]["depth"] = json::array();
  EXPECT_TRUE(says(definition, {"layers[0].depth", "at least one number"}));
}

TEST(LayeredTensorsFile, WidthsThatAreNone_AreRefused) {
  json definition = pyramid();
  for (const json& width : {json(0), json(-0.5), json(1e9), json("half")}) {
    definition["width"]["multipliers"][1] = width;
    EXPECT_TRUE(says(definition, {"width.multipliers[1]", "a number above 0"}));
  }
  definition["width"]["multipliers"] = {0.5, 0.5};
  EXPECT_TRUE(says(definition, {"width.multipliers[1]", "each multiplier once"}));
  definition["width"]["multipliers"] = json::array();
  EXPECT_TRUE(says(definition, {"width has 0 multipliers"}));
  definition["width"] = {{"multipliers", {1}}, {"multiple_of", 0}};
  EXPECT_TRUE(says(definition, {"width.multiple_of is 0"}));
  definition = pyramid();
  definition["layers"][0]["scaled"] = 0;
  EXPECT_TRUE(says(definition, {"layers[0].scaled is 0", "true or false"}));
  definition["width"] = 0.5;
  EXPECT_TRUE(says(definition, {"width is 0.5", "multipliers"}));
}

TEST(LayeredTensorsFile, WhatNothingTakes_IsNamed) {
  json definition = pyramid();
  definition["outputs"] = {"large"};
  EXPECT_TRUE(says(definition, {"head", "nothing takes what head[1] (convolution) gives"}));
  definition = pyramid();
  definition["layers"][2]["from"] = "image";  // in the place of p2, which the head takes yet
  definition["layers"][2]["operators"] = json::array();
  EXPECT_EQ(complaint(definition), "nothing");
  definition["head"].erase(1);
  definition["outputs"] = {"large"};
  EXPECT_TRUE(says(definition, {"layers[1]", "nothing takes what templates.conv[0] (convolution) gives"}));
  EXPECT_TRUE(says(with_operators(R"([{"kind": "convolution", "as": "a"}, {"kind": "convolution", "kernel": 3},
                                      {"kind": "convolution", "from": "a"}])"),
                   {"layers[0]", "nothing takes what layers[0].options[0].operators[1] (convolution) gives"}));
}

TEST(LayeredTensorsFile, SplitsAndResizesThatDoNotWork_AreRefused) {
  EXPECT_TRUE(says(with_operators(R"([{"kind": "split", "parts": 3}])"),
                   {"operators[0].parts", "together 6 channels", "make up 8"}));
  EXPECT_TRUE(
      says(with_operators(R"([{"kind": "split", "parts": [4, 3]}])"), {"operators[0].parts", "together 7 channels"}));
  EXPECT_TRUE(
      says(with_operators(R"([{"kind": "split", "parts": [9, -1]}])"), {"operators[0].parts", "1 to 8 channels"}));
  EXPECT_TRUE(says(with_operators(R"([{"kind": "split", "parts": 0}])"), {"operators[0].parts is 0"}));
  EXPECT_TRUE(says(with_operators(R"([{"kind": "resize", "factor": 0}])"), {"operators[0].factor is 0"}));
  EXPECT_TRUE(
      says(with_operators(R"([{"kind": "resize", "factor": 1e9}])"), {"operators[0].factor", "expected 1 to 16384"}));
  EXPECT_TRUE(says(with_operators(R"([{"kind": "resize"}])"), {"operators[0]", "neither 'factor' nor 'size'"}));
  EXPECT_TRUE(says(with_operators(R"([{"kind": "resize", "factor": 2, "size": 4}])"), {"both 'factor' and 'size'"}));
  EXPECT_TRUE(says(with_operators(R"([{"kind": "resize", "factor": 2, "mode": "cubic"}])"),
                   {"operators[0].mode", "nearest or bilinear"}));
  EXPECT_TRUE(says(with_operators(R"([{"kind": "transposed_convolution", "padding": 9}])"),
                   {"operators[0]", "leaves nothing"}));
}

TEST(LayeredTensorsFile, LayersThatAreNone_AreRefused) {
  json definition = pyramid();
  definition["layers"][1]["template"] = "conv";
  EXPECT_TRUE(says(definition, {"layers[1]", "both 'options' and a 'template'"}));
  definition = pyramid();
  definition["layers"][0]["kernel"] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  definition["layers"][0]["depth"] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  EXPECT_TRUE(says(definition, {"layers[0]", "256 combinations of options", "at most 255"}));
  definition = pyramid();
  definition["layers"][0]["depth"] = {1, "two"};
  EXPECT_TRUE(says(definition, {"layers[0].depth[1]", "a number"}));
  definition = pyramid();
  definition.erase("width");
  definition["layers"][0]["depth"] = 1;
  definition["layers"][1] = {{"out", 24}, {"stride", 2}, {"template", "conv"}, {"depth", 1}, {"as", "p2"}};
  EXPECT_TRUE(says(definition, {"decide nothing"}));
}

TEST(LayeredTensorsFile, ChannelsThatAreJoinedBeyondCounting_AreRefused) {
  json operators = json::array({{{"kind", "convolution"}, {"channels", 1 << 20}, {"stride", 8}, {"as", "t0"}}});
  for (int i = 1; i < 24; ++i) {
    const std::string before = "t" + std::to_string(i - 1);
    operators.push_back({{"kind", "concatenate"}, {"from", {before, before}}, {"as", "t" + std::to_string(i)}});
  }
  operators.push_back({{"kind", "convolution"}, {"depthwise", true}, {"channels", 8}});
  EXPECT_TRUE(says(with_operators(operators.dump().c_str()), {"operators[5].from", "33554432x1x1", "too large"}));
}

TEST(LayeredTensorsFile, RepeatBombs_AreRefused) {
  json definition = pyramid();
  definition["templates"]["conv"][0] = json::parse(R"({"template": "t0", "repeat": 100})");
  definition["templates"]["t0"] = json::parse(R"([{"template": "t1", "repeat": 128}])");
  definition["templates"]["t1"] = json::parse(R"([{"template": "t2", "repeat": 128}])");
  definition["templates"]["t2"] = json::parse(R"([{"kind": "split", "parts": 2, "repeat": 1}])");
  EXPECT_NE(complaint(definition), "nothing");
  definition["templates"]["t2"] = json::parse(R"([{"kind": "activation", "name": "relu", "repeat": 128}])");
  EXPECT_TRUE(says(definition, {"make over 1000000 operators"}));
}

/// Half of 17 rounded up, twice that, and 17 do not fit; half of 16 and of 32 do. The name is of the stem, what takes
/// it in an option.
TEST(LayeredTensors, WhatFitsAtTheEndsOfTheResolutionsAlone_IsRefused) {
  json space = with_operators(R"([{"kind": "convolution", "channels": 8, "stride": 2},
      {"kind": "resize", "factor": 2, "as": "up"}, {"kind": "add", "from": ["up", "image"]}])");
  space["stem"] = json::parse(R"([{"kind": "convolution", "channels": 8, "as": "image"}])");
  space["input"].erase("resolution");
  space["resolution"] = {16, 32};
  EXPECT_EQ(complaint(space), "nothing");
  space["resolution"] = {16, 17, 32};
  EXPECT_TRUE(says(space, {"17x17", "18x18"}));
}

TEST(LayeredTensors, BlocksThatComputeMoreThanCanBeCounted_AreRefused) {
  json space = with_operators(R"([{"kind": "convolution", "channels": 1048576},
      {"template": "many", "repeat": 100}])");
  space["templates"]["many"] = json::parse(R"([{"kind": "convolution", "channels": 1048576, "repeat": 100}])");
  EXPECT_TRUE(says(space, {"too much to count"}));
}

TEST(LayeredTensors, ARepeatOfALayerIsNoValueOfItsTemplate) {
  json space = pyramid();
  space["templates"]["conv"][0]["repeat"] = "repeat";
  space["layers"][0].erase("depth");
  space["layers"][0]["repeat"] = {1, 2};
  EXPECT_TRUE(says(space, {"repeat"}));
}

TEST(LayeredSpace, OptionsFitEachOtherAtEveryResolution) {
  json space = json::parse(R"({
    "format": "tenshot.space/1", "name": "steps", "input": {"channels": 3, "resolution": 16}, "resolution": [12, 13, 16],
    "layers": [{"out": 8, "stride": 2, "options": [
      {"name": "conv", "operators": [{"kind": "convolution", "channels": 8, "kernel": 3, "stride": 2}]},
      {"name": "pool", "operators": [{"kind": "convolution", "channels": 8}, {"kind": "max_pool", "kernel": 2, "stride": 2}]}]}],
    "head": [{"kind": "global_pool"}, {"kind": "linear", "channels": "classes"}]})");
  EXPECT_TRUE(says(space, {"option 'pool': gives 6x6, option 'conv' gives 7x7"}));
  space["resolution"] = {12, 14, 16};
  EXPECT_EQ(complaint(space), "nothing");
}

}  // namespace
}  // namespace tenshot::nasbench
