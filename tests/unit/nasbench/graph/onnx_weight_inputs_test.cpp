#include <gtest/gtest.h>

#include "nasbench/graph/onnx_external.h"
#include "nasbench/graph/onnx_weights.h"
#include "tests/unit/nasbench/graph/crafted_onnx.h"

// Which inputs of a file are weights, and which first dimensions are time.

namespace tenshot::nasbench {
namespace {

TEST(OnnxWeightInputs, AMatrixThatSomethingComputedIsMultipliedByIsAWeightWhateverItsName) {
  Model model;
  model.input("x", {1, 8}).input("a", {8, 16}).input("b", {16}).input("c", {16, 4}).input("d", {4}).output("y");
  model.node("Gemm", {"x", "a", "b"}, {"h"});
  model.node("Relu", {"h"}, {"r"});
  model.node("Gemm", {"r", "c", "d"}, {"y"});
  const Network network = read(model);
  EXPECT_EQ(parameter_count(network), 8 * 16 + 16 + 16 * 4 + 4);
  EXPECT_EQ(network.inputs.size(), 1U);
}

TEST(OnnxWeightInputs, WhatIsReadAsDataIsNoneWhereverItStands) {
  Model first;  // the weight in front of the image
  first.input("w", {4, 3, 1, 1}).input("x", {1, 3, 8, 8}).output("y");
  first.node("Conv", {"x", "w"}, {"y"});
  const Network network = read(first);
  EXPECT_EQ(parameter_count(network), 12);
  ASSERT_EQ(network.inputs.size(), 1U);
  EXPECT_EQ(network.inputs[0].name, "x");
  Model state;  // an initial state behind the weights
  state.input("x", {5, 1, 8}).input("W", {1, 4, 8}).input("R", {1, 4, 4}).input("h", {1, 1, 4}).output("y");
  set_integer(state.node("RNN", {"x", "W", "R", "", "", "h"}, {"y"}), "hidden_size", 4);
  EXPECT_EQ(read(state).inputs.size(), 2U);
  EXPECT_EQ(parameter_count(read(state)), 4 * 8 + 4 * 4);
}

TEST(OnnxWeightInputs, OfAQuantisedConvolution) {
  Model model;
  model.input("x", {1, 3, 8, 8}, TensorProto::UINT8).input("w", {4, 3, 1, 1}, TensorProto::INT8);
  model.scalar("s", 0.5F).weights("z", {}, TensorProto::UINT8).weights("wz", {}, TensorProto::INT8).output("y");
  model.node("QLinearConv", {"x", "s", "z", "w", "s", "wz", "s", "z"}, {"y"});
  EXPECT_EQ(parameter_count(read(model)), 12);
  EXPECT_EQ(weight_bytes(read(model)), 12);
}

TEST(OnnxWeightInputs, WhatStandsBeforeTheFirstWeightAndJoinsOthersIsSaidToBeUndecided) {
  Model model;  // as PyTorch writes parameters of the outermost module: in front of those of its layers
  model.input("x", {1, 3, 8, 8}).input("position", {1, 4, 8, 8}).input("conv.weight", {4, 3, 1, 1});
  model.input("layer_scale", {4, 1, 1}).output("y");
  model.node("Conv", {"x", "conv.weight"}, {"a"});
  model.node("Mul", {"a", "layer_scale"}, {"b"});
  model.node("Add", {"b", "position"}, {"y"});
  const Network network = read(model);
  EXPECT_EQ(parameter_count(network), 12 + 4 + 256);
  ASSERT_EQ(network.remarks.size(), 2U);
  EXPECT_EQ(network.remarks[0], "3 inputs are read as weights, and counted as such");
  EXPECT_NE(network.remarks[1].find("position are data or weights: they are read as weights"), std::string::npos)
      << network.remarks[1];
  Model product;
  product.input("x", {4, 8}).input("k", {8, 5}).output("y");
  product.node("MatMul", {"x", "k"}, {"y"});
  EXPECT_NE(read(product).remarks.at(0).find("k are data or weights: they are read as data"), std::string::npos);
}

TEST(OnnxWeightInputs, AFileOfThemCannotBeMeasuredByAKit) {
  Model model;
  model.input("x", {1, 3, 8, 8}).input("w", {4, 3, 1, 1}).output("y");
  model.node("Conv", {"x", "w"}, {"y"});
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "model.onnx";
  std::ofstream(file, std::ios::binary) << model.bytes();
  EXPECT_NE(external_data_problem(file).value_or("").find("its weights are inputs"), std::string::npos);
}

TEST(OnnxWeightInputs, AxisZeroOfARecurrentLayerIsTimeWhateverItsName) {
  for (const std::string name : {"T", "tokens", "n_steps", "N"}) {
    for (const std::int64_t layout : {0, 1}) {
      Model model(14);
      model.input("x", {1, 1, 40}).weights("W", {1, 4, 40}).weights("R", {1, 4, 4}).output("y");
      model.graph()
          .mutable_input(0)
          ->mutable_type()
          ->mutable_tensor_type()
          ->mutable_shape()
          ->mutable_dim(0)
          ->set_dim_param(name);
      model.node("Relu", {"x"}, {"a"});
      onnx::NodeProto& layer = model.node("RNN", {"a", "W", "R"}, {"y"});
      set_integer(layer, "hidden_size", 4);
      set_integer(layer, "layout", layout);
      if (layout == 1) {
        EXPECT_EQ(multiply_adds(read(model)), 40 * 4 + 4 * 4) << name;
      } else {
        expect_refusal(model, {"dimension 0 ('" + name + "') is dynamic"});
      }
    }
  }
}

TEST(OnnxWeights, OfLinearLayersAreWithFactorsAndWhatIsAdded) {
  Model model;
  const auto weights_of = [&](const std::string& name, const std::vector<std::int64_t>& shape, float first) {
    TensorProto& tensor = *model.graph().add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(TensorProto::FLOAT);
    std::int64_t count = 1;
    for (const std::int64_t dimension : shape) count *= dimension, tensor.add_dims(dimension);
    for (std::int64_t i = 0; i < count; ++i) tensor.add_float_data(first + static_cast<float>(i));
  };
  weights_of("w", {2, 2}, 1);
  weights_of("b", {2}, 10);
  model.input("x", {1, 2}).output("y");
  model.node("MatMul", {"x", "w"}, {"product"});
  model.node("Add", {"product", "b"}, {"sum"});
  onnx::NodeProto& gemm = model.node("Gemm", {"sum", "w", "b"}, {"y"});
  set_real(gemm, "alpha", 0.5);
  set_real(gemm, "beta", 2);
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "model.onnx", std::ios::binary) << model.bytes();
  const OnnxWeights weights(folder.path() / "model.onnx");
  EXPECT_EQ(weights.read("n_product").bias, (std::vector<float>{10, 11}));
  EXPECT_EQ(weights.read("n_product").weight, (std::vector<float>{1, 3, 2, 4}));
  EXPECT_EQ(weights.read("n_y").bias, (std::vector<float>{20, 22}));
  EXPECT_EQ(weights.read("n_y").weight, (std::vector<float>{0.5, 1.5, 1, 2}));
}

}  // namespace
}  // namespace tenshot::nasbench
