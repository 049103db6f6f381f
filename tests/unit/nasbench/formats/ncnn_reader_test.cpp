#include <gtest/gtest.h>

#include "tests/unit/nasbench/formats/ncnn_text.h"

namespace tenshot::nasbench {
namespace {

using Lines = std::vector<std::string>;

TEST(NcnnReader, ASmallNetwork_HasItsOperatorsAndCosts) {
  const Network network = read_param(
      "7767517\n"
      "8 9\n"
      "Input data 0 1 data 0=32 1=32 2=3\n"
      "Convolution stem 1 1 data stem 0=8 1=3 3=2 4=1 5=1 6=216 9=1\n"
      "Split copies 1 2 stem a b\n"
      "ConvolutionDepthWise dw 1 1 a dw 0=8 1=3 4=1 5=1 6=72 7=8\n"
      "BinaryOp sum 2 1 dw b sum 0=0\n"
      "Pooling mean 1 1 sum mean 0=1 4=1\n"
      "InnerProduct fc 1 1 mean fc 0=10 1=1 2=80\n"
      "Softmax prob 1 1 fc prob 0=0\n");
  EXPECT_EQ(lines(network),
            (Lines{"convolution 3x3 stride 2x2 bias 1x3x32x32 -> 1x8x16x16 float32",
                   "activation relu 1x8x16x16 -> 1x8x16x16 float32",
                   "convolution 3x3 groups 8 bias 1x8x16x16 -> 1x8x16x16 float32",
                   "add 1x8x16x16 1x8x16x16 -> 1x8x16x16 float32", "global_pool 1x8x16x16 -> 1x8 float32",
                   "linear bias 1x8 -> 1x10 float32", "softmax 1x10 -> 1x10 float32"}));
  EXPECT_EQ(multiply_adds(network), 8 * 256 * 27 + 8 * 256 * 9 + 80);
  EXPECT_EQ(parameter_count(network), (216 + 8) + (72 + 8) + (80 + 10));
}

TEST(NcnnReader, WordsMayStandOnOneLineOrMany) {
  const std::string text = "7767517 2 2 Input x 0 1 x 0=4 ReLU\ny\n1 1 x\ny 0=0.1\n";
  EXPECT_EQ(lines(read_param(text)), Lines{"activation leaky_relu 1x4 -> 1x4 float32"});
}

TEST(NcnnReader, Windows_HaveTheWidthsNumbersUnlessHeightsAreGiven) {
  EXPECT_EQ(param_operators("Convolution c 1 1 x y 0=2 1=5 11=3 4=2 14=1 6=120", 1),
            Lines{"convolution 3x5 1x4x8x6 -> 1x2x8x6 float32"});
  EXPECT_EQ(param_operators("Convolution c 1 1 x y 0=2 1=3 3=2 4=-233 6=72", 1),
            Lines{"convolution 3x3 stride 2x2 1x4x8x6 -> 1x2x4x3 float32"});
  EXPECT_EQ(param_operators("Deconvolution d 1 1 x y 0=2 1=4 3=2 4=1 6=128", 1),
            Lines{"transposed_convolution 4x4 stride 2x2 1x4x8x6 -> 1x2x16x12 float32"});
  EXPECT_EQ(param_operators("Pooling p 1 1 x y 0=0 1=3 2=2", 1),
            Lines{"max_pool 3x3 stride 2x2 1x4x8x6 -> 1x4x4x3 float32"})
      << "full padding: a window that lies in the image only in part counts";
  EXPECT_EQ(param_operators("Pooling p 1 1 x y 0=0 1=3 2=2 5=1", 1),
            Lines{"max_pool 3x3 stride 2x2 1x4x8x6 -> 1x4x3x2 float32"});
  EXPECT_EQ(param_operators("Pooling p 1 1 x y 0=1 7=1 8=3 18=4", 1),
            Lines{"average_pool 2x2 stride 2x2 1x4x8x6 -> 1x4x4x3 float32"});
}

TEST(NcnnReader, Shapes_FollowTheBlobsDimensions) {
  EXPECT_EQ(param_operators("Reshape r 1 1 x y 0=-1 1=4", 1), Lines{"reshape 1x4x8x6 -> 1x4x48 float32"});
  EXPECT_EQ(param_operators("Permute p 1 1 x y 0=3", 1), Lines{"transpose 1x4x8x6 -> 1x8x6x4 float32"})
      << "width from channels, height from width, channels from height";
  EXPECT_EQ(param_operators("Flatten f 1 1 x y", 1), Lines{"reshape 1x4x8x6 -> 1x192 float32"});
  EXPECT_EQ(param_operators("Interp i 1 1 x y 0=2 1=2.0 2=1.5", 1), Lines{"resize 1x4x8x6 -> 1x4x16x9 float32"});
  EXPECT_EQ(param_operators("Interp i 1 1 x y 0=3 1=2.0 2=1.5", 1), Lines{"resize cubic 1x4x8x6 -> 1x4x16x9 float32"});
  EXPECT_EQ(param_operators("Slice s 1 2 x y z -23300=2,1,-233\nReLU a 1 1 y p\nReLU b 1 1 z q", 3),
            (Lines{"split 1x4x8x6 -> 1x1x8x6 float32", "activation relu 1x1x8x6 -> 1x1x8x6 float32",
                   "activation relu 1x3x8x6 -> 1x3x8x6 float32"}));
  EXPECT_EQ(param_operators("Crop c 1 1 x y -23309=2,1,0 -23310=2,3,-233 -23311=2,0,1", 1),
            Lines{"split slice 1x4x8x6 -> 1x2x8x6 float32"});
  EXPECT_EQ(param_operators("Padding p 1 1 x y 0=1 1=2 2=3 3=4", 1), Lines{"pad 1x4x8x6 -> 1x4x11x13 float32"});
  EXPECT_EQ(param_operators("PixelShuffle p 1 1 x y 0=2", 1),
            Lines{"opaque DepthToSpace 1x4x8x6 -> 1x1x16x12 float32"});
  EXPECT_EQ(param_operators("Reduction r 1 1 x y 0=3 1=0 -23303=2,1,2 4=0", 1),
            Lines{"global_pool 1x4x8x6 -> 1x4 float32"});
}

TEST(NcnnReader, Products_HaveTheirWeightsSizes) {
  EXPECT_EQ(param_operators("Reshape r 1 1 x t 0=6 1=32\nGemm g 1 1 t y 3=1 5=1 6=1 8=10 9=6 10=4", 2),
            (Lines{"reshape 1x4x8x6 -> 1x32x6 float32", "linear bias 1x32x6 -> 1x32x10 float32"}));
  const Network attention =
      read_param("7767517\n2 2\nInput x 0 1 x 0=8 1=5\nMultiHeadAttention a 1 1 x y 0=8 1=2 2=64\n");
  // Four projections of 5 x 8 x 8, and two products of 2 x 5 x 5 x 4.
  EXPECT_EQ(multiply_adds(attention), 4 * 5 * 64 + 2 * 200);
  EXPECT_EQ(parameter_count(attention), 4 * (64 + 8));
  EXPECT_EQ(param_operators("MemoryData m 0 1 m 0=1 1=1 2=4\nBinaryOp b 2 1 x m y 0=2", 2),
            Lines{"multiply 1x4x8x6 -> 1x4x8x6 constant 1x4x1x1 float32"});
  EXPECT_EQ(param_operators("Reshape r 1 1 x t 0=6 1=32\nLSTM l 1 1 t y 0=5 1=120", 2),
            (Lines{"reshape 1x4x8x6 -> 1x32x6 float32",
                   "opaque LSTM 1x32x6 -> 1x32x5 constant 1x20x6 constant 1x20x5 constant 1x20 float32"}));
}

TEST(NcnnReader, QuantisedLayers_ComputeInBytes) {
  EXPECT_EQ(param_operators("Convolution c 1 1 x y 0=2 1=1 6=8 8=2 9=1\nPooling p 1 1 y z 0=1 4=1\n"
                            "InnerProduct i 1 1 z o 0=3 2=6 8=1",
                            3),
            (Lines{"convolution 1x4x8x6 -> 1x2x8x6 int8", "activation relu 1x2x8x6 -> 1x2x8x6 float32",
                   "global_pool 1x2x8x6 -> 1x2 float32", "linear 1x2 -> 1x3 int8"}));
  EXPECT_EQ(param_operators("Reshape r 1 1 x t 0=6 1=32\nGRU g 1 1 t y 0=5 1=90 8=2", 2).back(),
            "opaque GRU 1x32x6 -> 1x32x5 constant 1x15x6 constant 1x15x5 constant 1x20 int8");
}

TEST(NcnnReader, ConvolutionsOfVolumes_HaveOnnxsNameAndWeights) {
  EXPECT_EQ(lines(read_param("7767517\n2 2\nInput x 0 1 x 0=8 1=8 11=4 2=3\n"
                             "Convolution3D c 1 1 x y 0=5 1=3 4=1 5=1 6=405\n")),
            Lines{"opaque Conv 1x3x4x8x8 -> 1x5x4x8x8 constant 5x3x3x3x3 constant 5 float32"});
}

TEST(NcnnReader, NormsThatAreNoneOfOurKinds_KeepTheShapeAndHaveTheirScales) {
  EXPECT_EQ(
      param_operators("LRN l 1 1 x a 0=0 1=5\nNormalize n 1 1 a b 3=4\nMVN m 1 1 b c\nRMSNorm r 1 1 c d 0=6\n"
                      "RMSNorm s 1 1 d e 0=6 2=0\nShrink h 1 1 e f\nCumulativeSum t 1 1 f g\nFlip i 1 1 g y",
                      8),
      (Lines{"opaque LRN 1x4x8x6 -> 1x4x8x6 float32", "opaque LpNormalization 1x4x8x6 -> 1x4x8x6 constant 4 float32",
             "opaque MeanVarianceNormalization 1x4x8x6 -> 1x4x8x6 float32",
             "opaque RMSNormalization 1x4x8x6 -> 1x4x8x6 constant 6 float32",
             "opaque RMSNormalization 1x4x8x6 -> 1x4x8x6 float32", "opaque Shrink 1x4x8x6 -> 1x4x8x6 float32",
             "opaque CumSum 1x4x8x6 -> 1x4x8x6 float32", "opaque Flip 1x4x8x6 -> 1x4x8x6 float32"}));
}

TEST(NcnnReader, APoolOfASignal_HasItsHeightOfOne) {
  const std::string signal = "7767517\n2 2\nInput x 0 1 x 0=8 1=4\n";
  const Network four = read_param(signal + "Pooling1D p 1 1 x y 0=1 7=1 8=4\n");
  EXPECT_EQ(lines(four),
            (Lines{"reshape 1x4x8 -> 1x4x1x8 float32", "average_pool 1x2 stride 1x2 1x4x1x8 -> 1x4x1x4 float32",
                   "reshape 1x4x1x4 -> 1x4x4 float32"}));
  const Network one = read_param(signal + "Pooling1D p 1 1 x y 0=1 7=1 8=1\n");
  EXPECT_EQ(tensor_type(one, one.outputs.at(0)).shape, (Shape{1, 4, 1}));
}

TEST(NcnnReader, ASecondInputThatSaysASize_IsNoWeight) {
  const Network crop = read_param(
      "7767517\n3 3\nInput x 0 1 x 0=6 1=8 2=4\nMemoryData m 0 1 m 0=3 1=2 2=4\n"
      "Crop c 2 1 x m y\n");
  EXPECT_EQ(lines(crop), Lines{"split slice 1x4x8x6 -> 1x4x2x3 float32"});
  EXPECT_EQ(parameter_count(crop), 0);
}

TEST(NcnnReader, AReversedOperationWithAConstant_HasItsOperandsInTheOtherOrder) {
  const auto constant_first = [](const char* layer) {
    const std::string inputs = "7767517\n3 3\nInput x 0 1 x 0=6 1=8 2=4\nMemoryData m 0 1 m 0=6 1=8 2=4\n";
    return read_param(inputs + layer).nodes.at(0).attributes.constant_first;
  };
  EXPECT_FALSE(constant_first("BinaryOp b 2 1 x m y 0=1\n"));  // x - m
  EXPECT_TRUE(constant_first("BinaryOp b 2 1 m x y 0=1\n"));   // m - x
  EXPECT_TRUE(constant_first("BinaryOp b 2 1 x m y 0=7\n"));   // m - x
  EXPECT_FALSE(constant_first("BinaryOp b 2 1 m x y 0=7\n"));  // x - m
}

TEST(NcnnReader, AProjectedLstm_HasTheProductsOfItsProjection) {
  const Network lstm = read_param("7767517\n2 2\nInput x 0 1 x 0=6 1=32\nLSTM l 1 1 x y 0=5 1=0 3=7\n");
  // 32 steps of 4 x 7 x 6 for the input, 4 x 7 x 5 for the state, 5 x 7 for what it becomes.
  EXPECT_EQ(multiply_adds(lstm), 32 * (168 + 140 + 35));
}

TEST(NcnnReader, ConstantsWithoutSizeAndImmenseOnes_AreRefused) {
  const auto expect = [](const std::string& layers, int count, const std::string& part) {
    const std::string message =
        param_refusal("7767517\n" + std::to_string(count + 1) + " 9\nInput x 0 1 x 0=5 1=3\n" + layers);
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  expect("MemoryData m 0 1 m\nBatchNorm b 1 1 m y\n", 2, "(MemoryData): it does not say how large its data are");
  expect("MemoryData m 0 1 m 0=4\nMatMul b 2 1 x m y 0=1\n", 2, "weights of 4x1 do not fit 1x3x5");
  expect("MemoryData m 0 1 m 0=2147483647\nConcat a 2 1 m m n\nConcat c 2 1 n n y\n", 3, "a dimension of 4294967294");
  expect("LSTM l 1 1 x y 0=2000000 2=2 1=0\n", 1, "more than 9 x 10^13 products");
}

TEST(NcnnReader, UnknownLayers_HaveTheShapeThatTheFileSays) {
  EXPECT_EQ(param_operators("Mystery m 1 1 x y -23330=4,3,3,2,7", 1),
            Lines{"opaque ncnn.Mystery 1x4x8x6 -> 1x7x2x3 float32"});
  const Network network = read_param("7767517\n2 2\nInput x 0 1 x 0=6 1=8 2=4\nMystery m 1 1 x y -23330=4,3,3,2,7\n");
  EXPECT_NE(network.remarks.at(0).find("is not known, and none of their products is counted: ncnn.Mystery"),
            std::string::npos);
  const std::string message = param_refusal("7767517\n2 2\nInput x 0 1 x 0=6\nMystery m 1 1 x y\n");
  EXPECT_NE(message.find("line 4: layer 'm' (Mystery)"), std::string::npos) << message;
  EXPECT_NE(message.find("ncnnoptimize"), std::string::npos) << message;
}

TEST(NcnnReader, InputsOfOpenSize_TakeTheShapeThatIsGiven) {
  const std::string text = "7767517\n2 2\nInput data 0 1 data\nReLU r 1 1 data y\n";
  const std::string message = param_refusal(text);
  EXPECT_NE(message.find("--shape data=1x3x224x224"), std::string::npos) << message;
  NetworkReadOptions options;
  options.shapes = {{"data", {1, 3, 20, 30}}};
  EXPECT_EQ(lines(read_param(text, options)), Lines{"activation relu 1x3x20x30 -> 1x3x20x30 float32"});
  options.shapes = {{"data", {2, 3, 20, 30}}};
  EXPECT_NE(param_refusal(text, options).find("a batch of 1"), std::string::npos);
  options.shapes = {{"image", {1, 3, 20, 30}}};
  EXPECT_NE(param_refusal(text, options).find("it has no input 'image'"), std::string::npos);
}

TEST(NcnnReader, WhatIsCutShortOrContradictsItself_IsRefusedWithItsLine) {
  const auto expect = [](const std::string& text, const std::string& part) {
    const std::string message = param_refusal(text);
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  expect("", "is empty, no ncnn network");
  expect("<!DOCTYPE html><html></html>", "is an HTML page, no ncnn network");
  expect("7767517\n3 3\nInput x 0 1 x 0=6\n", "line 4: the file is cut short");
  expect("7767517\n1 1\nInput x 0 1 x 0=6\nReLU r 1 1 x y\n", "'ReLU' follows the last of 1 layers");
  expect("7767517\n2 2\nInput x 0 1 x 0=6\nReLU r 1 1 z y\n", "no layer before it gives 'z'");
  expect("7767517\n2 2\nInput x 0 1 x 0=6 1=6 2=3\nConvolution c 1 1 x y 0=2 1=3 6=55\n", "55 weights do not fit");
  expect("7767517\n2 2\nInput x 0 1 x 0=6 1=6 2=3\nConvolution c 1 1 x y 0=2 1=3 3=0\n", "stride");
  expect("7767517\n2 2\nInput x 0 1 x 0=6 1=6 2=3\nConvolution c 1 1 x y 0=2 1=9\n", "does not fit");
  expect("7767517\n2 2\nInput x 0 1 x 0=6 1=6 2=3\nShuffleChannel c 1 1 x y 0=2\n", "2 groups do not divide 3");
  expect("7767517\n1 1\nMemoryData x 0 1 x 0=6\n", "no layer of type Input");
}

TEST(NcnnReader, LayersOfLaterReleases_HaveTheirShapes) {
  EXPECT_EQ(param_operators("GLU g 1 1 x y 0=0", 1), Lines{"opaque GLU 1x4x8x6 -> 1x2x8x6 float32"});
  EXPECT_EQ(param_operators("Tile t 1 1 x y -23302=3,1,2,3", 1), Lines{"opaque Tile 1x4x8x6 -> 1x4x16x18 float32"});
  EXPECT_EQ(param_operators("Tile t 1 1 x y 0=0 1=2", 1), Lines{"opaque Tile 1x4x8x6 -> 1x8x8x6 float32"});
  EXPECT_EQ(param_operators("Reduction r 1 1 x y 0=0 1=1", 1), Lines{"reduce sum 1x4x8x6 -> 1x1 float32"});
  EXPECT_EQ(param_operators("Input g 0 1 g 0=2 1=5 2=7\nGridSample s 2 1 x g y 0=1 1=1", 2),
            Lines{"opaque GridSample 1x4x8x6 1x7x5x2 -> 1x4x7x5 float32"});
  EXPECT_EQ(param_operators("Input g 0 1 g 0=5 1=7 2=2\nGridSample s 2 1 x g y 0=1 1=1 3=1", 2),
            Lines{"opaque GridSample 1x4x8x6 1x2x7x5 -> 1x4x7x5 float32"});
  EXPECT_EQ(param_operators("DeepCopy d 1 1 x y\nInput c 0 1 c 0=3 1=8\nInput s 0 1 s 0=3 1=8\n"
                            "RotaryEmbed r 3 1 y c s z",
                            4),
            Lines{"opaque RotaryEmbedding 1x4x8x6 1x8x3 1x8x3 -> 1x4x8x6 float32"});
  const Network left =
      read_param("7767517\n3 3\nInput x 0 1 x 0=7 1=12\nMemoryData w 0 1 w 0=12 1=5\nMatMul m 2 1 w x y\n");
  EXPECT_EQ(lines(left), Lines{"opaque MatMul 1x12x7 -> 1x5x7 constant 1x5x12 float32"});
  EXPECT_EQ(multiply_adds(left), 5 * 7 * 12);
}

TEST(NcnnReader, ProductsOfAttention_TakeThePastWithTheKeys) {
  const std::string inputs = "Input q 0 1 q 0=4 1=5 2=6\nInput k 0 1 k 0=4 1=7 2=2\nInput v 0 1 v 0=8 1=7 2=2\n";
  EXPECT_EQ(multiply_adds(read_param("7767517\n4 4\n" + inputs + "SDPA a 3 1 q k v y")), 6 * 5 * 7 * (4 + 8));
  const Network cached =
      read_param("7767517\n6 8\n" + inputs + "Input pk 0 1 pk 0=4 1=9 2=2\nInput pv 0 1 pv 0=8 1=9 2=2\n" +
                 "SDPA a 5 3 q k v pk pv y ok ov 7=1");
  EXPECT_EQ(multiply_adds(cached), 6 * 5 * (7 + 9) * (4 + 8));
  ASSERT_EQ(cached.outputs.size(), 3U);
  EXPECT_EQ(tensor_type(cached, cached.outputs[2]).shape, (Shape{1, 2, 16, 8}));
}

TEST(NcnnReader, ALayerOfSeveralBlobs_GivesAll) {
  const Network network =
      read_param("7767517\n3 4\nInput kv 0 2 a b 0=6 1=5\nNoop n 2 2 a b c d\nMatMul m 2 1 c d y 0=1");
  EXPECT_EQ(lines(network), (Lines{"transpose 1x5x6 -> 1x6x5 float32", "matrix_product 1x5x6 1x6x5 -> 1x5x5 float32"}));
  ASSERT_EQ(network.inputs.size(), 2U);
  EXPECT_EQ(network.inputs[1].name, "b");
  EXPECT_EQ(network.nodes[0].inputs[0], (Source{-1, 1}));
}

TEST(NcnnReader, AShapeForSeveralNetworksLeavesThoseThatSayTheirSizeAsTheyAre) {
  NetworkReadOptions options;
  options.shapes["x"] = {1, 3, 64, 64};
  const auto first = [&](const std::string& size) {
    return lines(read_param("7767517\n2 2\nInput x 0 1 x" + size + "\nReLU r 1 1 x y\n", options));
  };
  EXPECT_EQ(first(" 0=8 1=8 2=3"), Lines{"activation relu 1x3x64x64 -> 1x3x64x64 float32"});
  options.inputs_of_several = std::make_shared<std::set<std::string>>();
  EXPECT_EQ(first(" 0=8 1=8 2=3"), Lines{"activation relu 1x3x8x8 -> 1x3x8x8 float32"});
  EXPECT_EQ(first(""), Lines{"activation relu 1x3x64x64 -> 1x3x64x64 float32"});
}

TEST(NcnnReader, ANetworkOfPnnx_IsCalledThat) {
  const std::string message =
      param_refusal("7767517\n2 1\npnnx.Input i 0 1 0 #0=(1,3,8,8)f32\nnn.Conv2d c 1 1 0 1 bias=True\n");
  EXPECT_NE(message.find("line 3: a network of pnnx"), std::string::npos) << message;
}

TEST(NcnnReader, WeightsThatAreShorterThanTheLayersSay_AreAProblem) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "net.param", weights = folder.path() / "net.bin";
  write_file_quickly(
      file, "7767517\n3 3\nInput x 0 1 x\nConvolution c 1 1 x y 0=10 1=1 6=40\nInnerProduct f 1 1 y z 0=2 2=20\n");
  const NetworkFormat& format = network_format(file);
  EXPECT_FALSE(format.weights_problem(file)) << "a network is measured without weights as well";
  write_file_quickly(weights, std::string(30, '\0'));
  EXPECT_FALSE(format.weights_problem(file)) << "they may have four bits each";
  write_file_quickly(weights, std::string(29, '\0'));
  const std::optional<std::string> problem = format.weights_problem(file);
  ASSERT_TRUE(problem);
  EXPECT_NE(problem->find("'net.bin' is cut short: its layers have 60 weights"), std::string::npos) << *problem;
}

}  // namespace
}  // namespace tenshot::nasbench
