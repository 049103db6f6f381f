#include <gtest/gtest.h>

#include "nasbench/kernels/fusion_rules.h"
#include "nasbench/support/error.h"

namespace tenshot::nasbench {
namespace {

OperatorSpecification convolution(std::int64_t in, std::int64_t out, std::int64_t output_size, int kernel = 3,
                                  int groups = 1, int stride = 1) {
  OperatorSpecification op;
  op.kind = OperatorKind::convolution;
  op.kernel = {kernel, kernel};
  op.stride = {stride, stride};
  op.groups = groups;
  op.inputs = {{1, in, output_size * stride, output_size * stride}};
  op.output = {1, out, output_size, output_size};
  return op;
}

std::string kernel_of(const OperatorSpecification& op, const std::string& rules) {
  return chosen_kernel(fusion_rules(rules).kernels, op, fusion_types(op).front());
}

bool winograd(const OperatorSpecification& op, const std::string& gpu) {
  return kernel_of(op, "tflite-gpu-" + gpu) == "convolution_winograd_4x4_6x6";
}

TEST(TfliteSelection, TakesWinogradAsThePapersTableSays) {
  // Li et al. (2024), Table B.3.
  EXPECT_FALSE(winograd(convolution(64, 64, 56), "adreno6xx"));
  EXPECT_TRUE(winograd(convolution(64, 64, 56), "mali"));
  EXPECT_FALSE(winograd(convolution(128, 128, 28), "adreno6xx"));
  EXPECT_TRUE(winograd(convolution(128, 128, 28), "mali"));
  EXPECT_FALSE(winograd(convolution(256, 256, 14), "adreno6xx"));
  EXPECT_FALSE(winograd(convolution(256, 256, 14), "mali"));
}

TEST(TfliteSelection, ThresholdsOfWinogradAreThoseOfEachGpu) {
  // Tiles: ⌈45/4⌉² = 144, ⌈33/4⌉² = 81, ⌈21/4⌉² = 36. Depths: 128/4 = 32, 64/4 = 16, 29/4 rounds up to 8.
  EXPECT_TRUE(winograd(convolution(128, 128, 45), "adreno6xx"));
  EXPECT_FALSE(winograd(convolution(128, 128, 33), "adreno6xx"));
  EXPECT_TRUE(winograd(convolution(128, 128, 33), "adreno"));
  EXPECT_FALSE(winograd(convolution(128, 128, 21), "adreno"));
  EXPECT_TRUE(winograd(convolution(64, 29, 21), "amd"));
  EXPECT_FALSE(winograd(convolution(64, 29, 21), "mali"));
  EXPECT_FALSE(winograd(convolution(64, 64, 56, 5), "mali"));
  EXPECT_FALSE(winograd(convolution(64, 64, 56, 3, 1, 2), "mali"));
}

TEST(TfliteSelection, GroupsOfFoursHaveTheirOwnKernel) {
  EXPECT_EQ(kernel_of(convolution(64, 64, 56, 3, 16), "tflite-gpu-mali"), "convolution_2d_grouped");
  EXPECT_EQ(kernel_of(convolution(96, 96, 56, 3, 16), "tflite-gpu-mali"), "convolution_2d");
  EXPECT_EQ(kernel_of(convolution(64, 64, 56, 3, 64), "tflite-gpu-mali"), "depthwise_convolution");
  EXPECT_EQ(kernel_of(convolution(64, 16, 1, 1), "tflite-gpu-mali"), "fully_connected");
  EXPECT_EQ(kernel_of(convolution(64, 16, 7, 1), "tflite-gpu-mali"), "convolution_2d");
}

TEST(VulkanSelection, IsAlgorithmB1) {
  const auto vulkan = [](const OperatorSpecification& op) { return kernel_of(op, "pytorch-vulkan"); };
  EXPECT_EQ(vulkan(convolution(64, 64, 14, 3, 64)), "conv2d_dw_3x3");
  EXPECT_EQ(vulkan(convolution(64, 64, 14, 5, 64)), "conv2d_dw_5x5");
  EXPECT_EQ(vulkan(convolution(64, 64, 14, 7, 64)), "conv2d_dw");
  EXPECT_EQ(vulkan(convolution(1, 64, 14, 3)), "conv2d_dw_3x3");  // one group, one input channel
  EXPECT_EQ(vulkan(convolution(1, 1, 14, 3)), "conv2d");          // one output channel
  EXPECT_EQ(vulkan(convolution(64, 32, 14, 1)), "conv2d_pw");
  EXPECT_EQ(vulkan(convolution(64, 64, 14, 3, 16)), "conv2d");
  OperatorSpecification transposed = convolution(64, 64, 14, 1);
  transposed.kind = OperatorKind::transposed_convolution;
  EXPECT_EQ(vulkan(transposed), "conv2d");
}

/// What is wrong with rules of these choices; nothing where they are sound.
std::string complaint(const std::string& choices) {
  try {
    parse_fusion_rules(R"({"format": "tenshot.fusion/1", "pairs": [], "kernels": [)" + choices + "]}", "rules.json");
    return "";
  } catch (const FormatError& error) {
    return error.what();
  }
}

TEST(KernelChoice, RulesThatContradictEachOtherAreNamed) {
  const std::string some = R"({"kernel": "a", "when": {"operation": "convolution", "groups": 1}})";
  EXPECT_EQ(complaint(some + R"(, {"kernel": "b", "when": {"operation": "convolution"}})"), "");
  EXPECT_EQ(complaint(some + R"(, {"kernel": "b", "when": {"groups": 1, "operation": ["convolution"]}})"),
            "rules.json: kernels[0] and kernels[1] contradict each other: the same conditions choose 'a' and 'b', "
            "expected one of them");
  EXPECT_NE(complaint(some + R"(, {"kernel": "b", "when": {"operation": "convolution", "groups": 1, "tiles": 4}})")
                .find("kernels[1] ('b') is never chosen, because kernels[0] ('a')"),
            std::string::npos);
  EXPECT_NE(complaint(R"({"kernel": "a"}, {"kernel": "b", "when": {"tiles": 3}})").find("never chosen"),
            std::string::npos);
  EXPECT_NE(complaint(R"({"kernel": "a", "when": {"tiles": {"at_least": 9, "at_most": 8}}})")
                .find("kernels[0].when.tiles is {\"at_least\":9,\"at_most\":8}: the tests contradict each other"),
            std::string::npos);
  EXPECT_NE(
      complaint(R"({"kernel": "a", "when": {"tiles": {"equals": 6, "multiple_of": 4}}})").find("no number passes"),
      std::string::npos);
}

TEST(KernelChoice, WhatIsNotKnownIsNamed) {
  EXPECT_NE(complaint(R"({"when": {}})").find("kernels[0].kernel"), std::string::npos);
  EXPECT_NE(complaint(R"({"kernel": "a", "when": {"colour": 1}})").find("kernels[0].when.colour"), std::string::npos);
  EXPECT_NE(complaint(R"({"kernel": "a", "when": {"tiles": {"about": 1}}})").find("about"), std::string::npos);
  EXPECT_NE(complaint(R"({"kernel": "a", "when": {"tiles": 0}})").find("kernels[0].when.tiles"), std::string::npos);
  EXPECT_NE(complaint(R"({"kernel": "a", "when": {"operation": "warp"}})").find("kernels[0].when.operation"),
            std::string::npos);
  EXPECT_NE(complaint("7").find("kernels[0] is 7"), std::string::npos);
}

TEST(KernelChoice, IsReadBackFromWhatItWrites) {
  const FusionRules rules = fusion_rules("tflite-gpu-amd");
  const FusionRules again = parse_fusion_rules(to_json(rules).dump(), "again.json");
  EXPECT_EQ(to_json(again), to_json(rules));
  EXPECT_EQ(again.multi_inbound, BranchRule::latest);
}

}  // namespace
}  // namespace tenshot::nasbench
