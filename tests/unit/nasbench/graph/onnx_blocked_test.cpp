#include <gtest/gtest.h>

#include "tests/unit/nasbench/graph/crafted_onnx.h"

// Files that ONNX Runtime's optimiser has written at its highest level: channels stand in blocks of 8 or 16.

namespace tenshot::nasbench {
namespace {

onnx::NodeProto& blocked(Model& model, const std::string& type, const std::vector<std::string>& inputs,
                         const std::string& output) {
  onnx::NodeProto& node = model.node(type, inputs, {output});
  node.set_domain("com.microsoft.nchwc");
  return node;
}

/// 3 channels to 20, which take 24 places, a depthwise convolution, one with an addend, and 20 of the channels again.
Model blocked_network() {
  Model model;
  model.input("x", {1, 3, 16, 16}).output("y");
  model.weights("w1", {24, 3, 3, 3}).weights("b1", {24}).weights("w2", {24, 1, 3, 3}).weights("w3", {24, 24, 1, 1});
  onnx::NodeProto& first = blocked(model, "Conv", {"x", "w1", "b1"}, "a");
  set_integers(first, "pads", {1, 1, 1, 1});
  set_text(first, "activation", "Relu");
  onnx::NodeProto& pool = blocked(model, "MaxPool", {"a"}, "p");
  set_integers(pool, "kernel_shape", {2, 2});
  set_integers(pool, "strides", {2, 2});
  onnx::NodeProto& depthwise = blocked(model, "Conv", {"p", "w2"}, "d");
  set_integers(depthwise, "pads", {1, 1, 1, 1});
  set_integer(depthwise, "group", 24);
  set_text(blocked(model, "Conv", {"d", "w3", "", "p"}, "e"), "activation", "Relu");
  set_integers(blocked(model, "Upsample", {"e"}, "u"), "scales", {1, 1, 2, 2});
  blocked(model, "GlobalAveragePool", {"u"}, "g");
  set_integer(blocked(model, "ReorderOutput", {"g"}, "y"), "channels", 20);
  return model;
}

TEST(OnnxBlocked, BlocksOfChannelsAreReadAsTheUsualOperators) {
  const Network network = read(blocked_network());
  EXPECT_EQ(
      lines(network),
      (std::vector<std::string>{
          "convolution 3x3 bias 1x3x16x16 -> 1x24x16x16 float32", "activation relu 1x24x16x16 -> 1x24x16x16 float32",
          "max_pool 2x2 stride 2x2 1x24x16x16 -> 1x24x8x8 float32",
          "convolution 3x3 groups 24 1x24x8x8 -> 1x24x8x8 float32", "convolution 1x24x8x8 -> 1x24x8x8 float32",
          "add 1x24x8x8 1x24x8x8 -> 1x24x8x8 float32", "activation relu 1x24x8x8 -> 1x24x8x8 float32",
          "resize 1x24x8x8 -> 1x24x16x16 float32", "global_pool 1x24x16x16 -> 1x24x1x1 float32",
          "split slice 1x24x1x1 -> 1x20x1x1 float32"}));
  ASSERT_EQ(network.remarks.size(), 1U);
  EXPECT_NE(network.remarks[0].find("channels that fill up blocks of 8 or 16 are counted"), std::string::npos);
}

TEST(OnnxBlocked, AnImageMayHaveItsChannelsLast) {
  Model model;
  model.input("x", {1, 8, 9, 16}).weights("w", {32, 16, 1, 1}).output("y");
  set_integer(blocked(model, "ReorderInput", {"x"}, "r"), "channels_last", 1);
  blocked(model, "Conv", {"r", "w"}, "c");
  onnx::NodeProto& last = blocked(model, "ReorderOutput", {"c"}, "y");
  set_integer(last, "channels", 30);
  set_integer(last, "channels_last", 1);
  const Network network = read(model);
  EXPECT_EQ(lines(network), (std::vector<std::string>{
                                "transpose 1x8x9x16 -> 1x16x8x9 float32", "convolution 1x16x8x9 -> 1x32x8x9 float32",
                                "split slice 1x32x8x9 -> 1x30x8x9 float32", "transpose 1x30x8x9 -> 1x8x9x30 float32"}));
}

TEST(OnnxBlocked, WhatCannotBeToldIsRefusedWithTheWayOut) {
  Model model;  // 12 channels, which the reordering fills up to 16
  model.input("x", {1, 12, 8, 8}).weights("w", {16, 16, 1, 1}).output("y");
  blocked(model, "ReorderInput", {"x"}, "r");
  blocked(model, "Conv", {"r", "w"}, "y");
  expect_refusal(model, {"com.microsoft.nchwc.Conv 'n_y'", "do not fit 12 channels", "ORT_ENABLE_EXTENDED"});
  Model few = blocked_network();
  few.graph().mutable_node(6)->mutable_attribute(0)->set_i(25);
  expect_refusal(few, {"it takes 25 of 24 channels", "ORT_ENABLE_EXTENDED"});
  Model unknown;
  unknown.input("x", {1, 16, 8, 8}).output("y");
  blocked(unknown, "Fancy", {"x"}, "y");
  expect_refusal(unknown, {"nchwc.Fancy", "blocked layout", "ORT_ENABLE_EXTENDED"});
}

}  // namespace
}  // namespace tenshot::nasbench
