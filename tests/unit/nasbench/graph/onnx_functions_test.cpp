#include <google/protobuf/unknown_field_set.h>
#include <gtest/gtest.h>

#include "tests/unit/nasbench/graph/crafted_onnx.h"

namespace tenshot::nasbench {
namespace {

TEST(OnnxFunctions, AFunctionOfTheModelIsReadWhereItIsCalled) {
  Model model;
  model.input("x", {1, 16}).weights("w", {16, 8}).output("y");
  onnx::FunctionProto& function = *model.proto().add_functions();
  function.set_name("layer");
  function.set_domain("own");
  for (const char* name : {"a", "b"}) function.add_input(name);
  function.add_output("c");
  add(function, "MatMul", {"a", "b"}, "product");
  onnx::AttributeProto& slope = *add(function, "LeakyRelu", {"product"}, "c").add_attribute();
  slope.set_name("alpha");
  slope.set_ref_attr_name("slope");
  slope.set_type(onnx::AttributeProto::FLOAT);
  onnx::NodeProto& call = model.node("layer", {"x", "w"}, {"y"});
  call.set_domain("own");
  set_real(call, "slope", 0.25F);
  const Network network = read(model);
  EXPECT_EQ(lines(network),
            (std::vector<std::string>{"linear 1x16 -> 1x8 float32", "activation leaky_relu 1x8 -> 1x8 float32"}));
  EXPECT_EQ(network.nodes[1].attributes.alpha, 0.25);
}

/// A function of x with that name.
onnx::FunctionProto& function(Model& model, const std::string& name) {
  onnx::FunctionProto& added = *model.proto().add_functions();
  added.set_name(name);
  added.set_domain("own");
  added.add_input("a");
  added.add_output("b");
  return added;
}

TEST(OnnxFunctions, WeightsOfOneNameInTwoFunctionsAreTwo_OfAFunctionCalledTwiceOne) {
  Model model;
  model.input("x", {1, 8}).output("y");
  for (const char* name : {"first", "second"}) {
    onnx::FunctionProto& added = function(model, name);
    add_weights(added, "w");
    add(added, "MatMul", {"a", "w"}, "b");
  }
  model.node("first", {"x"}, {"h"}).set_domain("own");
  model.node("second", {"h"}, {"i"}).set_domain("own");
  model.node("second", {"i"}, {"y"}).set_domain("own");
  EXPECT_EQ(parameter_count(read(model)), 64 + 64);
}

TEST(OnnxFunctions, AttributesOfACallReachTheBranchesOfItsFunction) {
  Model model;
  model.input("x", {1, 4, 4}).output("y");
  TensorProto& yes = *model.graph().add_initializer();
  yes.set_name("yes");
  yes.set_data_type(TensorProto::BOOL);
  yes.add_int32_data(1);
  onnx::FunctionProto& chosen = function(model, "chosen");
  chosen.add_input("condition");
  onnx::NodeProto& node = add(chosen, "If", {"condition"}, "b");
  for (const char* branch : {"then_branch", "else_branch"}) {
    onnx::GraphProto& graph = body(node, branch);
    onnx::AttributeProto& axis = *add(graph, "Softmax", {"a"}, "s").add_attribute();
    axis.set_name("axis");
    axis.set_ref_attr_name("along");
    axis.set_type(onnx::AttributeProto::INT);
    graph.add_output()->set_name("s");
  }
  for (const int axis : {1, 2}) {
    onnx::NodeProto& call = model.node("chosen", {axis == 1 ? "x" : "h", "yes"}, {axis == 1 ? "h" : "y"});
    call.set_domain("own");
    set_integer(call, "along", axis);
  }
  const Network network = read(model);
  ASSERT_EQ(network.nodes.size(), 2U);
  EXPECT_EQ(network.nodes[0].attributes.axes, std::vector<std::int64_t>{1});
  EXPECT_EQ(network.nodes[1].attributes.axes, std::vector<std::int64_t>{2});
}

/// Adds a field that libonnx 1.12 does not know.
void add_newer(google::protobuf::Message& message, int field, const std::string& bytes) {
  message.GetReflection()->MutableUnknownFields(&message)->AddLengthDelimited(field, bytes);
}

TEST(OnnxFunctions, AFunctionMayHaveValuesOfAttributesThatItsCallLeavesOut) {
  Model model;
  model.input("x", {2, 3, 4}).output("y");
  onnx::FunctionProto& moved = function(model, "moved");
  onnx::AttributeProto& order = *add(moved, "Transpose", {"a"}, "b").add_attribute();
  order.set_name("perm");
  order.set_ref_attr_name("order");
  order.set_type(onnx::AttributeProto::INTS);
  onnx::NodeProto usual;
  set_integers(usual, "order", {0, 2, 1});
  add_newer(moved, 11, usual.attribute(0).SerializeAsString());
  onnx::NodeProto& call = model.node("moved", {"x"}, {"y"});
  call.set_domain("own");
  EXPECT_EQ(lines(read(model)), std::vector<std::string>{"transpose 2x3x4 -> 2x4x3 float32"});
  set_integers(call, "order", {2, 1, 0});
  EXPECT_EQ(lines(read(model)), std::vector<std::string>{"transpose 2x3x4 -> 4x3x2 float32"});
}

TEST(OnnxFunctions, FunctionsOfOneNameDifferByTheirOverload) {
  Model model;
  model.input("x", {1, 8}).output("y");
  for (const char* type : {"Tanh", "Relu"}) {
    onnx::FunctionProto& added = function(model, "same");
    add(added, type, {"a"}, "b");
    add_newer(added, 13, type);
  }
  for (const auto& [from, to, overload] : {std::tuple("x", "h", "Relu"), std::tuple("h", "y", "Tanh")}) {
    onnx::NodeProto& call = model.node("same", {from}, {to});
    call.set_domain("own");
    add_newer(call, 8, overload);
  }
  EXPECT_EQ(lines(read(model)),
            (std::vector<std::string>{"activation relu 1x8 -> 1x8 float32", "activation tanh 1x8 -> 1x8 float32"}));
}

TEST(OnnxFunctions, AFunctionThatCallsItselfIsRefused) {
  Model model;
  model.input("x", {1, 16}).output("y");
  onnx::FunctionProto& function = *model.proto().add_functions();
  function.set_name("again");
  function.set_domain("own");
  function.add_input("a");
  function.add_output("b");
  add(function, "again", {"a"}, "b").set_domain("own");
  model.node("again", {"x"}, {"y"}).set_domain("own");
  expect_refusal(model, {"nested too deep, or call themselves"});
}

TEST(OnnxFunctions, ACallMayLeaveOutItsLastInputs) {
  Model model;
  model.input("x", {1, 8}).weights("w", {8, 4}).output("y");
  onnx::FunctionProto& layer = function(model, "layer");
  for (const char* name : {"w", "bias"}) layer.add_input(name);
  add(layer, "Gemm", {"a", "w", "bias"}, "b");
  onnx::NodeProto& call = model.node("layer", {"x", "w"}, {"y"});
  call.set_domain("own");
  EXPECT_EQ(lines(read(model)), std::vector<std::string>{"linear 1x8 -> 1x4 float32"});
  call.add_input("");
  EXPECT_EQ(lines(read(model)), std::vector<std::string>{"linear 1x8 -> 1x4 float32"});
}

}  // namespace
}  // namespace tenshot::nasbench
