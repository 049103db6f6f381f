#include <gtest/gtest.h>

#include <cmath>

#include "nasbench/formats/network_file.h"
#include "nasbench/graph/network_builder.h"
#include "nasbench/graph/onnx.h"
#include "nasbench/graph/onnx_reader.h"
#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "nasbench/support/temporaries.h"
#include "tests/unit/nasbench/formats/crafted_tflite.h"
#include "tests/unit/nasbench/graph/network_text.h"

namespace tenshot::nasbench {
namespace {
using Model = TfliteModel;

/// A stem, a depthwise and a pointwise convolution, an addition, the mean over positions and a classifier.
std::string small_network() {
  Model model;
  const int image = model.tensor("image", {1, 32, 32, 3});
  const int stem = model.tensor("stem", {1, 16, 16, 8});
  model.node(3, {image, model.weights("w0", {8, 3, 3, 3}), model.weights("b0", {8})}, {stem},
             convolution_options(0, 2, 3));
  const int depthwise = model.tensor("depthwise", {1, 16, 16, 8});
  model.node(4, {stem, model.weights("w1", {1, 3, 3, 8}), model.weights("b1", {8})}, {depthwise},
             convolution_options(0, 1, 3, true));
  const int pointwise = model.tensor("pointwise", {1, 16, 16, 8});
  model.node(3, {depthwise, model.weights("w2", {8, 1, 1, 8}), model.weights("b2", {8})}, {pointwise},
             convolution_options(0, 1, 0));
  const int sum = model.tensor("sum", {1, 16, 16, 8});
  model.node(0, {stem, pointwise}, {sum}, {{0, Model::small(1)}});
  const int mean = model.tensor("mean", {1, 8});
  model.node(40, {sum, model.integers("axes", {1, 2})}, {mean}, {{0, Model::small(0)}});
  const int logits = model.tensor("logits", {1, 10});
  model.node(9, {mean, model.weights("w3", {10, 8}), model.weights("b3", {10})}, {logits}, {{0, Model::small(0)}});
  const int output = model.tensor("output", {1, 10});
  model.node(25, {logits}, {output});
  return model.bytes({image}, {output});
}

TEST(TfliteReader, OperatorsAreThoseOfTheNetwork_ChannelsInFront) {
  const Network network = read_tflite_bytes(small_network());
  ASSERT_EQ(network.inputs.size(), 1U);
  EXPECT_EQ(network.inputs[0].name, "image");
  EXPECT_EQ(network.inputs[0].type.shape, (Shape{1, 3, 32, 32}));
  EXPECT_EQ(
      lines(network),
      (std::vector<std::string>{
          "convolution 3x3 stride 2x2 bias 1x3x32x32 -> 1x8x16x16 float32",
          "activation relu6 1x8x16x16 -> 1x8x16x16 float32",
          "convolution 3x3 groups 8 bias 1x8x16x16 -> 1x8x16x16 float32",
          "activation relu6 1x8x16x16 -> 1x8x16x16 float32", "convolution bias 1x8x16x16 -> 1x8x16x16 float32",
          "add 1x8x16x16 1x8x16x16 -> 1x8x16x16 float32", "activation relu 1x8x16x16 -> 1x8x16x16 float32",
          "global_pool 1x8x16x16 -> 1x8 float32", "linear bias 1x8 -> 1x10 float32", "softmax 1x10 -> 1x10 float32"}));
  // 8 x 256 x 27 + 8 x 256 x 9 + 8 x 256 x 8 + 80
  EXPECT_EQ(multiply_adds(network), 55296 + 18432 + 16384 + 80);
  EXPECT_EQ(parameter_count(network), (216 + 8) + (72 + 8) + (64 + 8) + (80 + 10));
  EXPECT_EQ(network.nodes[0].attributes.padding, (Padding{0, 0, 1, 1})) << "SAME adds more behind";
}

TEST(TfliteReader, SameNetworkAsOnnx_CostsWithinTwoPercent) {
  NetworkBuilder b;
  const Source image = b.input("image", {1, 3, 32, 32});
  const Source stem = b.activation("a0", b.convolution("stem", image, 8, {same_window(3, 2), 1, true}), "relu6");
  const Source depthwise = b.activation("a1", b.convolution("depthwise", stem, 8, {same_window(3), 8, true}), "relu6");
  const Source sum = b.add("sum", stem, b.convolution("pointwise", depthwise, 8, {same_window(1), 1, true}));
  const Source mean = b.global_average_pool("mean", b.activation("a2", sum, "relu"));
  b.output(b.softmax("softmax", b.linear("logits", mean, 10)));
  const TemporaryFolder folder;
  write_file_quickly(folder.path() / "model.onnx", onnx_model(b.take(), {}));
  const Network onnx = read_onnx(folder.path() / "model.onnx"), tflite = read_tflite_bytes(small_network());
  const auto expect_near = [](double a, double b) { EXPECT_LE(std::abs(a - b), 0.02 * b) << a << " and " << b; };
  expect_near(static_cast<double>(multiply_adds(tflite)), static_cast<double>(multiply_adds(onnx)));
  expect_near(static_cast<double>(parameter_count(tflite)), static_cast<double>(parameter_count(onnx)));
  ASSERT_EQ(tflite.nodes.size(), onnx.nodes.size());
  const auto bytes = [](const Network& network) {
    std::int64_t sum = 0;
    for (const OperatorSpecification& s : operator_list(network)) sum += input_bytes(s) + output_bytes(s);
    return static_cast<double>(sum);
  };
  expect_near(bytes(tflite), bytes(onnx));
}

TEST(TfliteReader, ReshapesBetweenImagesAndRows_KeepBothInTheirOrder) {
  Model model;  // squeeze and excitation as Keras writes it, and tokens of a transformer
  const int image = model.tensor("image", {1, 8, 8, 4});
  const int rows = model.tensor("rows", {1, 64, 4});
  model.node(22, {image, model.integers("s0", {1, 64, 4})}, {rows});
  const int heads = model.tensor("heads", {1, 64, 2, 2});
  model.node(22, {rows, model.integers("s1", {1, 64, 2, 2})}, {heads});
  const int by_head = model.tensor("by_head", {1, 2, 64, 2});
  model.node(39, {heads, model.integers("order", {0, 2, 1, 3})}, {by_head});
  const int scores = model.tensor("scores", {1, 2, 64, 64});
  model.node(126, {by_head, by_head}, {scores}, {{1, Model::small(1)}});
  const int mean = model.tensor("mean", {1, 4});
  model.node(40, {image, model.integers("axes", {1, 2})}, {mean}, {{0, Model::small(0)}});
  const int squeezed = model.tensor("squeezed", {1, 1, 1, 4});
  model.node(22, {mean, model.integers("s2", {1, 1, 1, 4})}, {squeezed});
  const int gate = model.tensor("gate", {1, 1, 1, 4});
  model.node(3, {squeezed, model.weights("w", {4, 1, 1, 4})}, {gate}, convolution_options(0, 1, 0));
  const int scaled = model.tensor("scaled", {1, 8, 8, 4});
  model.node(18, {image, gate}, {scaled});
  EXPECT_EQ(lines(read_tflite_bytes(model.bytes({image}, {scores, scaled}))),
            (std::vector<std::string>{
                "reshape 1x4x8x8 -> 1x64x2x2 float32", "transpose 1x64x2x2 -> 1x2x64x2 float32",
                "transpose 1x2x64x2 -> 1x2x2x64 float32", "matrix_product 1x2x64x2 1x2x2x64 -> 1x2x64x64 float32",
                "global_pool 1x4x8x8 -> 1x4 float32", "reshape 1x4 -> 1x4x1x1 float32",
                "convolution 1x4x1x1 -> 1x4x1x1 float32", "multiply 1x4x8x8 1x4x1x1 -> 1x4x8x8 float32"}));
}

TEST(TfliteReader, AProductOfImages_IsOneOfTheirRows) {
  Model model;
  const int x = model.tensor("x", {1, 8, 6, 4}), image = model.tensor("image", {1, 8, 6, 4});
  const int product = model.tensor("product", {1, 8, 6, 6}), y = model.tensor("y", {1, 8, 6, 3});
  model.node(3, {x, model.weights("w", {4, 1, 1, 4})}, {image}, convolution_options(0, 1, 0));
  model.node(126, {image, image}, {product}, {{1, Model::small(1)}});
  model.node(3, {product, model.weights("v", {3, 1, 1, 6})}, {y}, convolution_options(0, 1, 0));
  const Network network = read_tflite_bytes(model.bytes({x}, {y}));
  EXPECT_EQ(multiply_adds(network), 48 * 4 * 4 + 8 * 6 * 6 * 4 + 48 * 6 * 3);
  EXPECT_EQ(tensor_type(network, network.outputs.at(0)).shape, (Shape{1, 3, 8, 6}));
}

TEST(TfliteReader, QuantisedOperators_ComputeInBytes) {
  Model model;
  const int image = model.tensor("image", {1, 8, 8, 4});
  const int bytes = model.tensor("bytes", {1, 8, 8, 4}, Model::int8);
  model.node(114, {image}, {bytes});
  const int result = model.tensor("result", {1, 8, 8, 2}, Model::int8);
  model.node(3, {bytes, model.weights("w", {2, 1, 1, 4}, Model::int8), model.weights("b", {2}, Model::int32)}, {result},
             convolution_options(1, 1, 0));
  const int pooled = model.tensor("pooled", {1, 4, 4, 2}, Model::int8);
  model.node(
      17, {result}, {pooled},
      {{0, Model::small(1)}, {1, Model::whole(2)}, {2, Model::whole(2)}, {3, Model::whole(2)}, {4, Model::whole(2)}});
  const int output = model.tensor("output", {1, 4, 4, 2});
  model.node(6, {pooled}, {output});
  const Network network = read_tflite_bytes(model.bytes({image}, {output}));
  ASSERT_EQ(network.nodes.size(), 2U);
  EXPECT_EQ(format(network.nodes[1].operation), "max_pool 2x2 stride 2x2 1x2x8x8 -> 1x2x4x4 int8");
}

TEST(TfliteReader, WeightsOfHalfPrecision_AreConstantsStill) {
  Model model;
  const int row = model.tensor("row", {1, 6});
  const int weights = model.tensor("weights", {2, 6});
  model.node(6, {model.weights("half", {2, 6}, Model::float16)}, {weights});
  const int output = model.tensor("output", {1, 2});
  model.node(9, {row, weights, -1}, {output}, {{0, Model::small(1)}});
  EXPECT_EQ(
      lines(read_tflite_bytes(model.bytes({row}, {output}))),
      (std::vector<std::string>{"linear 1x6 -> 1x2 weights of 16 bits float32", "activation relu 1x2 -> 1x2 float32"}));
}

TEST(TfliteReader, UnknownOperators_AreOpaqueWithTheirWeights) {
  Model model;
  const int row = model.tensor("row", {1, 6, 4});
  const int state = model.tensor("state", {1, 6, 5});
  model.node(10, {row, model.weights("w", {5, 4})}, {state});
  const int boxes = model.tensor("boxes", {1, 10, 4}), scores = model.tensor("scores", {1, 10});
  model.node(32, {state}, {boxes, scores}, {}, "TFLite_Detection_PostProcess");
  EXPECT_EQ(lines(read_tflite_bytes(model.bytes({row}, {boxes, scores}))),
            (std::vector<std::string>{"opaque tflite.10 1x6x4 -> 1x6x5 constant 5x4 float32",
                                      "opaque tflite.TFLite_Detection_PostProcess 1x6x5 -> 1x10x4 float32"}));
}

TEST(TfliteReader, RecurrentLayersAndVolumes_HaveOnnxsNamesAndWeights) {
  Model model;
  const int steps = model.tensor("steps", {1, 6, 4}), result = model.tensor("result", {1, 6, 5});
  std::vector<std::int32_t> inputs = {steps};
  for (int gate = 0; gate < 4; ++gate) inputs.push_back(model.weights("w", {5, 4}));
  for (int gate = 0; gate < 4; ++gate) inputs.push_back(model.weights("r", {5, 5}));
  for (int peephole = 0; peephole < 3; ++peephole) inputs.push_back(-1);
  for (int gate = 0; gate < 4; ++gate) inputs.push_back(model.weights("b", {5}));
  model.node(44, inputs, {result});
  const int projected = model.tensor("projected", {1, 6, 3});
  for (int gate = 5; gate < 9; ++gate) inputs[static_cast<std::size_t>(gate)] = model.weights("r", {5, 3});
  for (int peephole = 9; peephole < 12; ++peephole) {
    inputs[static_cast<std::size_t>(peephole)] = model.weights("p", {5});
  }
  inputs.push_back(model.weights("projection", {3, 5}));
  model.node(44, inputs, {projected});
  const int volume = model.tensor("volume", {1, 4, 8, 8, 3}), windows = model.tensor("windows", {1, 4, 8, 8, 2});
  model.node(132, {volume, model.weights("v", {3, 3, 3, 3, 2})}, {windows});
  EXPECT_EQ(
      lines(read_tflite_bytes(model.bytes({steps, volume}, {result, projected, windows}))),
      (std::vector<std::string>{"opaque LSTM 1x6x4 -> 1x6x5 constant 1x20x4 constant 1x20x5 constant 1x20 float32",
                                "opaque LSTM 1x6x4 -> 1x6x3 constant 1x20x4 constant 1x20x3 constant 1x20 constant "
                                "1x15 constant 1x3x5 float32",
                                "opaque Conv 1x4x8x8x3 -> 1x4x8x8x2 constant 2x3x3x3x3 float32"}));
}

TEST(TfliteReader, ATransposedConvolution_GivesTheShapeOfTheFile) {
  Model model;
  const int image = model.tensor("image", {1, 8, 8, 4}), twice = model.tensor("twice", {1, 16, 16, 2});
  model.node(67, {model.integers("shape", {1, 16, 16, 2}), model.weights("w", {2, 3, 3, 4}), image}, {twice},
             {{0, Model::small(0)}, {1, Model::whole(2)}, {2, Model::whole(2)}});
  const int again = model.tensor("again", {1, 32, 32, 1});
  model.node(32, {twice, model.weights("v", {1, 2, 2, 2}), model.weights("b", {1})}, {again}, {},
             "Convolution2DTransposeBias");
  EXPECT_EQ(lines(read_tflite_bytes(model.bytes({image}, {again}))),
            (std::vector<std::string>{"transposed_convolution 3x3 stride 2x2 1x4x8x8 -> 1x2x16x16 float32",
                                      "transposed_convolution 2x2 stride 2x2 bias 1x2x16x16 -> 1x1x32x32 float32"}));
}

TEST(TfliteReader, AnOpenBatch_IsWhatIsAskedFor) {
  Model model;
  const int row = model.tensor("row", {1, 6}, Model::float32, {-1, 6});
  const int output = model.tensor("output", {1, 2}, Model::float32, {-1, 2});
  model.node(9, {row, model.weights("w", {2, 6})}, {output});
  const std::string bytes = model.bytes({row}, {output});
  NetworkReadOptions options;
  options.batch = 8;
  EXPECT_EQ(lines(read_tflite_bytes(bytes, options)), (std::vector<std::string>{"linear 8x6 -> 8x2 float32"}));
  options = {};
  options.shapes = {{"row", {3, 6}}};
  EXPECT_EQ(lines(read_tflite_bytes(bytes, options)), (std::vector<std::string>{"linear 3x6 -> 3x2 float32"}));
  options.shapes = {{"row", {1, 7}}};
  EXPECT_NE(tflite_refusal(bytes, options).find("the file fixes it at 6"), std::string::npos);
  options.shapes = {{"column", {1, 6}}};
  EXPECT_NE(tflite_refusal(bytes, options).find("it has no input 'column'"), std::string::npos);
  options.inputs_of_several = std::make_shared<std::set<std::string>>();
  EXPECT_NO_THROW(read_tflite_bytes(bytes, options));
  Model fixed;
  const int numbers = fixed.tensor("row", {1, 6}), sum = fixed.tensor("sum", {1, 2});
  fixed.node(9, {numbers, fixed.weights("w", {2, 6})}, {sum});
  options.shapes = {{"row", {1, 9}}};
  EXPECT_NO_THROW(read_tflite_bytes(fixed.bytes({numbers}, {sum}), options)) << "it is for those that leave it open";
}

TEST(TfliteReader, Scalars_AreNoFactors) {
  for (const int code : {9, 126}) {
    Model model;
    const int number = model.tensor("number", {}), result = model.tensor("result", {1, 3});
    model.node(code, {number, model.weights("w", {3, 1})}, {result});
    EXPECT_NE(tflite_refusal(model.bytes({number}, {result})).find("scalar"), std::string::npos) << code;
  }
}

TEST(TfliteReader, AConstantThatIsCutShort_HasNoNumbers) {
  Model model;
  const int row = model.tensor("row", {4}, Model::int32), sum = model.tensor("sum", {4}, Model::int32);
  model.node(0, {row, model.cut_short("w", {1}, 3)}, {sum});
  const Network network = read_tflite_bytes(model.bytes({row}, {sum}));
  EXPECT_EQ(lines(network), std::vector<std::string>{"add 4 -> 4 int32"});
  EXPECT_EQ(network.nodes[0].attributes.alpha, 1);
}

TEST(TfliteReader, AConstantInFrontOfAnImage_IsJoinedAlongTheImagesAxis) {
  Model model;
  const int image = model.tensor("image", {1, 8, 8, 3}), both = model.tensor("both", {1, 8, 8, 4});
  model.node(2, {model.weights("c", {1, 8, 8, 1}), image}, {both}, {{0, Model::whole(3)}});
  const int result = model.tensor("result", {1, 8, 8, 2});
  model.node(3, {both, model.weights("w", {2, 1, 1, 4})}, {result}, convolution_options(0, 1, 0));
  const Network network = read_tflite_bytes(model.bytes({image}, {result}));
  EXPECT_EQ(format(network.nodes[0].operation), "concatenate 1x3x8x8 -> 1x4x8x8 constant 1x1x8x8 float32");
  EXPECT_EQ(network.nodes[0].attributes.axes, std::vector<std::int64_t>{1});
}

TEST(TfliteReader, AConstantThatIsLargerThanATensor_IsBroadcast) {
  Model model;
  const int lengths = model.tensor("lengths", {2, 1}, Model::int32), mask = model.tensor("mask", {2, 5}, Model::int32);
  model.node(58, {model.integers("range", {0, 1, 2, 3, 4}, {1, 5}), lengths}, {mask});
  EXPECT_EQ(lines(read_tflite_bytes(model.bytes({lengths}, {mask}))),
            std::vector<std::string>{"elementwise less 2x1 -> 2x5 int32"});
}

TEST(TfliteReader, OutputsOfDifferentTypes_KeepThem) {
  Model model;
  const int row = model.tensor("row", {1, 100});
  const int best = model.tensor("best", {1, 5}), places = model.tensor("places", {1, 5}, Model::int32);
  model.node(48, {row, model.integers("k", {5})}, {best, places});
  const Network network = read_tflite_bytes(model.bytes({row}, {best, places}));
  ASSERT_EQ(network.nodes[0].outputs.size(), 2U);
  EXPECT_EQ(network.nodes[0].outputs[0].type, ElementType::float32);
  EXPECT_EQ(network.nodes[0].outputs[1].type, ElementType::int32);
}

TEST(TfliteReader, ListsThatManyTensorsName_AreReadUpToALimit) {
  Model model;
  const auto ones = flat_numbers(std::vector<std::int32_t>(100'000, 1));
  const int row = model.tensor("row", {1, 6}), result = model.tensor("result", {1, 6});
  model.node(19, {row}, {result});
  EXPECT_NE(tflite_refusal(model.bytes({row}, {result}, ones, 200)).find("2^24 numbers and letters"),
            std::string::npos);
}

TEST(TfliteReader, WhatContradictsItself_IsRefusedByName) {
  Model model;
  const int image = model.tensor("image", {1, 8, 8, 3});
  const int result = model.tensor("result", {1, 8, 8, 2});
  model.node(3, {image, model.weights("w", {2, 1, 1, 4})}, {result}, convolution_options(1, 1, 0));
  EXPECT_NE(tflite_refusal(model.bytes({image}, {result})).find("('result'): weights of 2x1x1x4 do not fit 3 channels"),
            std::string::npos);
  Model steps;
  const int from = steps.tensor("from", {1, 8, 8, 4}), to = steps.tensor("to", {1, 8, 8, 2});
  steps.node(3, {from, steps.weights("w", {2, 1, 1, 4})}, {to}, convolution_options(1, 0, 0));
  EXPECT_NE(tflite_refusal(steps.bytes({from}, {to})).find("stride"), std::string::npos);
}

TEST(TfliteReader, FilesOfOtherKindsAndDamagedOnes_AreRefused) {
  EXPECT_NE(tflite_refusal("").find("is empty, no TensorFlow Lite model"), std::string::npos);
  EXPECT_NE(tflite_refusal(std::string("\x08\x07\x12\x07pytorch", 11)).find("is an ONNX model"), std::string::npos);
  const std::string whole = small_network();
  for (std::size_t length = 8; length < whole.size(); length += 97) {
    try {
      read_tflite_bytes(whole.substr(0, length));
    } catch (const Error&) {
    }
  }
  std::string damaged = whole;
  for (std::size_t place = 0; place < whole.size(); place += 11) {
    damaged[place] = static_cast<char>(damaged[place] ^ 0x55);
    try {
      read_tflite_bytes(damaged);
    } catch (const Error&) {
    }
    damaged[place] = whole[place];
  }
}

}  // namespace
}  // namespace tenshot::nasbench
