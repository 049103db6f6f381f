#include <gtest/gtest.h>

#include "nasbench/support/error.h"
#include "tests/unit/nasbench/formats/ncnn_text.h"

namespace tenshot::nasbench {
namespace {

/// The network of a blob "x" of that size, and of these lines.
Network network_of(const std::string& size, const std::vector<std::string>& layers) {
  std::string text = "7767517\n" + std::to_string(layers.size() + 1) + " 99\nInput x 0 1 x " + size + "\n";
  for (const std::string& layer : layers) text += layer + "\n";
  return read_param(text);
}

using Lines = std::vector<std::string>;

const std::string image = "0=6 1=8 2=4", volume = "0=8 1=8 11=4 2=3";

TEST(NcnnLayers, NormsWithoutAScale_HaveNoParameters) {
  for (const char* norm : {"LayerNorm n 1 1 x y 0=6", "GroupNorm n 1 1 x y 0=2 1=4", "InstanceNorm n 1 1 x y 0=4"}) {
    EXPECT_GT(parameter_count(network_of(image, {norm})), 0) << norm;
    const std::string key = std::string(norm).find("Group") == 0 ? " 3=0" : " 2=0";
    EXPECT_EQ(parameter_count(network_of(image, {norm + key})), 0) << norm;
    EXPECT_EQ(lines(network_of(image, {norm + key})), lines(network_of(image, {norm})));
  }
}

TEST(NcnnLayers, WeightsThatAreComputed_AreNoParameters) {
  const Network computed =
      network_of(image, {"Input w 0 1 w 0=3 1=3 11=4 2=5", "Convolution c 2 1 x w y 4=1 19=1 9=1"});
  EXPECT_EQ(lines(computed),
            (Lines{"reshape 1x5x4x3x3 -> 5x4x3x3 float32", "opaque Conv 1x4x8x6 5x4x3x3 -> 1x5x8x6 float32",
                   "activation relu 1x5x8x6 -> 1x5x8x6 float32"}));
  EXPECT_EQ(multiply_adds(computed), 5 * 8 * 6 * 4 * 9);
  EXPECT_EQ(parameter_count(computed), 0);
  const Network stored = network_of(image, {"MemoryData w 0 1 w 0=3 1=3 11=4 2=5", "Convolution c 2 1 x w y 4=1 19=1"});
  EXPECT_EQ(lines(stored), Lines{"convolution 3x3 1x4x8x6 -> 1x5x8x6 float32"});
  EXPECT_EQ(parameter_count(stored), 5 * 4 * 9);
  const Network flat = network_of("0=20 1=4", {"Input w 0 1 w 0=5 1=4 2=7", "Convolution1D c 2 1 x w y 19=1"});
  EXPECT_EQ(tensor_type(flat, flat.outputs.at(0)).shape, (Shape{1, 7, 16}));
  EXPECT_EQ(multiply_adds(flat), 7 * 16 * 4 * 5);
  const Network transposed =
      network_of(image, {"Input w 0 1 w 0=2 1=2 11=5 2=4", "Deconvolution d 2 1 x w y 3=2 28=1"});
  EXPECT_EQ(tensor_type(transposed, transposed.outputs.at(0)).shape, (Shape{1, 5, 16, 12}));
  EXPECT_EQ(multiply_adds(transposed), 4 * 8 * 6 * 5 * 4);
  EXPECT_EQ(parameter_count(transposed), 0);
}

TEST(NcnnLayers, PoolsAndTransposedConvolutionsOfVolumes) {
  EXPECT_EQ(lines(network_of(volume, {"Pooling3D p 1 1 x y 0=0 1=3 2=2"})),
            Lines{"opaque MaxPool 1x3x4x8x8 -> 1x3x2x4x4 float32"})
      << "full padding";
  EXPECT_EQ(lines(network_of(volume, {"Pooling3D p 1 1 x y 0=1 1=3 2=2 5=1 21=2"})),
            Lines{"opaque AveragePool 1x3x4x8x8 -> 1x3x2x3x3 float32"});
  EXPECT_EQ(lines(network_of(volume, {"Pooling3D p 1 1 x y 0=1 7=1 8=2 28=-233"})),
            Lines{"opaque AveragePool 1x3x4x8x8 -> 1x3x4x2x2 float32"});
  EXPECT_EQ(lines(network_of(volume, {"Pooling3D p 1 1 x y 0=1 4=1"})), Lines{"global_pool 1x3x4x8x8 -> 1x3 float32"});
  const Network transposed = network_of(volume, {"Deconvolution3D d 1 1 x y 0=5 1=2 3=2 5=1 6=120"});
  EXPECT_EQ(lines(transposed),
            Lines{"opaque ConvTranspose 1x3x4x8x8 -> 1x5x8x16x16 constant 3x5x2x2x2 constant 5 float32"});
  EXPECT_EQ(multiply_adds(transposed), 3 * 4 * 8 * 8 * 5 * 8);
}

TEST(NcnnLayers, WhatMovesNumbersHasItsShape) {
  const auto shape = [](const std::string& size, const std::string& layer) {
    const Network network = network_of(size, {layer});
    return tensor_type(network, network.outputs.at(0)).shape;
  };
  EXPECT_EQ(shape(image, "Unfold u 1 1 x y 1=3 4=1"), (Shape{1, 36, 48}));
  EXPECT_EQ(shape("0=48 1=36", "Fold f 1 1 x y 1=3 4=1 20=6 21=8"), (Shape{1, 4, 8, 6}));
  EXPECT_EQ(shape(image, "ArgMax a 1 1 x y 0=1 1=3"), (Shape{1, 2, 3}));
  EXPECT_EQ(shape("0=5", "Diag d 1 1 x y 0=-1"), (Shape{1, 6, 6}));
  EXPECT_EQ(shape("0=6 1=8", "Diag d 1 1 x y 0=1"), (Shape{1, 5}));
  EXPECT_EQ(shape("0=16000", "Spectrogram s 1 1 x y 0=512 1=2 2=160"), (Shape{1, 257, 101}));
  EXPECT_EQ(shape(image, "SPP p 1 1 x y 1=3"), (Shape{1, 4 * 21}));
  EXPECT_EQ(shape(image, "StatisticsPooling p 1 1 x y 0=1"), (Shape{1, 8}));
  EXPECT_EQ(shape(image, "Proposal p 1 1 x y 3=50"), (Shape{1, 50, 1, 4}));
  const Network region = network_of(image, {"Input b 0 1 b 0=4", "ROIAlign r 2 1 x b y 0=7 1=5"});
  EXPECT_EQ(tensor_type(region, region.outputs.at(0)).shape, (Shape{1, 4, 5, 7}));
  const Network copied = network_of(image, {"Input s 0 1 s 0=2 1=8 2=4", "CopyTo c 2 1 x s y"});
  EXPECT_EQ(tensor_type(copied, copied.outputs.at(0)).shape, (Shape{1, 4, 8, 6}));
}

/// The parameter of an Einsum: how many characters its equation has, and they.
std::string equation(const std::string& text) {
  std::string numbers = "-23300=" + std::to_string(text.size());
  for (const char c : text) numbers += "," + std::to_string(static_cast<int>(c));
  return numbers;
}

TEST(NcnnLayers, WhatIsMadeOfConstantsAlone_IsAConstant) {
  const std::string stored = "MemoryData m 0 1 m " + image;
  for (const char* layer : {"Padding p 1 1 m c 0=0", "Eltwise e 1 1 m c 0=1", "Concat k 1 1 m c 0=0"}) {
    const Network network = network_of(image, {stored, layer, "BinaryOp b 2 1 x c y 0=0"});
    EXPECT_EQ(lines(network), Lines{"add 1x4x8x6 -> 1x4x8x6 constant 1x4x8x6 float32"}) << layer;
  }
}

TEST(NcnnLayers, ASmallerFactor_StandsForTheOutermostDimensions) {
  const auto product = [](const std::string& input, const std::string& factor) {
    return lines(network_of(input, {"MemoryData m 0 1 m " + factor, "BinaryOp b 2 1 x m y 0=2"}));
  };
  EXPECT_EQ(product("0=1 1=1 2=64", "0=64"), Lines{"multiply 1x64x1x1 -> 1x64x1x1 constant 1x64x1x1 float32"});
  EXPECT_EQ(product("0=8 1=8 2=64", "0=8"), Lines{"multiply 1x64x8x8 -> 1x64x8x8 constant 1x8 float32"});
  EXPECT_EQ(product("0=8 1=8 2=64", "0=1 1=64"), Lines{"multiply 1x64x8x8 -> 1x64x8x8 constant 1x64x1x1 float32"});
  EXPECT_EQ(product("0=1 1=5", "0=5"), Lines{"multiply 1x5x1 -> 1x5x1 constant 1x5x1 float32"});
}

TEST(NcnnLayers, AConstantThatSeveralLayersRead_CountsOnce) {
  const Network shared = network_of(
      "0=6 1=8", {"MemoryData m 0 1 m 0=6 1=6", "Split s 1 2 m m1 m2", "MatMul a 2 1 x m1 a", "MatMul b 2 1 a m2 y"});
  EXPECT_EQ(lines(shared), (Lines{"linear 1x8x6 -> 1x8x6 float32", "linear 1x8x6 -> 1x8x6 float32"}));
  EXPECT_EQ(parameter_count(shared), 6 * 6);
  const Network two = network_of("0=6 1=8", {"MemoryData m 0 1 m 0=6 1=6", "MemoryData m 0 1 n 0=6 1=6",
                                             "MatMul a 2 1 x m a", "MatMul b 2 1 a n y"});
  EXPECT_EQ(parameter_count(two), 2 * 6 * 6) << "two blobs, whatever their layers are called";
}

TEST(NcnnLayers, AGemm_TakesAStoredFactorOnEitherSide) {
  const auto gemm = [](const std::string& factor, const std::string& layer) {
    return network_of("0=6 1=8", {"MemoryData m 0 1 m " + factor, "Gemm g " + layer});
  };
  const Network right = gemm("0=10 1=6", "2 1 x m y"), turned = gemm("0=6 1=10", "2 1 x m y 3=1");
  EXPECT_EQ(lines(right), Lines{"linear 1x8x6 -> 1x8x10 float32"});
  EXPECT_EQ(lines(turned), lines(right));
  const Network left = gemm("0=8 1=5", "2 1 m x y");
  EXPECT_EQ(tensor_type(left, left.outputs.at(0)).shape, (Shape{1, 5, 6}));
  EXPECT_EQ(multiply_adds(left), 5 * 6 * 8);
  EXPECT_EQ(parameter_count(left), 5 * 8);
  const Network sum =
      network_of("0=6 1=8", {"MemoryData m 0 1 m 0=10 1=6", "MemoryData c 0 1 c 0=10", "Split s 1 2 c c1 c2",
                             "Gemm g 3 1 x m c1 g", "BinaryOp b 2 1 g c2 y 0=0"});
  EXPECT_EQ(parameter_count(sum), 10 * 6 + 10);
}

TEST(NcnnLayers, RowsOfATableOfBytes_AreReadAsBytes) {
  const OperatorSpecification rows = network_of("0=8", {"Embed e 1 1 x y 0=32 1=100 18=2"}).nodes.at(0).operation;
  EXPECT_EQ(weight_bytes(rows), 100 * 32);
  EXPECT_EQ(read_bytes(rows, weight_bytes(rows)), 8 * 32);
  EXPECT_EQ(output_bytes(rows), 4 * 8 * 32);
}

TEST(NcnnLayers, AnEinsum_IsProductsOfMatrices) {
  const Network computed =
      network_of("0=6 1=8 2=4", {"Input w 0 1 w 0=5 1=6 2=4", "Einsum e 2 1 x w y " + equation("ijk,ikl->ijl")});
  EXPECT_EQ(tensor_type(computed, computed.outputs.at(0)).shape, (Shape{1, 4, 8, 5}));
  EXPECT_EQ(multiply_adds(computed), 4 * 8 * 6 * 5);
  EXPECT_EQ(parameter_count(computed), 0);
  const Network weighed =
      network_of("0=6 1=8", {"MemoryData w 0 1 w 0=5 1=6", "Einsum e 2 1 x w y " + equation("ij,jk->ki")});
  EXPECT_EQ(lines(weighed), (Lines{"linear 1x8x6 -> 1x8x5 float32", "transpose 1x8x5 -> 1x5x8 float32"}));
  EXPECT_EQ(parameter_count(weighed), 5 * 6);
  const Network trace = network_of("0=6 1=6", {"Einsum e 1 1 x y " + equation("ii")});
  EXPECT_EQ(tensor_type(trace, trace.outputs.at(0)).shape, (Shape{1, 1}));
}

TEST(NcnnLayers, AnInverseSpectrogram_GivesTheSignalOfItsFrames) {
  const auto signal = [](const std::string& parameters) {
    const Network network = network_of("0=2 1=101 2=257", {"InverseSpectrogram s 1 1 x y " + parameters});
    return tensor_type(network, network.outputs.at(0)).shape;
  };
  EXPECT_EQ(signal("0=512 1=1 2=160"), (Shape{1, 16000}));
  EXPECT_EQ(signal("0=512 2=160"), (Shape{1, 16000, 2}));
  EXPECT_EQ(signal("0=512 1=2 5=0"), (Shape{1, 100 * 128 + 512}));
  EXPECT_THROW(network_of(image, {"InverseSpectrogram s 1 1 x y 0=512"}), FormatError);
}

TEST(NcnnLayers, ADeformableConvolution_HasTheProductsOfAPlainOne) {
  const Network network =
      network_of(image, {"Input o 0 1 o 0=6 1=8 2=18", "DeformableConv2D d 2 1 x o y 0=5 1=3 4=1 5=1 6=180"});
  EXPECT_EQ(lines(network), Lines{"opaque DeformConv 1x4x8x6 1x18x8x6 -> 1x5x8x6 constant 5x4x3x3 constant 5 float32"});
  EXPECT_EQ(multiply_adds(network), 5 * 8 * 6 * 4 * 9);
}

TEST(NcnnLayers, APointwiseConvolutionOfAVector_IsAProduct) {
  const Network network = network_of(
      image, {"Split s 1 2 x a b", "Pooling p 1 1 a g 0=1 4=1", "Convolution c 1 1 g k 0=5 1=1 5=1 6=20 9=4"});
  EXPECT_EQ(lines(network), (Lines{"global_pool 1x4x8x6 -> 1x4 float32", "linear bias 1x4 -> 1x5 float32",
                                   "activation sigmoid 1x5 -> 1x5 float32"}));
  EXPECT_THROW(network_of("0=4", {"Convolution c 1 1 x y 0=5 1=1 6=21"}), FormatError);
  EXPECT_THROW(network_of("0=4", {"Convolution c 1 1 x y 0=5 1=3 6=180"}), FormatError);
}

TEST(NcnnLayers, PaddingAndCropOfAVolume_HaveTheDepth) {
  EXPECT_EQ(lines(network_of(volume, {"Padding p 1 1 x y 0=1 1=1 2=1 3=1 7=2 8=1"})),
            Lines{"pad 1x3x4x8x8 -> 1x3x7x10x10 float32"});
  EXPECT_EQ(lines(network_of(image, {"Padding p 1 1 x y 7=2 8=1"})), Lines{"pad 1x4x8x6 -> 1x7x8x6 float32"});
  EXPECT_EQ(lines(network_of(volume, {"Crop c 1 1 x y 2=1 3=8 4=8 5=2 13=1 14=-233 15=1"})),
            Lines{"split slice 1x3x4x8x8 -> 1x2x2x8x8 float32"});
}

TEST(NcnnLayers, StatesOfRecurrentLayers_CanBeRead) {
  for (const auto& [layer, weights] : std::vector<std::pair<std::string, int>>{{"LSTM", 4}, {"GRU", 3}, {"RNN", 1}}) {
    const std::string size = " 0=5 1=" + std::to_string(weights * 30) + " 2=2";
    const Network network = network_of("0=6 1=8", {layer + " l 1 2 x y h" + size, "ReLU r 1 1 h z"});
    EXPECT_EQ(lines(network).back(), "activation relu 1x2x5 -> 1x2x5 float32");
  }
  const Network projected = network_of("0=6 1=8", {"LSTM l 1 3 x y h c 0=5 1=192 3=8", "ReLU r 1 1 c z"});
  EXPECT_EQ(lines(projected).back(), "activation relu 1x1x8 -> 1x1x8 float32");
}

TEST(NcnnLayers, AttentionWithACache_TakesThePastWithItsOwnKeys) {
  const Lines caches = {"Input k 0 1 k 0=10 1=32", "Input v 0 1 v 0=10 1=32"};
  const Network own = network_of("0=32 1=2", {caches[0], caches[1], "Input m 0 1 m 0=12 1=2",
                                              "MultiHeadAttention a 4 3 x m k v y nk nv 0=32 1=4 2=1024 5=1 7=1"});
  EXPECT_EQ(multiply_adds(own), 2 * (4 * 1024 + 2 * 12 * 32));
  EXPECT_EQ(parameter_count(own), 4 * (1024 + 32));
  ASSERT_EQ(own.outputs.size(), 3U);
  EXPECT_EQ(tensor_type(own, own.outputs[0]).shape, (Shape{1, 2, 32}));
  EXPECT_EQ(tensor_type(own, own.outputs[2]).shape, (Shape{1, 32, 12}));
  const Network others = network_of("0=32 1=2", {caches[0], caches[1], "Input o 0 1 o 0=32 1=10",
                                                 "MultiHeadAttention a 4 3 x o k v y nk nv 0=32 1=4 2=1024 7=1"});
  EXPECT_EQ(multiply_adds(others), 2 * (2 * 1024 + 2 * 10 * 32)) << "all keys and values are in the cache";
  EXPECT_THROW(network_of("0=32 1=2", {caches[0], "MultiHeadAttention a 2 1 x k y 0=32 1=4 2=1024 7=1"}), FormatError);
}

TEST(NcnnLayers, AGemmThatAddsNothing_HasItsMatrixAlone) {
  const std::string gemm = "Gemm g 1 1 x y 3=1 5=1 6=1 8=10 9=6 10=";
  EXPECT_EQ(parameter_count(network_of("0=6 1=8", {gemm + "-1"})), 60);
  EXPECT_EQ(parameter_count(network_of("0=6 1=8", {gemm + "4"})), 70);
  EXPECT_EQ(lines(network_of("0=6 1=8", {gemm + "-1 18=600"})),
            Lines{"linear 1x8x6 -> 1x8x10 weights of 6 bits float32"});
}

TEST(NcnnLayers, AGemm_AddsWhatIsBroadcastInAnyWay) {
  const auto lines_with = [](const std::string& parameters) {
    return lines(network_of("0=6 1=8", {"Gemm g 1 1 x y 6=1 9=6 " + parameters}));
  };
  const std::string product = "linear 1x8x6 -> 1x8x10 float32", sum = "add 1x8x10 -> 1x8x10 constant ";
  const std::string right = "3=1 5=1 8=10 10=";
  EXPECT_EQ(lines_with(right + "0"), (Lines{product, sum + "1 float32"}));
  EXPECT_EQ(lines_with(right + "1"), (Lines{product, sum + "8x1 float32"}));
  EXPECT_EQ(lines_with(right + "2"), (Lines{product, sum + "8x1 float32"}));
  EXPECT_EQ(lines_with(right + "3"), (Lines{product, sum + "8x10 float32"}));
  EXPECT_EQ(lines_with(right + "4"), Lines{"linear bias 1x8x6 -> 1x8x10 float32"});
  EXPECT_EQ(lines_with(right + "3 18=2"), (Lines{"linear 1x8x6 -> 1x8x10 int8", sum + "8x10 float32"}));
  EXPECT_THROW(lines_with(right + "5"), FormatError);
  const std::string left = "3=1 4=1 7=10 10=", back = "transpose 1x8x10 -> 1x10x8 float32";
  EXPECT_EQ(lines_with(left + "1"), (Lines{"linear bias 1x8x6 -> 1x8x10 float32", back}));
  EXPECT_EQ(lines_with(left + "4"), (Lines{product, back, "add 1x10x8 -> 1x10x8 constant 8 float32"}));
}

TEST(NcnnLayers, AGemm_AddsAComputedTensor) {
  const auto sum_with = [](const std::string& size) {
    return lines(network_of("0=6 1=8", {"Input c 0 1 c " + size, "Gemm g 2 1 x c y 3=1 5=1 8=10 9=6"})).back();
  };
  EXPECT_EQ(sum_with("0=10 1=8"), "add 1x8x10 1x8x10 -> 1x8x10 float32");
  EXPECT_EQ(sum_with("0=10"), "add 1x8x10 1x10 -> 1x8x10 float32");
  EXPECT_EQ(sum_with("0=8"), "add 1x8x10 1x8x1 -> 1x8x10 float32");
  EXPECT_EQ(lines(network_of("0=6 1=8", {"Input b 0 1 b 0=6 1=10", "Gemm g 2 1 x b y 3=1 6=1 7=8 8=10 10=3"})).back(),
            "add 1x8x10 -> 1x8x10 constant 8x10 float32");
}

TEST(NcnnLayers, AVector_IsAFactorOfAProduct) {
  const auto shape_and_products = [](const std::string& left, const std::string& right, const std::string& kind) {
    const Network network = network_of(left, {kind + " b 0 1 b " + right, "MatMul m 2 1 x b y"});
    return std::pair(tensor_type(network, network.outputs.at(0)).shape, multiply_adds(network));
  };
  for (const char* kind : {"Input", "MemoryData"}) {
    EXPECT_EQ(shape_and_products("0=6", "0=6", kind), std::pair(Shape{1, 1}, std::int64_t{6})) << kind;
    EXPECT_EQ(shape_and_products("0=6", "0=5 1=6", kind), std::pair(Shape{1, 5}, std::int64_t{30})) << kind;
    EXPECT_EQ(shape_and_products("0=6 1=8", "0=6", kind), std::pair(Shape{1, 8}, std::int64_t{48})) << kind;
    EXPECT_EQ(shape_and_products(image, "0=6", kind), std::pair(Shape{1, 4, 8}, std::int64_t{192})) << kind;
  }
  EXPECT_EQ(shape_and_products("0=6", "0=5 1=6 2=3", "Input"), std::pair(Shape{1, 3, 5}, std::int64_t{90}));
  const auto after = [](const std::string& weights, const std::string& transposed) {
    const Network network =
        network_of("0=6 1=8", {"MemoryData w 0 1 w " + weights, "MatMul m 2 1 w x y 0=" + transposed});
    return std::pair(tensor_type(network, network.outputs.at(0)).shape, parameter_count(network));
  };
  EXPECT_EQ(after("0=8", "0"), std::pair(Shape{1, 6}, std::int64_t{8}));
  EXPECT_EQ(after("0=6", "1"), std::pair(Shape{1, 8}, std::int64_t{6}));
  EXPECT_EQ(lines(network_of("0=6", {"MemoryData w 0 1 w 0=6 1=5", "MatMul m 2 1 w x y"})),
            Lines{"linear 1x6 -> 1x5 float32"});
}

TEST(NcnnLayers, AnAdaptivePool_MayGiveALargerImage) {
  EXPECT_EQ(lines(network_of(image, {"Pooling p 1 1 x y 0=1 7=1 8=7 18=4"})),
            Lines{"opaque AveragePool 1x4x8x6 -> 1x4x4x7 float32"});
  EXPECT_EQ(lines(network_of("0=5 1=4", {"Pooling1D p 1 1 x y 7=1 8=9"})).at(1),
            "opaque MaxPool 1x4x1x5 -> 1x4x1x9 float32");
}

}  // namespace
}  // namespace tenshot::nasbench
