#include <gtest/gtest.h>

#include "tests/unit/nasbench/graph/crafted_onnx.h"

namespace tenshot::nasbench {
namespace {

/// x, 1×16, is weighed in one branch of a condition; in the other it is cut into rows of 5 numbers.
Model branch_for_other_sizes(const std::string& readable, const std::string& unreadable) {
  Model model;
  model.input("x", {1, 16}).input("c", {}, TensorProto::BOOL).weights("w", {16, 4}).integers("rows", {-1, 5});
  model.graph().mutable_input(1)->mutable_type()->mutable_tensor_type()->mutable_shape();
  model.output("y").output("z");
  onnx::NodeProto& node = model.node("If", {"c"}, {"y"});
  onnx::GraphProto &yes = body(node, readable.c_str()), &no = body(node, unreadable.c_str());
  add(yes, "MatMul", {"x", "w"}, "weighed");
  yes.add_output()->set_name("weighed");
  add(no, "NonZero", {"x"}, "places");  // what is left out before the fault is forgotten with the branch
  add(no, "Neg", {"x"}, "negated");
  add(no, "Reshape", {"negated", "rows"}, "cut");
  no.add_output()->set_name("cut");
  model.node("Neg", {"y"}, {"z"});
  return model;
}

TEST(OnnxBranches, OneThatDoesNotFitTheInputsLeavesTheOther) {
  for (const bool first : {true, false}) {
    const std::string names[] = {"then_branch", "else_branch"};
    const Network network = read(branch_for_other_sizes(names[first ? 0 : 1], names[first ? 1 : 0]));
    EXPECT_EQ(lines(network),
              (std::vector<std::string>{"linear 1x16 -> 1x4 float32", "activation negate 1x4 -> 1x4 float32"}));
    EXPECT_EQ(network.outputs.size(), 2U);
    ASSERT_EQ(network.remarks.size(), 1U) << first;
    EXPECT_NE(network.remarks[0].find("If 'n_y' depends on the data: one branch is counted"), std::string::npos);
    EXPECT_NE(network.remarks[0].find("Reshape"), std::string::npos) << "it says what does not fit";
  }
}

TEST(OnnxBranches, OfWhichNoneFitsAreRefused) {
  Model model = branch_for_other_sizes("then_branch", "else_branch");
  onnx::NodeProto& choice = *model.graph().mutable_node(0);
  *choice.mutable_attribute(0)->mutable_g() = choice.attribute(1).g();
  expect_refusal(model, {"Reshape", "incompatible shapes"});
}

}  // namespace
}  // namespace tenshot::nasbench
