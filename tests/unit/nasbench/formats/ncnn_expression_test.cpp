#include <gtest/gtest.h>

#include "tests/unit/nasbench/formats/ncnn_text.h"

namespace tenshot::nasbench {
namespace {

using Lines = std::vector<std::string>;

TEST(NcnnExpression, ExpressionsOfSizes_AreFollowed) {
  EXPECT_EQ(param_operators("Reshape r 1 1 x y 6=*(0w,2),-1", 1), Lines{"reshape 1x4x8x6 -> 1x16x12 float32"});
  EXPECT_EQ(param_operators("Reshape r 1 1 x y 6=\"-1,*(0h,2),//(0c,3)\"", 1),
            Lines{"reshape 1x4x8x6 -> 1x1x16x12 float32"});
  EXPECT_EQ(param_operators("Reshape r 1 1 x y 0=*(0w,2) 1=-1", 1), Lines{"reshape 1x4x8x6 -> 1x16x12 float32"});
  EXPECT_EQ(param_operators("Input s 0 1 s 0=3 1=2\nReshape r 2 1 x s y 6=\"*(1w,1h),-(0w,2),8\"\nReLU a 1 1 s t", 3),
            (Lines{"reshape 1x4x8x6 -> 1x8x4x6 float32", "activation relu 1x2x3 -> 1x2x3 float32"}));
  EXPECT_EQ(param_operators("Crop c 1 1 x y 19=1 20=//(0h,3) 21=1", 1),
            Lines{"split slice 1x4x8x6 -> 1x4x1x6 float32"});
  EXPECT_EQ(param_operators("Interp i 1 1 x y 0=2 9=\"*(0w,2),ceil(/(0h,3))\"", 1),
            Lines{"resize 1x4x8x6 -> 1x4x3x12 float32"});
  EXPECT_EQ(param_operators("Interp i 1 1 x y 0=2 9=\"max(0d,trunc(*(0w,2.25))),pow(2,2)\"", 1),
            Lines{"resize 1x4x8x6 -> 1x4x4x13 float32"});
  EXPECT_EQ(param_operators("Clip c 1 1 x y 0=0.000000e+00 1=6.000000e+00", 1),
            Lines{"activation relu6 1x4x8x6 -> 1x4x8x6 float32"});
}

TEST(NcnnExpression, ExpressionsThatCannotBeFollowed_AreRefused) {
  const std::string head = "7767517\n2 2\nInput x 0 1 x 0=6 1=8 2=4\n";
  for (const auto& [layer, part] : std::vector<std::pair<std::string, std::string>>{
           {"Reshape r 1 1 x y 6=sinh(0w),-1", "we do not follow 'sinh' in its sizes; let pnnx"},
           {"Reshape r 1 1 x y 6=\"64,1w\"", "its sizes have '1w', and it has 1 inputs"},
           {"Reshape r 1 1 x y 6=*(0w)", "its sizes have too few numbers for '*'"},
           {"Reshape r 1 1 x y 6=/(0w,0)", "parameter 6 is no whole number"},
           {"Reshape r 1 1 x y 6=0w,1,1,1,0h", "more than four dimensions"}}) {
    EXPECT_NE(param_refusal(head + layer).find(part), std::string::npos) << param_refusal(head + layer);
  }
}

TEST(NcnnExpression, LongNames_AreToldApart) {
  const std::string name(600, 'n');
  EXPECT_EQ(
      param_operators(
          "Split s 1 2 x " + name + "a " + name + "b\nReLU r 1 1 " + name + "a p\nSigmoid t 1 1 " + name + "b q", 3),
      (Lines{"activation relu 1x4x8x6 -> 1x4x8x6 float32", "activation sigmoid 1x4x8x6 -> 1x4x8x6 float32"}));
}

}  // namespace
}  // namespace tenshot::nasbench
