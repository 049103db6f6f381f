#include "nasbench/kernels/kernel_network.h"

#include <gtest/gtest.h>

#include <array>

#include "experiments/kernels/published_cnn.h"
#include "nasbench/graph/network_builder.h"
#include "nasbench/support/error.h"

namespace tenshot::nasbench {
namespace {

TEST(KernelNetwork, KernelsOfResNet18AreNetworksThatDoAllItsWork) {
  const Network network = experiments::published_cnn("resnet18");
  std::int64_t multiply_adds_of_kernels = 0;
  for (const Kernel& kernel : find_kernels(network, fusion_rules("activation-add"))) {
    const Network alone = kernel_network(network, kernel);
    EXPECT_EQ(alone.nodes.size(), kernel.nodes.size());
    multiply_adds_of_kernels += multiply_adds(alone);
    if (kernel_type(network, kernel) != "convolution++add++relu") continue;
    EXPECT_EQ(alone.inputs.size(), 2U);  // what is convolved and what is added
    EXPECT_EQ(alone.outputs.size(), 1U);
    EXPECT_EQ(leading_operator(alone).kind, OperatorKind::convolution);
  }
  EXPECT_EQ(multiply_adds_of_kernels, multiply_adds(network));
}

TEST(KernelNetwork, WhatOthersReadInTheMiddleIsAnOutput) {
  NetworkBuilder builder;
  const Source a = builder.activation("a", builder.input("input", {1, 2, 4, 4}), "relu");
  const Source b = builder.activation("b", a, "sigmoid");
  builder.output(builder.add("sum", a, b));
  const Network alone = kernel_network(builder.network(), {{0, 1}, ""});
  EXPECT_EQ(alone.outputs.size(), 2U);
  EXPECT_THROW(kernel_network(builder.network(), {{}, ""}), InputError);
}

TEST(KernelNetwork, TheOperatorThatMultipliesLeads) {
  NetworkBuilder builder;
  const Source a = builder.activation("a", builder.input("input", {1, 2, 4, 4}), "hard_swish");
  builder.output(builder.convolution("c", a, 3, {same_window(1), 1, false}));
  EXPECT_EQ(leading_operator(builder.network()).kind, OperatorKind::convolution);
}

TEST(MadeKernel, HasTheSizesAskedFor) {
  const Network kernel = made_kernel("convolution++add++relu", {14, 8, 24, 3, 2});
  ASSERT_EQ(kernel.nodes.size(), 3U);
  EXPECT_EQ(kernel.nodes[0].operation.output, (Shape{1, 24, 7, 7}));
  const auto [image, inputs, outputs, window, stride] = kernel_sizes(leading_operator(kernel));
  EXPECT_EQ((std::array<int, 5>{image, inputs, outputs, window, stride}), (std::array<int, 5>{14, 8, 24, 3, 2}));
  EXPECT_EQ(kernel.inputs.size(), 2U);
  const Network depthwise = made_kernel("depthwise_convolution", {14, 8, 8, 5, 1});
  EXPECT_EQ(depthwise.nodes[0].operation.groups, 8);
}

TEST(MadeKernel, OfEveryTypeThatCanBegin) {
  for (const std::string type : {"linear++relu", "max_pool", "average_pool", "global_pool", "batch_norm++relu",
                                 "add++relu", "multiply", "concatenate", "shuffle", "hard_swish"}) {
    EXPECT_TRUE(can_be_made(type)) << type;
    EXPECT_NO_THROW(require_sound(made_kernel(type, {8, 4, 6, 1, 1}))) << type;
  }
}

TEST(MadeKernel, RefusesWhatSizesDoNotSay) {
  EXPECT_FALSE(can_be_made("softmax"));
  EXPECT_FALSE(can_be_made("relu++convolution"));
  EXPECT_THROW(made_kernel("warp", {8, 4, 4, 1, 1}), InputError);
}

}  // namespace
}  // namespace tenshot::nasbench
