#include <gtest/gtest.h>

#include "tests/unit/nasbench/graph/crafted_onnx.h"

// Bytes of operators whose weights, or whose inputs as well, the file stores in fewer bits than it computes in.

namespace tenshot::nasbench {
namespace {

constexpr int uint4 = 21, int4 = 22, int2 = 26;  // newer than libonnx 1.12

/// A convolution of 3 to 4 channels whose weights of `weights` type a DequantizeLinear makes real; its image as well,
/// where it has a type.
Model dequantised_convolution(int weights, int image = TensorProto::FLOAT) {
  Model model(21);
  model.input("x", {1, 3, 8, 8}).output("y").scalar("s", 0.1F).weights("w", {4, 3, 3, 3}, weights);
  model.node("DequantizeLinear", {"w", "s"}, {"wf"});
  if (image != TensorProto::FLOAT) {
    set_integer(model.node("QuantizeLinear", {"x", "s"}, {"xq"}), "output_dtype", image);
    model.node("DequantizeLinear", {"xq", "s"}, {"xf"});
  }
  model.node("Conv", {image == TensorProto::FLOAT ? "x" : "xf", "wf"}, {"y"});
  return model;
}

TEST(OnnxQuantised, WeightsTakeTheBitsThatTheFileStoresThemIn) {
  constexpr std::int64_t parameters = 4 * 27;
  for (const auto& [type, bits] : std::vector<std::pair<int, int>>{
           {TensorProto::INT8, 8}, {int4, 4}, {uint4, 4}, {int2, 2}, {TensorProto::INT16, 16}}) {
    const Network network = read(dequantised_convolution(type));
    EXPECT_EQ(lines(network), std::vector<std::string>{"convolution 3x3 1x3x8x8 -> 1x4x6x6 weights of " +
                                                       std::to_string(bits) + " bits float32"});
    EXPECT_EQ(parameter_count(network), parameters);
    EXPECT_EQ(weight_bytes(network), parameters * bits / 8);
    EXPECT_EQ(input_bytes(network.nodes[0].operation), 4 * 3 * 64);
  }
}

TEST(OnnxQuantised, ImagesTakeTheirOwnBits) {
  const auto line = [](int weights, int image) { return lines(read(dequantised_convolution(weights, image))).at(0); };
  const std::string convolution = "convolution 3x3 1x3x8x8 -> 1x4x6x6 ";
  EXPECT_EQ(line(TensorProto::INT8, TensorProto::UINT8), convolution + "uint8");
  EXPECT_EQ(line(TensorProto::INT16, TensorProto::UINT16), convolution + "int16");
  EXPECT_EQ(line(TensorProto::INT8, TensorProto::UINT16), convolution + "weights of 8 bits int16");
  EXPECT_EQ(line(int4, TensorProto::INT8), convolution + "weights of 4 bits int8");
  EXPECT_EQ(input_bytes(read(dequantised_convolution(int4, TensorProto::UINT16)).nodes[0].operation), 2 * 3 * 64);
}

TEST(OnnxQuantised, WeightsKeepTheirBitsWhereTheyAreMovedOrCast) {
  OneNode moved("MatMul", {2, 16}, {"x", "wt"}, 21);
  moved.model.scalar("s", 0.1F).weights("w", {8, 16}, TensorProto::INT8);
  moved.model.node("DequantizeLinear", {"w", "s"}, {"wf"});
  moved.model.node("Transpose", {"wf"}, {"wt"});
  EXPECT_EQ(weight_bytes(read(moved.model)), 8 * 16);
  OneNode cast("MatMul", {2, 16}, {"x", "wf"});
  cast.model.weights("w", {16, 8}, TensorProto::FLOAT16);
  set_integer(cast.model.node("Cast", {"w"}, {"wf"}), "to", TensorProto::FLOAT);
  EXPECT_EQ(lines(read(cast.model)), std::vector<std::string>{"linear 2x16 -> 2x8 weights of 16 bits float32"});
  OneNode product("Gemm", {16, 16}, {"x", "wf", "b"}, 21);  // of several operators, of which one has the weights
  product.model.scalar("s", 0.1F).weights("w", {16, 2}, TensorProto::INT8).weights("b", {16, 2});
  product.model.node("DequantizeLinear", {"w", "s"}, {"wf"});
  set_integer(*product.node, "transA", 1);
  EXPECT_EQ(multiply_adds(read(product.model)), 16 * 16 * 2);
  EXPECT_EQ(weight_bytes(read(product.model).nodes[1].operation), 16 * 2);
}

TEST(OnnxQuantised, FakeQuantisedWeightsAreThoseThatTheFileHas) {  // Brevitas rounds floats
  OneNode rounded("MatMul", {2, 16}, {"x", "wq"});
  rounded.model.scalar("s", 0.1F).scalar("z", 0).scalar("bits", 4).weights("w", {16, 8});
  rounded.model.node("Quant", {"w", "s", "z", "bits"}, {"wq"}).set_domain("onnx.brevitas");
  EXPECT_EQ(weight_bytes(read(rounded.model)), 4 * 16 * 8);
}

/// One operator of com.microsoft on a 2×16 input of `type`.
OneNode contributed(const std::string& name, int type, const std::vector<std::string>& inputs) {
  OneNode one(name, {2, 16}, inputs);
  one.node->set_domain("com.microsoft");
  one.model.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(type);
  one.model.scalar("s", 0.1F).weights("z", {}, TensorProto::UINT8).weights("w", {16, 8}, TensorProto::INT8);
  return one;
}

TEST(OnnxQuantised, ProductsOfBytesWhoseResultIsRealAreOfBytes) {
  const std::vector<std::string> linear = {"linear 2x16 -> 2x8 uint8"};
  const int bytes = TensorProto::UINT8;
  EXPECT_EQ(lines(read(contributed("QGemm", bytes, {"x", "s", "z", "w", "s", "z"}).model)), linear);
  EXPECT_EQ(lines(read(contributed("MatMulIntegerToFloat", bytes, {"x", "w", "s", "s"}).model)), linear);
  EXPECT_EQ(lines(read(contributed("DynamicQuantizeMatMul", TensorProto::FLOAT, {"x", "w", "s"}).model)),
            std::vector<std::string>{"linear 2x16 -> 2x8 weights of 8 bits float32"});
  OneNode integers("MatMulInteger", {2, 16}, {"x", "w"});
  integers.model.weights("w", {16, 8}, TensorProto::INT8);
  integers.model.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(bytes);
  EXPECT_EQ(lines(read(integers.model)), linear);
}

TEST(OnnxQuantised, ARecurrentLayerOfBytesHasWeightsOfBytes) {
  OneNode lstm("DynamicQuantizeLSTM", {7, 2, 5}, {"x", "w", "r", "b", "", "", "", "", "s", "z", "s", "z"});
  lstm.node->set_domain("com.microsoft");
  lstm.model.weights("w", {1, 5, 24}, TensorProto::INT8).weights("r", {1, 6, 24}, TensorProto::INT8);
  lstm.model.weights("b", {1, 48}).weights("s", {1}).weights("z", {}, TensorProto::UINT8);
  set_integer(*lstm.node, "hidden_size", 6);
  const Network network = read(lstm.model);
  EXPECT_EQ(multiply_adds(network), 7 * 2 * 24 * (5 + 6));
  EXPECT_EQ(parameter_count(network), 24 * (5 + 6) + 48);
  EXPECT_EQ(weight_bytes(network), 24 * (5 + 6) + 48);
  EXPECT_EQ(input_bytes(network.nodes[0].operation), 4 * 7 * 2 * 5);
}

TEST(OnnxQuantised, TheBiasOfIntegersOfAConvolutionOfVolumesIsAParameter) {
  Model model;
  model.input("x", {1, 3, 8, 8, 8}).output("y").scalar("s", 0.1F).weights("w", {4, 3, 3, 3, 3}, TensorProto::INT8);
  model.weights("b", {4}, TensorProto::INT32);
  model.node("DequantizeLinear", {"w", "s"}, {"wf"});
  model.node("DequantizeLinear", {"b", "s"}, {"bf"});
  model.node("Conv", {"x", "wf", "bf"}, {"y"});
  EXPECT_EQ(parameter_count(read(model)), 4 * 3 * 27 + 4);
  Model packed;
  packed.input("x", {1, 3, 8, 8, 8}, TensorProto::INT8).output("y").scalar("s", 0.1F);
  packed.weights("w", {4, 3, 3, 3, 3}, TensorProto::INT8).weights("ws", {4}).weights("wz", {4}, TensorProto::INT8);
  packed.weights("z", {}, TensorProto::INT8).weights("b", {4}, TensorProto::INT32);
  packed.node("QLinearConv", {"x", "s", "z", "w", "ws", "wz", "s", "z", "b"}, {"y"});
  EXPECT_EQ(parameter_count(read(packed)), 4 * 3 * 27 + 4);
  EXPECT_EQ(parameter_count(read(packed).nodes[0].operation), 4 * 3 * 27 + 4);
}

TEST(OnnxQuantised, ScalesAndZeroPointsOfColumnsAreNoParameters) {
  OneNode attention("QAttention", {1, 8, 64}, {"x", "w", "b", "s", "ws", "", "z", "wz"});
  attention.node->set_domain("com.microsoft");
  attention.model.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(TensorProto::UINT8);
  attention.model.weights("w", {64, 192}, TensorProto::INT8).weights("b", {192}).scalar("s", 0.1F).weights("ws", {192});
  attention.model.weights("z", {}, TensorProto::UINT8).weights("wz", {192}, TensorProto::INT8);
  set_integer(*attention.node, "num_heads", 4);
  EXPECT_EQ(parameter_count(read(attention.model)), 64 * 192 + 192);
  OneNode convolution("ConvInteger", {1, 3, 8, 8, 8}, {"x", "w", "z", "wz"});
  convolution.model.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(TensorProto::INT8);
  convolution.model.weights("w", {4, 3, 3, 3, 3}, TensorProto::INT8).weights("wz", {4}, TensorProto::INT8);
  convolution.model.weights("z", {}, TensorProto::INT8);
  EXPECT_EQ(parameter_count(read(convolution.model).nodes[0].operation), 4 * 3 * 27);
  OneNode product("MatMulInteger", {2, 3, 16}, {"x", "w", "z", "wz"});
  product.model.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(TensorProto::UINT8);
  product.model.weights("w", {2, 16, 8}, TensorProto::INT8).weights("wz", {2, 1, 8}, TensorProto::INT8);
  product.model.weights("z", {}, TensorProto::UINT8);
  EXPECT_EQ(parameter_count(read(product.model)), 2 * 16 * 8);
}

TEST(OnnxQuantised, ScalesOfTheColumnsOfADynamicProductAreNoParameters) {  // as quantize_dynamic writes them
  Model model;
  model.input("x", {1, 16}).output("y").weights("w", {16, 8}, TensorProto::INT8).weights("ws", {8});
  model.node("DynamicQuantizeLinear", {"x"}, {"xq", "xs", "xz"});
  model.node("MatMulInteger", {"xq", "w", "xz"}, {"sums"});
  set_integer(model.node("Cast", {"sums"}, {"real"}), "to", TensorProto::FLOAT);
  model.node("Mul", {"xs", "ws"}, {"scales"});
  model.node("Mul", {"real", "scales"}, {"scaled"});
  model.weights("trained", {8}).node("Mul", {"scaled", "trained"}, {"y"});
  EXPECT_EQ(parameter_count(read(model)), 16 * 8 + 8) << "a factor that is trained is a parameter";
}

TEST(OnnxQuantised, RowsOfATableAreReadInItsBits) {
  OneNode rows("Gather", {8}, {"real", "x"}, 21);
  rows.model.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(TensorProto::INT64);
  rows.model.weights("table", {100, 32}, TensorProto::INT8).scalar("s", 0.1F);
  rows.model.node("DequantizeLinear", {"table", "s"}, {"real"});
  const OperatorSpecification gather = read(rows.model).nodes.at(0).operation;
  EXPECT_EQ(weight_bytes(gather), 100 * 32);
  EXPECT_EQ(read_bytes(gather, weight_bytes(gather)), 8 * 32);
}

TEST(OnnxQuantised, NumbersMadeRealAreOfTheTypeOfTheirScale) {
  OneNode product("MatMul", {2, 32}, {"x", "real"}, 21);
  product.model.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(TensorProto::FLOAT16);
  product.model.weights("w", {32, 8}, TensorProto::INT8).weights("s", {1}, TensorProto::FLOAT16);
  product.model.node("DequantizeLinear", {"w", "s"}, {"real"});
  EXPECT_EQ(lines(read(product.model)), std::vector<std::string>{"linear 2x32 -> 2x8 weights of 8 bits float16"});
}

TEST(OnnxQuantised, TablesOfFewBitsAreOfThose) {
  OneNode rows("GatherBlockQuantized", {3}, {"table", "x", "scales"}, 21);
  rows.node->set_domain("com.microsoft");
  rows.model.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(TensorProto::INT64);
  rows.model.weights("table", {100, 64}, int4).weights("scales", {100, 2});
  const Network network = read(rows.model);
  EXPECT_EQ(tensor_type(network, network.outputs[0]).shape, (Shape{3, 64}));
  EXPECT_EQ(network.nodes[0].operation.weight_bits, 4);
  EXPECT_EQ(read_bytes(network.nodes[0].operation, weight_bytes(network)), 3 * 64 / 2);
}

}  // namespace
}  // namespace tenshot::nasbench
