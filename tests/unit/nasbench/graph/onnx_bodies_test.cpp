#include <gtest/gtest.h>

#include "tests/unit/nasbench/graph/crafted_onnx.h"

namespace tenshot::nasbench {
namespace {

Shape output_of(const Network& network) { return tensor_type(network, network.outputs.at(0)).shape; }

/// x, 1×16, is weighed by "large", of 16×64, or by "small", of 16×4, where `condition` says so.
Model two_branches(const std::string& condition) {
  Model model;
  model.input("x", {1, 16}).weights("large", {16, 64}).weights("small", {16, 4}).output("y");
  onnx::NodeProto& node = model.node("If", {condition}, {"y"});
  onnx::GraphProto &yes = body(node, "then_branch"), &no = body(node, "else_branch");
  add(yes, "MatMul", {"x", "small"}, "s");
  yes.add_output()->set_name("s");
  add(no, "MatMul", {"x", "large"}, "l");
  no.add_output()->set_name("l");
  return model;
}

TEST(OnnxBodies, AConstantConditionChoosesItsBranch) {
  for (const bool truth : {true, false}) {
    Model model = two_branches("c");
    TensorProto& condition = *model.graph().add_initializer();
    condition.set_name("c");
    condition.set_data_type(TensorProto::BOOL);
    condition.add_int32_data(truth ? 1 : 0);
    EXPECT_EQ(output_of(read(model)), (Shape{1, truth ? 4 : 64}));
    EXPECT_TRUE(read(model).remarks.empty());
  }
}

TEST(OnnxBodies, BranchesOfOneShapeCountAsTheOneThatComputesMore) {
  Model model;
  model.input("x", {1, 16}).input("c", {}, TensorProto::BOOL).weights("w", {16, 16}).output("y");
  model.graph().mutable_input(1)->mutable_type()->mutable_tensor_type()->mutable_shape();
  onnx::NodeProto& node = model.node("If", {"c"}, {"y"});
  onnx::GraphProto &yes = body(node, "then_branch"), &no = body(node, "else_branch");
  add(yes, "MatMul", {"x", "w"}, "weighed");
  yes.add_output()->set_name("weighed");
  add(no, "Neg", {"x"}, "negated");
  no.add_output()->set_name("negated");
  const Network network = read(model);
  EXPECT_EQ(multiply_adds(network), 16 * 16);
  ASSERT_EQ(network.remarks.size(), 1U);
  EXPECT_NE(network.remarks[0].find("the branch that computes more is counted"), std::string::npos);
}

/// x is weighed `count` times by the same matrix; "all" has every state.
Model loop(std::int64_t count) {
  Model model;
  model.input("x", {1, 16}).weights("w", {16, 16}).output("last").output("all");
  TensorProto& most = *model.graph().add_initializer();
  most.set_name("count");
  most.set_data_type(TensorProto::INT64);
  most.add_int64_data(count);
  onnx::NodeProto& node = model.node("Loop", {"count", "", "x"}, {"last", "all"});
  onnx::GraphProto& graph = body(node, "body");
  for (const char* name : {"i", "goes_on", "state"}) graph.add_input()->set_name(name);
  add(graph, "MatMul", {"state", "w"}, "next");
  add(graph, "Identity", {"goes_on"}, "still");
  add(graph, "Identity", {"next"}, "seen");
  for (const char* name : {"still", "next", "seen"}) graph.add_output()->set_name(name);
  return model;
}

TEST(OnnxBodies, ALoopOfKnownLengthRunsThatOften) {
  const Network network = read(loop(10));
  EXPECT_EQ(multiply_adds(network), 10 * 16 * 16);
  EXPECT_EQ(parameter_count(network), 16 * 16);
  EXPECT_EQ(tensor_type(network, network.outputs[0]).shape, (Shape{1, 16}));
  EXPECT_EQ(tensor_type(network, network.outputs[1]).shape, (Shape{10, 1, 16}));
}

TEST(OnnxBodies, ALoopThatRunsWithoutEndIsRefused) {
  expect_refusal(loop(std::int64_t{1} << 40), {"Loop 'n_last'", "with the iterations of its loops", "150000 nodes"});
}

/// The body of a Scan whose state is weighed after each element was added; it gives every state.
void scan_weighted_sums(onnx::NodeProto& node) {
  set_integer(node, "num_scan_inputs", 1);
  onnx::GraphProto& graph = body(node, "body");
  for (const char* name : {"state", "step"}) graph.add_input()->set_name(name);
  add(graph, "Add", {"state", "step"}, "sum");
  add(graph, "MatMul", {"sum", "w"}, "next");
  add(graph, "Identity", {"next"}, "seen");
  for (const char* name : {"next", "seen"}) graph.add_output()->set_name(name);
}

TEST(OnnxBodies, AScanTakesTheElementsOneAfterTheOther) {
  Model model;
  model.input("h", {4}).input("x", {7, 4}).weights("w", {4, 4}).output("last").output("all");
  onnx::NodeProto& node = model.node("Scan", {"h", "x"}, {"last", "all"});
  scan_weighted_sums(node);
  const Network network = read(model);
  EXPECT_EQ(multiply_adds(network), 7 * 4 * 4);
  EXPECT_EQ(tensor_type(network, network.outputs[1]).shape, (Shape{7, 4}));
}

/// x is weighed while the number of the iteration, plus one, is less than `end`, which is a constant or an input.
Model loop_without_count(bool constant_end) {
  Model model;
  model.input("x", {1, 16}).weights("w", {16, 16}).integers("one", {1}).output("last");
  if (constant_end) model.integers("end", {5});
  if (!constant_end) model.input("end", {1}, TensorProto::INT64);
  model.node("Relu", {"x"}, {"start"});
  onnx::NodeProto& node = model.node("Loop", {"", "", "start"}, {"last"});
  onnx::GraphProto& graph = body(node, "body");
  for (const char* name : {"i", "goes_on", "state"}) graph.add_input()->set_name(name);
  add(graph, "Add", {"i", "one"}, "next_i");
  add(graph, "Less", {"next_i", "end"}, "still");
  add(graph, "MatMul", {"state", "w"}, "next");
  for (const char* name : {"still", "next"}) graph.add_output()->set_name(name);
  return model;
}

TEST(OnnxBodies, ALoopWithoutACountRunsAsLongAsItsConditionHolds) {
  EXPECT_EQ(multiply_adds(read(loop_without_count(true))), 5 * 16 * 16);
  const Network network = read(loop_without_count(false));
  EXPECT_EQ(multiply_adds(network), 16 * 16);
  ASSERT_EQ(network.remarks.size(), 1U);
  EXPECT_NE(network.remarks[0].find("the data say how often Loop 'n_last' runs: one iteration is counted"),
            std::string::npos)
      << network.remarks[0];
}

TEST(OnnxBodies, ALoopWhoseCountIsAnInputCountsOnce_AndWhatItGathersIsLeftOut) {
  Model model = loop(1);
  model.graph().clear_initializer();
  model.weights("w", {16, 16}).input("count", {1}, TensorProto::INT64);
  const Network network = read(model);
  EXPECT_EQ(multiply_adds(network), 16 * 16);
  EXPECT_EQ(parameter_count(network), 16 * 16);
  ASSERT_EQ(network.remarks.size(), 2U);
  EXPECT_NE(network.remarks[0].find("one iteration is counted"), std::string::npos) << network.remarks[0];
  EXPECT_NE(network.remarks[1].find("output of Loop 'n_last' depends on the data; it is left out"), std::string::npos)
      << network.remarks[1];
}

TEST(OnnxBodies, WhatIsRemarkedInEachIterationIsSaidOnce) {
  Model model = loop(10);
  onnx::GraphProto& graph = *model.graph().mutable_node(0)->mutable_attribute(0)->mutable_g();
  model.input("c", {}, TensorProto::BOOL);
  model.graph().mutable_input(1)->mutable_type()->mutable_tensor_type()->mutable_shape();
  onnx::NodeProto& choice = add(graph, "If", {"c"}, "chosen");
  for (const char* branch : {"then_branch", "else_branch"}) {
    onnx::GraphProto& inner = body(choice, branch);
    add(inner, branch[0] == 't' ? "Relu" : "Tanh", {"next"}, branch);
    inner.add_output()->set_name(branch);
  }
  graph.mutable_output(1)->set_name("chosen");
  const Network network = read(model);
  EXPECT_EQ(multiply_adds(network), 10 * 16 * 16);
  EXPECT_EQ(network.remarks.size(), 1U);
}

TEST(OnnxBodies, WeightsOfABodyMayBeSparse) {
  for (const int stored : {3, 5000}) {  // 5,000 numbers and their places are more than the reader keeps
    Model model = loop(10);
    onnx::GraphProto& graph = *model.graph().mutable_node(0)->mutable_attribute(0)->mutable_g();
    set_sparse(*graph.add_sparse_initializer(), "own", {16, 16}, stored);
    graph.mutable_node(0)->set_input(1, "own");
    EXPECT_EQ(multiply_adds(read(model)), 10 * 16 * 16);
    EXPECT_EQ(parameter_count(read(model)), 16 * 16);
  }
}

TEST(OnnxBodies, AnElementOfASequenceReadsItsOwnBytes) {
  Model model;
  model.input("h", {8}).input("x", {1000, 8}).output("last").output("all");
  onnx::NodeProto& node = model.node("Scan", {"h", "x"}, {"last", "all"});
  set_integer(node, "num_scan_inputs", 1);
  onnx::GraphProto& graph = body(node, "body");
  for (const char* name : {"state", "element"}) graph.add_input()->set_name(name);
  add(graph, "Add", {"state", "element"}, "sum");
  add(graph, "Neg", {"sum"}, "given");
  for (const char* name : {"sum", "given"}) graph.add_output()->set_name(name);
  std::int64_t bytes = 0, elements = 0;
  for (const NetworkNode& step : read(model).nodes) {
    if (step.operation.kind != OperatorKind::split) continue;
    bytes += read_bytes(step.operation, input_bytes(step.operation));
    ++elements;
  }
  EXPECT_EQ(elements, 1000);
  EXPECT_EQ(bytes, 1000 * 8 * 4);
}

TEST(OnnxBodies, AScanOfOpset8HasABatchOfSequences) {
  Model model(8);
  model.input("h", {2, 4}).input("x", {2, 7, 4}).weights("w", {4, 4}).output("last").output("all");
  onnx::NodeProto& node = model.node("Scan", {"", "h", "x"}, {"last", "all"});
  scan_weighted_sums(node);
  const Network network = read(model);
  EXPECT_EQ(multiply_adds(network), 2 * 7 * 4 * 4);
  EXPECT_EQ(tensor_type(network, network.outputs[0]).shape, (Shape{2, 4}));
  EXPECT_EQ(tensor_type(network, network.outputs[1]).shape, (Shape{2, 7, 4}));
}

TEST(OnnxBodies, ASequenceIsMappedTensorByTensor) {
  Model model(17);
  model.input("a", {2, 6}).input("b", {3, 6}).weights("w", {6, 4}).output("y");
  model.node("SequenceConstruct", {"a", "b"}, {"both"});
  onnx::GraphProto& graph = body(model.node("SequenceMap", {"both"}, {"weighed"}), "body");
  graph.add_input()->set_name("one");
  add(graph, "MatMul", {"one", "w"}, "product");
  graph.add_output()->set_name("product");
  set_integer(model.node("ConcatFromSequence", {"weighed"}, {"y"}), "axis", 0);
  const Network network = read(model);
  EXPECT_EQ(multiply_adds(network), (2 + 3) * 6 * 4);
  EXPECT_EQ(output_of(network), (Shape{5, 4}));
}

TEST(OnnxBodies, ABodyMayGiveNamesThatTheGraphAroundItGivesToo) {
  Model model;
  model.input("x", {7, 4}).input("start", {4}).weights("w", {4, 4}).output("h").output("all");
  onnx::NodeProto& node = model.node("Scan", {"start", "x"}, {"h", "all"});
  set_integer(node, "num_scan_inputs", 1);
  onnx::GraphProto& graph = body(node, "body");
  for (const char* name : {"h", "step"}) graph.add_input()->set_name(name);
  add(graph, "MatMul", {"h", "w"}, "next");
  add(graph, "Add", {"next", "step"}, "all");
  for (const char* name : {"next", "all"}) graph.add_output()->set_name(name);
  EXPECT_EQ(multiply_adds(read(model)), 7 * 4 * 4);
}

TEST(OnnxBodies, WeightsOfOneNameInTwoLoopsAreTwo) {
  Model model = loop(3);
  model.graph().mutable_node(0)->mutable_attribute(0)->mutable_g()->add_initializer()->CopyFrom(
      model.graph().initializer(0));
  onnx::NodeProto& second = *model.graph().add_node();
  second.CopyFrom(model.graph().node(0));
  second.set_input(2, "last");
  second.set_output(0, "last2");
  second.set_output(1, "all2");
  model.output("last2");
  EXPECT_EQ(parameter_count(read(model)), 2 * 16 * 16);
}

TEST(OnnxBodies, SequencesAreSplitAndJoined) {
  Model model;
  model.input("x", {1, 6, 4}).integers("two", {2}).output("y");
  TensorProto& place = *model.graph().add_initializer();
  place.set_name("last");
  place.set_data_type(TensorProto::INT64);
  place.add_int64_data(-1);
  model.graph().mutable_initializer(0)->clear_dims();
  set_integer(model.node("SplitToSequence", {"x", "two"}, {"parts"}), "axis", 1);
  model.node("SequenceAt", {"parts", "last"}, {"part"});
  model.node("SequenceInsert", {"parts", "part"}, {"more"});
  set_integer(model.node("ConcatFromSequence", {"more"}, {"y"}), "axis", 1);
  EXPECT_EQ(lines(read(model)), (std::vector<std::string>{"split 1x6x4 -> 1x2x4 float32",
                                                          "concatenate 1x2x4 1x2x4 1x2x4 1x2x4 -> 1x8x4 float32"}));
}

TEST(OnnxBodies, PartsOfOneHaveNoSuchDimension_AsRuntimesHaveIt) {
  Model model;
  model.input("x", {5, 2, 8}).integers("one", {1}).output("y");
  model.graph().mutable_initializer(0)->clear_dims();
  set_integer(model.node("SplitToSequence", {"x", "one"}, {"parts"}), "keepdims", 0);
  model.node("SequenceAt", {"parts", "one"}, {"y"});
  EXPECT_EQ(tensor_type(read(model), read(model).outputs.at(0)).shape, (Shape{2, 8}));
}

TEST(OnnxBodies, SequencesWithoutEndAreRefused) {
  Model parts;
  parts.input("x", {300'000'000}).output("s");
  parts.node("SplitToSequence", {"x"}, {"s"});
  expect_refusal(parts, {"SplitToSequence", "more than 100000 parts"});
  Model model;
  model.input("x", {4}).integers("count", {10'000}).output("s");
  model.graph().mutable_initializer(0)->clear_dims();
  onnx::NodeProto& empty = model.node("SequenceConstruct", {"x"}, {"empty"});
  onnx::NodeProto& node = model.node("Loop", {"count", "", "empty"}, {"s"});
  EXPECT_EQ(empty.op_type(), "SequenceConstruct");
  onnx::GraphProto& graph = body(node, "body");
  for (const char* name : {"i", "goes_on", "state"}) graph.add_input()->set_name(name);
  add(graph, "Identity", {"goes_on"}, "still");
  add(graph, "SequenceInsert", {"state", "x"}, "more");
  for (const char* name : {"still", "more"}) graph.add_output()->set_name(name);
  expect_refusal(model, {"Loop 'n_s'", "more than 2^24 steps"});
}

TEST(OnnxBodies, OfBranchesOfTwoShapesTheLargerCountsWithWhatStandsBeforeIt) {
  Model model = two_branches("c");
  model.input("c", {}, TensorProto::BOOL).weights("trunk", {16, 16}).output("z");
  model.graph().mutable_input(1)->mutable_type()->mutable_tensor_type()->mutable_shape();
  add(model.graph(), "Neg", {"y"}, "z");
  onnx::NodeProto& condition = *model.graph().mutable_node(0);
  for (int i = 0; i < 2; ++i) condition.mutable_attribute(i)->mutable_g()->mutable_node(0)->set_input(0, "h");
  model.node("MatMul", {"x", "trunk"}, {"h"});
  const Network network = read(model);
  EXPECT_EQ(multiply_adds(network), 16 * 16 + 16 * 64);
  EXPECT_NE(network.remarks.back().find("If 'n_y' depends on the data"), std::string::npos);
}

}  // namespace
}  // namespace tenshot::nasbench
