#include <gtest/gtest.h>

#include "tests/unit/nasbench/graph/crafted_onnx.h"

// What depends on the data is left out and named.

namespace tenshot::nasbench {
namespace {

/// Features, their boxes that are not 0, and what is made of those.
Model with_a_length_from_the_data() {
  Model model;
  model.input("x", {1, 16}).weights("w", {16, 8}).output("y");
  model.node("MatMul", {"x", "w"}, {"features"});
  model.node("NonZero", {"features"}, {"places"});
  model.node("Neg", {"places"}, {"y"});
  return model;
}

TEST(OnnxLeftOut, WhatFollowsALengthThatDependsOnTheDataIsLeftOutAndNamed) {
  const Network network = read(with_a_length_from_the_data());
  EXPECT_EQ(lines(network), std::vector<std::string>{"linear 1x16 -> 1x8 float32"});
  EXPECT_EQ(network.outputs, std::vector<Source>{(Source{0, 0})});
  ASSERT_EQ(network.remarks.size(), 1U);
  EXPECT_NE(network.remarks[0].find("NonZero 'n_places' (at most 8) depends on the data"), std::string::npos);
  EXPECT_NE(network.remarks[0].find("1 operator that reads it (Neg)"), std::string::npos);
}

TEST(OnnxLeftOut, WhereNothingFollowsItTheLengthAloneIsLeftOut) {
  Model model;
  model.input("x", {1, 16}).weights("w", {16, 8}).output("places");
  model.node("MatMul", {"x", "w"}, {"features"});
  model.node("NonZero", {"features"}, {"places"});
  EXPECT_EQ(read(model).remarks,
            std::vector<std::string>{"the length of the output of NonZero 'n_places' (at most 8) depends on the data; "
                                     "it is left out"});
}

TEST(OnnxLeftOut, ConstantOutputsAreNamed) {
  Model model;  // as detectors give the boxes that their image is searched at
  model.input("x", {1, 16}).weights("w", {16, 8}).weights("boxes", {100, 4}).output("y").output("priors");
  model.node("MatMul", {"x", "w"}, {"y"});
  model.node("Identity", {"boxes"}, {"priors"});
  const Network network = read(model);
  EXPECT_EQ(network.outputs.size(), 1U);
  EXPECT_EQ(network.remarks, std::vector<std::string>{"output 'priors' is a constant: nothing computes it"});
}

TEST(OnnxLeftOut, WhatAConstantConditionTakesIsCounted) {
  Model model;
  model.input("x", {4, 6}).output("rows").output("some");
  TensorProto& condition = *model.graph().add_initializer();
  condition.set_name("condition");
  condition.set_data_type(TensorProto::BOOL);
  condition.add_dims(4);
  for (const int truth : {1, 0, 1, 1}) condition.add_int32_data(truth);
  set_integer(model.node("Compress", {"x", "condition"}, {"rows"}), "axis", -2);
  model.node("Compress", {"x", "condition"}, {"some"});
  const Network network = read(model);
  EXPECT_EQ(tensor_type(network, network.outputs.at(0)).shape, (Shape{3, 6}));
  EXPECT_EQ(tensor_type(network, network.outputs.at(1)).shape, Shape{3});
}

TEST(OnnxLeftOut, ABodyThatReadsALengthFromTheDataIsLeftOutWithIt) {
  Model model = with_a_length_from_the_data();
  model.output("z");
  onnx::NodeProto& custom = model.node("Custom", {"x"}, {"z"});
  custom.set_domain("own");
  onnx::GraphProto& graph = body(custom, "body");
  add(graph, "Neg", {"places"}, "inner");
  graph.add_output()->set_name("inner");
  const Network network = read(model);
  EXPECT_EQ(lines(network), std::vector<std::string>{"linear 1x16 -> 1x8 float32"});
  EXPECT_NE(network.remarks.at(0).find("2 operators that read it (Custom, Neg)"), std::string::npos);
}

TEST(OnnxLeftOut, AWeightThatSeveralReadersLeaveOutCountsOnce) {
  Model model = with_a_length_from_the_data();  // 128 weights are read
  model.weights("v", {8, 8});
  for (const char* name : {"p", "q", "r"}) {
    model.output(name);
    model.node("MatMul", {"places", "v"}, {name});
  }
  const Network network = read(model);
  EXPECT_NE(network.remarks.at(0).find("left out, with 33 % of the weights"), std::string::npos) << network.remarks[0];
}

TEST(OnnxLeftOut, ConstantNodesAreWeightsOfWhichAShareIsLeftOut) {
  Model model;
  model.input("x", {1, 8}).weights("few", {2, 8}).output("y");
  add_weights(model.graph(), "w");
  model.node("MatMul", {"x", "w"}, {"features"});
  model.node("NonZero", {"features"}, {"places"});
  model.node("MatMul", {"places", "few"}, {"y"});
  const Network network = read(model);
  EXPECT_NE(network.remarks.at(0).find("left out, with 20 % of the weights"), std::string::npos) << network.remarks[0];
}

TEST(OnnxLeftOut, WhatStandsBeforeALengthInTheMiddleIsRead) {  // as of detectors of two stages
  Model model = with_a_length_from_the_data();
  model.weights("head", {8, 64}).output("z");
  model.node("MatMul", {"places", "head"}, {"z"});
  const Network network = read(model);
  EXPECT_EQ(lines(network), std::vector<std::string>{"linear 1x16 -> 1x8 float32"});
  EXPECT_NE(network.remarks.at(0).find("left out, with 80 % of the weights"), std::string::npos) << network.remarks[0];
}

TEST(OnnxLeftOut, ANetworkOfWhichMostWouldBeLeftOutIsRefused) {
  Model model = with_a_length_from_the_data();
  model.weights("large", {100, 100}).output("z");
  model.node("Cast", {"places"}, {"reals"}).add_attribute()->set_name("to");
  model.node("MatMul", {"reals", "large"}, {"z"});
  expect_refusal(model, {"depends on the data", "99 % of the weights", "too much"});
  model.graph().mutable_initializer(1)->set_dims(0, 1000);
  expect_refusal(model, {"100 % of the weights"});
}

/// A body that weighs x by 100×100 numbers of its own.
void add_large_body(onnx::NodeProto& node) {
  onnx::GraphProto& graph = body(node, "decoder");
  TensorProto& large = *graph.add_initializer();
  large.set_name("large");
  large.set_data_type(TensorProto::FLOAT);
  for (int i = 0; i < 2; ++i) large.add_dims(100);
  large.set_data_location(TensorProto::EXTERNAL);
  add(graph, "MatMul", {"x", "large"}, "inner");
  graph.add_output()->set_name("inner");
}

TEST(OnnxLeftOut, WeightsOfABodyAreWeightsThatAreLeftOutWithIt) {
  Model model = with_a_length_from_the_data();
  model.output("z");
  onnx::NodeProto& custom = model.node("Custom", {"places"}, {"z"});
  custom.set_domain("own");
  add_large_body(custom);
  expect_refusal(model, {"(Custom, Neg), with 99 % of the weights", "too much"});
}

TEST(OnnxLeftOut, ASearchThatHoldsAllWeightsIsRefused) {
  OneNode one("BeamSearch", {1, 8}, {"x"});
  one.node->set_domain("com.microsoft");
  add_large_body(*one.node);
  expect_refusal(one.model, {"BeamSearch", "100 % of the weights", "too much"});
}

TEST(OnnxLeftOut, WeightsOfABodyThatNobodyUnderstandsAreSaid) {
  OneNode one("Custom", {1, 8}, {"x"});
  one.node->set_domain("own");
  one.model.value("y", {1, 8});
  add_large_body(*one.node);
  const Network network = read(one.model);
  EXPECT_EQ(parameter_count(network), 100 * 100);
  EXPECT_NE(network.remarks.back().find("own.Custom; they hold 100 % of the bytes of all weights"), std::string::npos);
}

}  // namespace
}  // namespace tenshot::nasbench
