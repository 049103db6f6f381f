#include <gtest/gtest.h>

#include <map>

#include "nasbench/graph/operator_products.h"
#include "tests/unit/nasbench/graph/crafted_onnx.h"

// Forms of operators that are rarer than those of onnx_products_test.cpp.

namespace tenshot::nasbench {
namespace {

Shape output_of(const Network& network) { return tensor_type(network, network.outputs.at(0)).shape; }

/// An attention of opset 23, or of com.microsoft, with the inputs and constants of those names.
OneNode attention_of(const std::string& type, const std::map<std::string, std::vector<std::int64_t>>& computed,
                     const std::map<std::string, std::vector<std::int64_t>>& constants,
                     const std::vector<std::string>& inputs) {
  OneNode attention(type, computed.begin()->second, inputs, 23);
  attention.model.graph().clear_input();
  for (const std::string& name : inputs) {
    if (computed.count(name) != 0) attention.model.input(name, computed.at(name));
    if (constants.count(name) != 0) attention.model.weights(name, constants.at(name));
  }
  if (type != "Attention") attention.node->set_domain("com.microsoft");
  return attention;
}

TEST(OnnxForms, QueriesOrKeysOfAnAttentionMayBeConstant) {
  const std::vector<std::int64_t> query = {2, 4, 8, 16}, keys = {2, 4, 10, 16}, values = {2, 4, 10, 24};
  constexpr std::int64_t products = 2 * 4 * 8 * 10 * (16 + 24);
  const std::vector<std::string> names = {"q", "k", "v"};
  EXPECT_EQ(multiply_adds(read(attention_of("Attention", {{"k", keys}, {"v", values}}, {{"q", query}}, names).model)),
            products);
  EXPECT_EQ(multiply_adds(read(attention_of("Attention", {{"q", query}}, {{"k", keys}, {"v", values}}, names).model)),
            products);
}

TEST(OnnxForms, GatherNDOfOneNumberIsAScalar) {
  OneNode gather("GatherND", {4, 8}, {"x", "indices"});
  gather.model.integers("indices", {0, 1});
  EXPECT_EQ(output_of(read(gather.model)), Shape{});
}

TEST(OnnxForms, SoftmaxTakesTheSecondAxisBeforeOpset13) {
  const auto axis = [](std::int64_t opset) {
    return read(OneNode("Softmax", {1, 1000, 7, 7}, {"x"}, opset).model).nodes.back().attributes.axes;
  };
  EXPECT_EQ(axis(12), std::vector<std::int64_t>{1});
  EXPECT_EQ(axis(13), std::vector<std::int64_t>{3});
}

TEST(OnnxForms, ACastMayBeToATypeThatIsNewerThanLibonnx) {
  OneNode cast("Cast", {5, 8}, {"x"});
  set_integer(*cast.node, "to", 17);  // FLOAT8E4M3FN
  EXPECT_EQ(lines(read(cast.model)), std::vector<std::string>{"activation cast 5x8 -> 5x8 int8"});
}

TEST(OnnxForms, ThePastOfAnAttentionMayHaveValuesOfAnotherSize) {
  const OneNode attention = attention_of("Attention",
                                         {{"q", {2, 4, 1, 16}},
                                          {"k", {2, 4, 1, 16}},
                                          {"v", {2, 4, 1, 24}},
                                          {"pk", {2, 4, 31, 16}},
                                          {"pv", {2, 4, 31, 24}}},
                                         {}, {"q", "k", "v", "", "pk", "pv"});
  EXPECT_EQ(multiply_adds(read(attention.model)), 2 * 4 * 1 * 32 * (16 + 24));
}

TEST(OnnxForms, GroupedQueriesHaveTheirKeysBehindThemOrBesideThem) {
  // 4 heads of queries and 2 of keys, of 16 each; a table of angles is as long as the queries are wide.
  OneNode packed =
      attention_of("GroupQueryAttention", {{"q", {2, 1, 128}}, {"pk", {2, 2, 7, 16}}, {"pv", {2, 2, 7, 16}}},
                   {{"cos", {64, 8}}, {"sin", {64, 8}}}, {"q", "", "", "pk", "pv", "", "", "cos", "sin"});
  OneNode beside = attention_of(
      "GroupQueryAttention",
      {{"q", {2, 1, 64}}, {"k", {2, 1, 32}}, {"v", {2, 1, 32}}, {"pk", {2, 2, 7, 16}}, {"pv", {2, 2, 7, 16}}},
      {{"cos", {64, 8}}, {"sin", {64, 8}}}, {"q", "k", "v", "pk", "pv", "", "", "cos", "sin"});
  for (OneNode* attention : {&packed, &beside}) {
    set_integer(*attention->node, "num_heads", 4);
    set_integer(*attention->node, "kv_num_heads", 2);
    const Network network = read(attention->model);
    EXPECT_EQ(output_of(network), (Shape{2, 1, 64}));
    EXPECT_EQ(multiply_adds(network), 2 * (2 * 64 * 8));
  }
}

TEST(OnnxForms, AnAttentionOfShapesThatMakeNoSenseHasNone) {
  OperatorSpecification attention;  // as a file of networks may say
  for (const char* type : {"Attention", "MultiHeadAttention", "GroupQueryAttention"}) {
    attention.name = type;
    for (const Shape& shape : {Shape{}, Shape{2}, Shape{2, 3}}) {
      attention.inputs = {shape, shape, shape, {2, 3, 4, 5}, {2, 3, 4, 5}};
      EXPECT_EQ(opaque_multiply_adds(attention), 0) << type;
      attention.inputs[0] = {2, 3, 4};
      attention.output = {2, 3, 4};
      EXPECT_GE(opaque_multiply_adds(attention), 0) << type;
      attention.output = {};
    }
  }
}

TEST(OnnxForms, AnEinsumMayRepeatALabelAndStretchAnOperand) {
  const auto einsum = [](const std::string& equation, const std::vector<std::int64_t>& a,
                         const std::vector<std::int64_t>& b) {
    Model model;
    model.input("a", a).input("b", b).output("y");
    set_text(model.node("Einsum", {"a", "b"}, {"y"}), "equation", equation);
    return read(model);
  };
  const Network diagonal = einsum("iij,jk->ik", {4, 4, 5}, {5, 3});
  EXPECT_EQ(output_of(diagonal), (Shape{4, 3}));
  EXPECT_EQ(multiply_adds(diagonal), 4 * 5 * 3);
  const Network stretched = einsum("...ij,...jk->...ik", {1, 4, 5}, {6, 5, 3});
  EXPECT_EQ(output_of(stretched), (Shape{6, 4, 3}));
  EXPECT_EQ(multiply_adds(stretched), 6 * 4 * 5 * 3);
}

TEST(OnnxForms, ParametersAreWeightsAndNoScalesOrStates) {
  OneNode lstm("LSTM", {7, 2, 5}, {"x", "w", "r", "", "", "h", "c"});
  lstm.model.weights("w", {1, 24, 5}).weights("r", {1, 24, 6}).weights("h", {1, 2, 6}).weights("c", {1, 2, 6});
  set_integer(*lstm.node, "hidden_size", 6);
  EXPECT_EQ(parameter_count(read(lstm.model)), 24 * (5 + 6));
  EXPECT_EQ(multiply_adds(read(lstm.model)), 7 * 2 * 24 * (5 + 6));
  OneNode norm("LayerNormalization", {1, 8, 64}, {"x", "g"}, 17);
  norm.model.weights("g", {64});
  EXPECT_EQ(parameter_count(read(norm.model)), 64);  // it has no shift
  OneNode volume("QLinearConv", {1, 4, 8, 8, 8}, {"xq", "s", "z", "w", "ws", "wz", "s", "z"});
  volume.model.weights("w", {6, 4, 3, 3, 3}, TensorProto::INT8)
      .weights("ws", {6})
      .weights("wz", {6}, TensorProto::INT8);
  volume.model.weights("z", {}, TensorProto::UINT8).scalar("s", 0.1F);
  volume.model.node("QuantizeLinear", {"x", "s", "z"}, {"xq"});
  EXPECT_EQ(parameter_count(read(volume.model)), 6 * 4 * 27);
  volume.node->add_input("b");
  volume.model.weights("b", {6}, TensorProto::INT32);
  EXPECT_EQ(parameter_count(read(volume.model)), 6 * 4 * 27 + 6);
  EXPECT_EQ(multiply_adds(read(volume.model)), 6 * 6 * 6 * 6 * 4 * 27);
}

TEST(OnnxForms, SparseWeightsCountByTheirShape) {
  for (const int stored : {3, 5000}) {  // 5,000 numbers and their places are more than the reader keeps
    for (const bool constant_node : {false, true}) {
      OneNode crafted("MatMul", {1, 256}, {"x", "w"});
      onnx::AttributeProto value;
      value.set_name("sparse_value");
      value.set_type(onnx::AttributeProto::SPARSE_TENSOR);
      set_sparse(*value.mutable_sparse_tensor(), "w", {256, 64}, stored);
      if (constant_node) *crafted.model.node("Constant", {}, {"w"}).add_attribute() = value;
      if (!constant_node) *crafted.model.graph().add_sparse_initializer() = value.sparse_tensor();
      const Network network = read(crafted.model);
      EXPECT_EQ(multiply_adds(network), 256 * 64);
      EXPECT_EQ(parameter_count(network), 256 * 64);
    }
  }
}

TEST(OnnxForms, WithoutAxesAllAreMeant) {
  OneNode resize("Resize", {1, 1, 8, 9}, {"x", "", "", "sizes"}, 18);
  resize.model.integers("sizes", {1, 1, 13, 20});
  set_text(*resize.node, "keep_aspect_ratio_policy", "not_larger");
  EXPECT_EQ(output_of(read(resize.model)), (Shape{1, 1, 8, 9})) << "the batch, too, keeps the proportions";
  OneNode sum("ReduceSum", {2, 3, 4}, {"x"}, 13);
  set_integer(*sum.node, "keepdims", 0);
  const Network summed = read(sum.model);
  EXPECT_EQ(output_of(summed), Shape{});
  EXPECT_EQ(summed.nodes.at(0).attributes.axes, (std::vector<std::int64_t>{0, 1, 2}));
  OneNode nothing("ReduceSum", {2, 3, 4}, {"x"}, 13);
  set_integer(*nothing.node, "noop_with_empty_axes", 1);
  EXPECT_EQ(lines(read(nothing.model)), std::vector<std::string>{"opaque ReduceSum 2x3x4 -> 2x3x4 float32"});
}

TEST(OnnxForms, SinceOpset20AnInputSaysTheAxisOfATransform) {
  OneNode transform("DFT", {2, 16, 3, 1}, {"x", "", "axis"}, 20);
  transform.model.integers("axis", {1});
  transform.model.graph().mutable_initializer(0)->clear_dims();
  set_integer(*transform.node, "onesided", 1);
  EXPECT_EQ(output_of(read(transform.model)), (Shape{2, 9, 3, 2}));
  transform.model.graph().mutable_initializer(0)->set_int64_data(0, 2);
  EXPECT_EQ(output_of(read(transform.model)), (Shape{2, 16, 2, 2}));
  OneNode usual("DFT", {2, 16, 10, 1}, {"x"}, 20);
  set_integer(*usual.node, "onesided", 1);
  EXPECT_EQ(output_of(read(usual.model)), (Shape{2, 16, 6, 2})) << "the last but one";
  OneNode crop("CenterCropPad", {3, 20, 8}, {"x", "target"}, 18);
  crop.model.integers("target", {2, 10, 9});
  EXPECT_EQ(output_of(read(crop.model)), (Shape{2, 10, 9}));
}

TEST(OnnxForms, AOneSidedSpectrumIsMadeARealSignalAgain) {
  OneNode back("DFT", {1, 8, 9, 2}, {"x", "length"}, 20);
  set_integer(*back.node, "inverse", 1);
  set_integer(*back.node, "onesided", 1);
  back.model.integers("length", {17});
  EXPECT_EQ(output_of(read(back.model)), (Shape{1, 8, 17, 1}));
  back.node->mutable_input()->RemoveLast();
  EXPECT_EQ(output_of(read(back.model)), (Shape{1, 8, 16, 1}));
  OneNode longer("DFT", {1, 16, 1}, {"x", "length"}, 17);
  longer.model.integers("length", {20});
  EXPECT_EQ(output_of(read(longer.model)), (Shape{1, 20, 2}));
  set_integer(*longer.node, "onesided", 1);
  EXPECT_EQ(output_of(read(longer.model)), (Shape{1, 11, 2}));
}

TEST(OnnxForms, ATransposedConvolutionThatKeepsTheSizeIsPaddedNoFurther) {
  OneNode same("ConvTranspose", {1, 2, 5, 6}, {"x", "w"});
  same.model.weights("w", {2, 3, 3, 3});
  set_text(*same.node, "auto_pad", "SAME_UPPER");
  set_integers(*same.node, "strides", {2, 2});
  set_integers(*same.node, "output_padding", {1, 1});
  EXPECT_EQ(output_of(read(same.model)), (Shape{1, 3, 10, 12}));
}

TEST(OnnxForms, AnOperatorOfOnnxRuntimeThatHasTheNameOfOneOfOnnxHasItsShape) {
  OneNode pad("Pad", {5, 6}, {"x", "pads"});
  pad.node->set_domain("com.microsoft");
  pad.model.integers("pads", {1, 2, 3, 4});
  EXPECT_EQ(output_of(read(pad.model)), (Shape{5 + 1 + 3, 6 + 2 + 4}));
  OneNode rows("GatherBlockQuantized", {2, 5}, {"table", "x", "scales"});
  rows.node->set_domain("com.microsoft");
  rows.model.weights("table", {20, 16}, TensorProto::UINT8).weights("scales", {20, 2});
  EXPECT_EQ(output_of(read(rows.model)), (Shape{2, 5, 32})) << "a byte holds two numbers";
}

TEST(OnnxForms, ADilatedPoolThatKeepsTheSizeDoesNotQuiteKeepIt) {
  for (const char* type : {"AveragePool", "MaxPool"}) {
    Model model(19);
    model.input("x", {1, 8, 9, 11}).output("y");
    onnx::NodeProto& node = model.node(type, {"x"}, {"y"});
    set_integers(node, "kernel_shape", {3, 3});
    set_integers(node, "strides", {2, 2});
    set_integers(node, "dilations", {3, 1});
    set_text(node, "auto_pad", "SAME_UPPER");
    EXPECT_EQ(output_of(read(model)), (Shape{1, 8, 3, 6})) << type;  // as ONNX Runtime 1.30 has it
  }
}

TEST(OnnxForms, ATypeThatIsNewerThanWeKnowIsSaid) {
  Model model;
  model.input("x", {1, 4}, 40).output("y");
  set_integer(model.node("Cast", {"x"}, {"y"}), "to", TensorProto::FLOAT);
  ASSERT_EQ(read(model).remarks.size(), 1U);
  EXPECT_NE(read(model).remarks[0].find("data type 40"), std::string::npos);
}

TEST(OnnxForms, WithCeilModeTheLastWindowBeginsInTheImageOrInTheZerosBeforeIt) {  // as ONNX Runtime 1.30 has it
  for (const auto& [extent, expected] : {std::pair(7, 4), std::pair(8, 5), std::pair(9, 5)}) {
    Model model(12);
    model.input("x", {1, 4, extent, extent}).output("y");
    onnx::NodeProto& pool = model.node("MaxPool", {"x"}, {"y"});
    set_integers(pool, "kernel_shape", {2, 2});
    set_integers(pool, "strides", {2, 2});
    set_integers(pool, "pads", {1, 1, 1, 1});
    set_integer(pool, "ceil_mode", 1);
    EXPECT_EQ(tensor_type(read(model), read(model).outputs.at(0)).shape, (Shape{1, 4, expected, expected})) << extent;
  }
}

TEST(OnnxForms, TheImageAndTheSequenceMayBeConstantsAsWell) {
  OneNode convolution("Conv", {6, 2, 3, 3}, {"image", "x", "b"});
  convolution.model.weights("image", {1, 4, 8, 9}).weights("b", {6});
  set_integer(*convolution.node, "group", 2);
  EXPECT_EQ(multiply_adds(read(convolution.model)), 6 * 6 * 7 * (2 * 9));
  OneNode transposed("ConvTranspose", {2, 3, 3, 3}, {"image", "x"});
  transposed.model.weights("image", {1, 2, 8, 9});
  EXPECT_EQ(multiply_adds(read(transposed.model)), 2 * 8 * 9 * (3 * 9));
  OneNode bias("Conv", {6}, {"image", "w", "x"});
  bias.model.weights("image", {1, 4, 8, 9}).weights("w", {6, 4, 3, 3});
  EXPECT_EQ(multiply_adds(read(bias.model)), 6 * 6 * 7 * (4 * 9));
  OneNode lstm("LSTM", {1, 3, 6}, {"steps", "w", "r", "b", "", "x"});
  lstm.model.weights("steps", {7, 3, 5}).weights("w", {1, 24, 5}).weights("r", {1, 24, 6}).weights("b", {1, 48});
  set_integer(*lstm.node, "hidden_size", 6);
  EXPECT_EQ(multiply_adds(read(lstm.model)), 7 * 3 * 24 * (5 + 6));
}

}  // namespace
}  // namespace tenshot::nasbench
