#include <gtest/gtest.h>

#include "nasbench/graph/operator_products.h"
#include "tests/unit/nasbench/graph/crafted_onnx.h"

namespace tenshot::nasbench {
namespace {

Shape output_of(const Network& network) { return tensor_type(network, network.outputs.at(0)).shape; }

TEST(OnnxProducts, ARecurrentLayerTakesBothMatricesInEveryStep) {
  OneNode lstm("LSTM", {100, 1, 40}, {"x", "w", "r", "b"});
  lstm.model.weights("w", {1, 512, 40}).weights("r", {1, 512, 128}).weights("b", {1, 1024});
  set_integer(*lstm.node, "hidden_size", 128);
  EXPECT_EQ(multiply_adds(read(lstm.model)), 100 * 512 * (40 + 128));
  EXPECT_EQ(parameter_count(read(lstm.model)), 512 * (40 + 128) + 1024);

  OneNode gru("GRU", {50, 3, 16}, {"x", "w", "r"});
  gru.model.weights("w", {2, 192, 16}).weights("r", {2, 192, 64});
  set_text(*gru.node, "direction", "bidirectional");
  set_integer(*gru.node, "hidden_size", 64);
  EXPECT_EQ(multiply_adds(read(gru.model)), 50 * 3 * 2 * 192 * (16 + 64));
  EXPECT_EQ(output_of(read(gru.model)), (Shape{50, 2, 3, 64}));
}

TEST(OnnxProducts, AFirstOutputThatIsLeftOutHasItsShapeAllTheSame) {
  Model model;
  model.input("x", {50, 1, 8}).weights("w", {1, 32, 8}).weights("r", {1, 32, 32}).output("h");
  onnx::NodeProto& node = model.node("RNN", {"x", "w", "r"}, {"", "h"});
  node.clear_name();
  set_integer(node, "hidden_size", 32);
  const Network network = read(model);
  EXPECT_EQ(output_of(network), (Shape{1, 1, 32}));
  EXPECT_EQ(network.nodes[0].name, "h");
  EXPECT_EQ(multiply_adds(network), 50 * 32 * (8 + 32));
}

TEST(OnnxProducts, WeightsMayStandOnEitherSideAndHaveAnyRank) {
  OneNode left("MatMul", {1, 256, 32}, {"w", "x"});
  left.model.weights("w", {512, 256});
  EXPECT_EQ(multiply_adds(read(left.model)), 512 * 256 * 32);
  OneNode batched("MatMul", {8, 20, 64}, {"x", "w"});
  batched.model.weights("w", {8, 64, 32});
  EXPECT_EQ(multiply_adds(read(batched.model)), 8 * 20 * 64 * 32);
  OneNode vector("MatMul", {1, 8, 64}, {"x", "w"});
  vector.model.weights("w", {64});
  EXPECT_EQ(multiply_adds(read(vector.model)), 8 * 64);
  OneNode row("MatMul", {64}, {"x", "w"});
  row.model.weights("w", {3, 64, 5});
  EXPECT_EQ(multiply_adds(read(row.model)), 3 * 64 * 5);
}

TEST(OnnxProducts, AlphaAndBetaOfAGemmAreFoldedIntoItsWeights) {
  OneNode gemm("Gemm", {1, 256}, {"x", "w", "b"});
  gemm.model.weights("w", {128, 256}).weights("b", {128});
  set_integer(*gemm.node, "transB", 1);
  set_real(*gemm.node, "alpha", 0.5F);
  set_real(*gemm.node, "beta", 0);
  EXPECT_EQ(lines(read(gemm.model)), std::vector<std::string>{"linear bias 1x256 -> 1x128 float32"});
}

TEST(OnnxProducts, AGemmOfComputedFactorsIsAProductWithItsTransposes) {
  Model model;
  model.input("a", {64, 16}).input("b", {8, 64}).input("c", {8}).output("y");
  onnx::NodeProto& node = model.node("Gemm", {"a", "b", "c"}, {"y"});
  set_integer(node, "transA", 1);
  set_integer(node, "transB", 1);
  EXPECT_EQ(lines(read(model)),
            (std::vector<std::string>{"transpose 64x16 -> 16x64 float32", "transpose 8x64 -> 64x8 float32",
                                      "matrix_product 16x64 64x8 -> 16x8 float32", "add 16x8 8 -> 16x8 float32"}));
  OneNode left("Gemm", {64, 8}, {"w", "x"});
  left.model.weights("w", {16, 64});
  EXPECT_EQ(multiply_adds(read(left.model)), 16 * 64 * 8);
  EXPECT_EQ(parameter_count(read(left.model)), 16 * 64);
}

TEST(OnnxProducts, WeightsOfAComposedOperatorCountOnce) {
  OneNode gemm("Gemm", {64, 16}, {"x", "w", "b"});
  gemm.model.weights("w", {64, 8}).weights("b", {8});
  set_integer(*gemm.node, "transA", 1);
  EXPECT_EQ(lines(read(gemm.model)),
            (std::vector<std::string>{"transpose 64x16 -> 16x64 float32", "linear bias 16x64 -> 16x8 float32"}));
  EXPECT_EQ(parameter_count(read(gemm.model)), 64 * 8 + 8);
  OneNode alike("Gemm", {3, 3}, {"x", "w", "b"});  // weights and addend have as many numbers
  alike.model.weights("w", {3, 1}).weights("b", {3, 1});
  set_integer(*alike.node, "transA", 1);
  EXPECT_EQ(parameter_count(read(alike.model)), 3 + 3);
}

Network einsum(const std::string& equation, const std::vector<Shape>& shapes, bool last_is_constant = false) {
  Model model;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    names.push_back("x" + std::to_string(i));
    if (last_is_constant && i + 1 == shapes.size()) {
      model.weights(names.back(), shapes[i]);
    } else {
      model.input(names.back(), shapes[i]);
    }
  }
  model.output("y");
  set_text(model.node("Einsum", names, {"y"}), "equation", equation);
  return read(model);
}

TEST(OnnxProducts, AnEinsumIsProductsOfMatricesWithTheirAxesInOrder) {
  const Network scores = einsum("bhid,bhjd->bhij", {{1, 8, 32, 64}, {1, 8, 48, 64}});
  EXPECT_EQ(lines(scores), (std::vector<std::string>{"transpose 1x8x48x64 -> 1x8x64x48 float32",
                                                     "matrix_product 1x8x32x64 1x8x64x48 -> 1x8x32x48 float32"}));
  const Network weights = einsum("btd,de->bte", {{1, 32, 64}, {64, 128}}, true);
  EXPECT_EQ(lines(weights), std::vector<std::string>{"linear 1x32x64 -> 1x32x128 float32"});
  EXPECT_EQ(parameter_count(einsum("bdt,de->bte", {{1, 16, 10}, {16, 8}}, true)), 16 * 8);
  const Network experts = einsum("ecd,edf->ecf", {{4, 10, 64}, {4, 64, 32}}, true);
  EXPECT_EQ(multiply_adds(experts), 4 * 10 * 64 * 32);
  EXPECT_EQ(output_of(experts), (Shape{4, 10, 32}));
  const Network heads = einsum("bthd,hde->bte", {{1, 32, 4, 16}, {4, 16, 64}}, true);
  EXPECT_EQ(multiply_adds(heads), 32 * 64 * 64);
  EXPECT_EQ(parameter_count(heads), 4 * 16 * 64);
  EXPECT_EQ(output_of(heads), (Shape{1, 32, 64}));
}

TEST(OnnxProducts, AnEinsumMayImplyItsOutputStretchAndHaveManyOperands) {
  EXPECT_EQ(output_of(einsum("ij,jk", {{2, 3}, {3, 4}})), (Shape{2, 4}));
  EXPECT_EQ(output_of(einsum("...ij,...jk->...ik", {{5, 6, 2, 3}, {5, 6, 3, 4}})), (Shape{5, 6, 2, 4}));
  const Network three = einsum("ab,bc,cd->ad", {{2, 3}, {3, 4}, {4, 5}});
  EXPECT_EQ(multiply_adds(three), 2 * 3 * 4 + 2 * 4 * 5);
  EXPECT_EQ(output_of(einsum("ijk->ki", {{2, 3, 4}})), (Shape{4, 2}));
  EXPECT_EQ(multiply_adds(einsum("bi,bi->bi", {{2, 3}, {2, 3}})), 0);
}

TEST(OnnxProducts, WhatAnEinsumMakesOfConstantsAloneIsMadeBeforehand) {
  Model first;  // the product of both constants has 4 x 6 numbers
  first.weights("c", {4, 5}).weights("d", {5, 6}).input("x", {2, 3, 4}).output("y");
  set_text(first.node("Einsum", {"c", "d", "x"}, {"y"}), "equation", "cd,de,abc->abe");
  EXPECT_EQ(multiply_adds(read(first)), 2 * 3 * 4 * 6);
  EXPECT_EQ(parameter_count(read(first)), 4 * 5 + 5 * 6);
  EXPECT_TRUE(read(first).remarks.empty());
  const Network summed = einsum("bi,jk->bij", {{2, 5}, {7, 3}}, true);  // over k
  EXPECT_EQ(multiply_adds(summed), 2 * 5 * 7);
  EXPECT_EQ(parameter_count(summed), 7 * 3);
  EXPECT_EQ(output_of(summed), (Shape{2, 5, 7}));
}

TEST(OnnxProducts, AnEinsumWithALabelThatIsNoLetterIsRefused) {
  for (const char* equation : {"\xffj,jk->\xffk", "...\xff,jk", "ij,jk->i\xfe"}) {
    SCOPED_TRACE(equation);
    Model model;
    model.input("a", {2, 3}).input("b", {3, 4}).output("y");
    set_text(model.node("Einsum", {"a", "b"}, {"y"}), "equation", equation);
    expect_refusal(model, {"its equation has a label that is no letter"});
  }
}

TEST(OnnxProducts, AnEinsumThatContradictsItselfIsRefused) {
  Model model;
  model.input("a", {2, 3}).input("b", {4, 5}).output("y");
  set_text(model.node("Einsum", {"a", "b"}, {"y"}), "equation", "ij,jk->ik");
  expect_refusal(model, {"a label of its equation stands for 3 and for 4"});
}

TEST(OnnxProducts, ConvolutionsOfThreeDimensionsAndDeformableOnes) {
  OneNode volume("Conv", {1, 3, 8, 10, 12}, {"x", "w"});
  volume.model.weights("w", {6, 3, 3, 3, 3});
  EXPECT_EQ(multiply_adds(read(volume.model)), 6 * (6 * 8 * 10) * 3 * 27);
  OneNode transposed("ConvTranspose", {1, 4, 5, 5, 5}, {"x", "w"});
  transposed.model.weights("w", {4, 2, 2, 2, 2});
  EXPECT_EQ(multiply_adds(read(transposed.model)), 4 * 125 * 2 * 8);
  OneNode deformable("DeformConv", {1, 4, 8, 8}, {"x", "w", "o"}, 19);
  deformable.model.weights("w", {6, 4, 3, 3}).input("o", {1, 18, 6, 6});
  EXPECT_EQ(multiply_adds(read(deformable.model)), 6 * 36 * 4 * 9);
  EXPECT_EQ(output_of(read(deformable.model)), (Shape{1, 6, 6, 6}));
}

TEST(OnnxProducts, AConvolutionWhoseWeightsAreComputedCountsTheSame) {
  Model model;
  model.input("x", {1, 4, 8, 8}).input("w0", {6, 4, 3, 3}).output("y");
  model.node("Relu", {"w0"}, {"w"});
  model.node("Conv", {"x", "w"}, {"y"});
  EXPECT_EQ(multiply_adds(read(model)), 6 * 36 * 4 * 9);
  EXPECT_EQ(parameter_count(read(model)), 0);
}

TEST(OnnxProducts, AttentionIsTheProductOfItsScoresAndThatOfItsValues) {
  Model model(23);
  model.input("q", {1, 32, 64}).input("k", {1, 48, 32}).input("v", {1, 48, 16}).output("y");
  onnx::NodeProto& node = model.node("Attention", {"q", "k", "v"}, {"y"});
  set_integer(node, "q_num_heads", 4);
  set_integer(node, "kv_num_heads", 2);
  const Network network = read(model);
  EXPECT_EQ(output_of(network), (Shape{1, 32, 4 * 8}));
  EXPECT_EQ(multiply_adds(network), 32 * 64 * 48 + 32 * 32 * 48);
}

TEST(OnnxProducts, AnAttentionWithWeightsHasTheirProductToo) {
  OneNode attention("Attention", {2, 10, 16}, {"x", "w", "b"});
  attention.node->set_domain("com.microsoft");
  attention.model.weights("w", {16, 72}).weights("b", {72});
  set_integer(*attention.node, "num_heads", 4);
  const Network network = read(attention.model);
  EXPECT_EQ(output_of(network), (Shape{2, 10, 24}));
  EXPECT_EQ(multiply_adds(network), 2 * 10 * 16 * 72 + 2 * (2 * 10 * 24 * 10));
}

TEST(OnnxProducts, WeightsOfFourBitsTakeTheBytesThatTheyArePackedIn) {
  OneNode product("MatMulNBits", {1, 8, 256}, {"x", "w", "scales"});
  product.node->set_domain("com.microsoft");
  product.model.weights("w", {512, 8, 16}, TensorProto::UINT8).weights("scales", {4096});
  set_integer(*product.node, "K", 256);
  set_integer(*product.node, "N", 512);
  const Network network = read(product.model);
  EXPECT_EQ(output_of(network), (Shape{1, 8, 512}));
  EXPECT_EQ(multiply_adds(network), 8 * 256 * 512);
  EXPECT_EQ(parameter_count(network), 256 * 512);
  EXPECT_EQ(weight_bytes(network), 256 * 512 / 2);
}

/// Declares the model's output with that shape.
void declare_output(Model& model, const Shape& shape) {
  onnx::TypeProto::Tensor& type = *model.graph().mutable_output(0)->mutable_type()->mutable_tensor_type();
  type.set_elem_type(TensorProto::FLOAT);
  type.mutable_shape();
  for (const std::int64_t dimension : shape) type.mutable_shape()->add_dim()->set_dim_value(dimension);
}

TEST(OnnxProducts, APackedProductThatGivesAScalarHasItsConstantAlone) {
  OneNode product("MatMulNBits", {4}, {"x", "w"});
  product.model.weights("w", {4});
  declare_output(product.model, {});
  const Network network = read(product.model);
  EXPECT_EQ(lines(network), std::vector<std::string>{"opaque MatMulNBits 4 -> scalar constant 4 float32"});
  EXPECT_EQ(multiply_adds(network), 0);
  EXPECT_EQ(parameter_count(network), 4);
}

TEST(OnnxProducts, AProductMayMoveTheBatchBehindTheRows) {
  OneNode product("FusedMatMul", {5, 3, 7}, {"x", "w"});
  product.node->set_domain("com.microsoft");
  product.model.weights("w", {3, 7, 4});
  set_integer(*product.node, "transBatchA", 1);
  const Network network = read(product.model);
  EXPECT_EQ(lines(network), (std::vector<std::string>{"transpose 5x3x7 -> 3x5x7 float32",
                                                      "opaque MatMul 3x5x7 -> 3x5x4 constant 3x7x4 float32"}));
  EXPECT_EQ(multiply_adds(network), 3 * 5 * 7 * 4);
  EXPECT_EQ(parameter_count(network), 3 * 7 * 4);
}

TEST(OnnxProducts, AFusedConvolutionIsAConvolutionAnAdditionAndAFunction) {
  OneNode fused("FusedConv", {1, 3, 8, 8}, {"x", "w", "", "z"});
  fused.node->set_domain("com.microsoft");
  fused.model.weights("w", {4, 3, 3, 3}).input("z", {1, 4, 6, 6});
  set_text(*fused.node, "activation", "Relu");
  EXPECT_EQ(lines(read(fused.model)), (std::vector<std::string>{"convolution 3x3 1x3x8x8 -> 1x4x6x6 float32",
                                                                "add 1x4x6x6 1x4x6x6 -> 1x4x6x6 float32",
                                                                "activation relu 1x4x6x6 -> 1x4x6x6 float32"}));
}

TEST(OnnxProducts, AQuantisedGemmIsALinearLayerOfBytes) {
  OneNode gemm("QGemm", {1, 16}, {"xq", "s", "z", "w", "s", "z", "b", "s", "z"});
  gemm.node->set_domain("com.microsoft");
  gemm.model.weights("w", {10, 16}, TensorProto::INT8).weights("b", {10}, TensorProto::INT32);
  gemm.model.weights("z", {}, TensorProto::UINT8).scalar("s", 0.1F);
  gemm.model.node("QuantizeLinear", {"x", "s", "z"}, {"xq"});
  set_integer(*gemm.node, "transB", 1);
  EXPECT_EQ(lines(read(gemm.model)), std::vector<std::string>{"linear bias 1x16 -> 1x10 uint8"});
}

TEST(OnnxProducts, WeightsThatNobodyUnderstandsAreSaid) {
  OneNode vendor("Polish", {1, 16}, {"h", "w2"});
  vendor.node->set_domain("some.vendor");
  vendor.model.weights("w", {16, 16}).weights("w2", {16, 48}).value("y", {1, 48});
  vendor.model.node("MatMul", {"x", "w"}, {"h"});
  const Network network = read(vendor.model);
  ASSERT_EQ(network.remarks.size(), 1U);
  EXPECT_NE(network.remarks[0].find("some.vendor.Polish; they hold 75 % of the bytes"), std::string::npos)
      << network.remarks[0];
  EXPECT_TRUE(read(small_model()).remarks.empty());
}

TEST(OnnxProducts, OfQuantisedOperatorsOfOnnxRuntime) {
  const auto quantised = [](OneNode& one) {
    one.node->set_domain("com.microsoft");
    one.model.scalar("s", 0.1F).weights("z", {}, TensorProto::UINT8);
  };
  OneNode gemm("QGemm", {5, 3}, {"x", "s", "z", "w", "s", "z"});
  quantised(gemm);
  gemm.model.weights("w", {4, 5}, TensorProto::UINT8);
  set_integer(*gemm.node, "transA", 1);
  set_integer(*gemm.node, "transB", 1);
  EXPECT_EQ(multiply_adds(read(gemm.model)), 3 * 4 * 5);
  EXPECT_EQ(output_of(read(gemm.model)), (Shape{3, 4}));
  OneNode convolution("QLinearConv", {1, 8, 8, 4}, {"x", "s", "z", "w", "s", "z", "s", "z"});
  quantised(convolution);
  convolution.model.weights("w", {6, 4, 3, 3}, TensorProto::UINT8);
  set_integer(*convolution.node, "channels_last", 1);
  EXPECT_EQ(output_of(read(convolution.model)), (Shape{1, 6, 6, 6}));
  EXPECT_EQ(multiply_adds(read(convolution.model)), 36 * 6 * (4 * 9));
}

TEST(OnnxProducts, AnAddendOfAGemmCountsAsItIsStored) {
  OneNode one("Gemm", {4, 5}, {"x", "w", "c"});
  one.model.weights("w", {5, 3}).weights("c", {4, 3});
  EXPECT_EQ(parameter_count(read(one.model)), 5 * 3 + 4 * 3);
  EXPECT_EQ(multiply_adds(read(one.model)), 4 * 5 * 3);
}

TEST(OnnxProducts, AVectorIsAFactorAsAMatrixIs) {
  for (const bool row : {true, false}) {
    Model model;
    model.input("a", row ? Shape{5} : Shape{3, 5}).input("b", row ? Shape{5, 3} : Shape{5}).output("y");
    model.node("FusedMatMul", {"a", "b"}, {"y"}).set_domain("com.microsoft");
    EXPECT_EQ(multiply_adds(read(model)), 15);
    EXPECT_EQ(output_of(read(model)), (Shape{3}));
  }
}

TEST(OnnxProducts, AnyPartOfAQuantisedSumMayBeConstant) {
  OneNode one("QLinearAdd", {1, 4, 5, 5}, {"w", "s", "z", "x", "s", "z", "s", "z"});
  one.node->set_domain("com.microsoft");
  one.model.weights("w", {1, 4, 1, 1}, TensorProto::UINT8).scalar("s", 0.1F).weights("z", {}, TensorProto::UINT8);
  const Network network = read(one.model);
  EXPECT_EQ(network.nodes.at(0).operation.kind, OperatorKind::add);
  EXPECT_EQ(parameter_count(network), 4);
  EXPECT_TRUE(network.remarks.empty());
}

}  // namespace
}  // namespace tenshot::nasbench
