#include <gtest/gtest.h>

#include "tests/unit/nasbench/graph/crafted_onnx.h"

// Files whose sizes follow from constants that the reader computes with: as PyTorch writes shapes, masks and indices.

namespace tenshot::nasbench {
namespace {

Shape output_of(const Network& network) { return tensor_type(network, network.outputs.at(0)).shape; }

/// A tensor of 2×3×8×8 whose shape, "s", a node makes "to" of, to which it is reshaped; 'changed' is what a test adds.
struct Reshaped {
  Model model;
  onnx::NodeProto* node;

  Reshaped(const std::string& type, const std::vector<std::string>& inputs) {
    model.input("x", {2, 3, 8, 8}).output("y");
    model.node("Shape", {"x"}, {"s"});
    node = &model.node(type, inputs, {"to"});
    model.node("Reshape", {"x", "to"}, {"y"});
  }
};

/// A constant of truths, as the bytes of its file.
TensorProto& add_mask(Model& model, const std::string& name, const Shape& shape, const std::string& truths) {
  TensorProto& mask = *model.graph().add_initializer();
  mask.set_name(name);
  mask.set_data_type(TensorProto::BOOL);
  for (const std::int64_t extent : shape) mask.add_dims(extent);
  mask.set_raw_data(truths);
  return mask;
}

TEST(OnnxComputedShapes, UpdatesOfAShapeAreComputed) {
  Reshaped rows("ScatterND", {"s", "places", "sizes"});  // as index_put on a shape is written
  TensorProto& places = *rows.model.graph().add_initializer();
  places.set_name("places");
  places.set_data_type(TensorProto::INT64);
  for (const int extent : {2, 1}) places.add_dims(extent);
  for (const int place : {1, 2}) places.add_int64_data(place);
  rows.model.integers("sizes", {24, 1});
  EXPECT_EQ(output_of(read(rows.model)), (Shape{2, 24, 1, 8}));
  Reshaped elements("ScatterElements", {"s", "places", "sizes"});
  elements.model.integers("places", {1, -2}).integers("sizes", {24, 1});
  EXPECT_EQ(output_of(read(elements.model)), (Shape{2, 24, 1, 8}));
}

TEST(OnnxComputedShapes, WhatACompressLeavesOfAShapeIsComputed) {
  Reshaped some("Compress", {"s", "condition"});
  add_mask(some.model, "condition", {3}, std::string("\0\0\1", 3));
  some.model.graph().mutable_node(1)->set_output(0, "length");
  some.model.integers("rest", {-1});
  set_integer(some.model.node("Concat", {"length", "rest"}, {"to"}), "axis", 0);
  EXPECT_EQ(output_of(read(some.model)), (Shape{8, 48}));
}

TEST(OnnxComputedShapes, PadsAndRunningSumsOfConstantsAreComputed) {
  OneNode padded("Reshape", {2, 3, 4}, {"x", "to"});
  padded.model.integers("sizes", {4, 3}).integers("pads", {0, 1}).integers("rest", {-1});
  padded.model.node("Squeeze", {"rest"}, {"number"});
  padded.model.node("Pad", {"sizes", "pads", "number"}, {"to"});
  EXPECT_EQ(output_of(read(padded.model)), (Shape{4, 3, 2}));
  OneNode summed("Expand", {1}, {"x", "sums"});
  summed.model.integers("sizes", {2, 1, 3}).integers("axis", {0});
  summed.model.node("CumSum", {"sizes", "axis"}, {"sums"});
  EXPECT_EQ(output_of(read(summed.model)), (Shape{2, 3, 6}));
}

TEST(OnnxComputedShapes, NumbersStayTheSameWhereTheirShapeChanges) {
  OneNode expanded("Expand", {1}, {"x", "sizes"});
  expanded.model.integers("six", {6, 5}).integers("column", {2, 1}).integers("last", {-1}).integers("first", {0});
  expanded.model.node("Reshape", {"six", "column"}, {"a"});
  expanded.model.node("Squeeze", {"a", "last"}, {"b"});
  expanded.model.node("Unsqueeze", {"b", "first"}, {"c"});
  set_integer(expanded.model.node("Flatten", {"c"}, {"d"}), "axis", 2);
  expanded.model.node("Reshape", {"d", "last"}, {"sizes"});
  EXPECT_EQ(output_of(read(expanded.model)), (Shape{6, 5}));
}

/// Rows of a tensor of 128×128×4 where a mask of as many places is true: 180 of them.
Model chosen_by_a_mask(bool others) {
  Model model;
  model.input("x", {128, 128, 4}).output("y");
  std::string truths(128 * 128, others ? '\1' : '\0');
  for (std::size_t row = 0; row < 60; ++row) truths.replace(row * 128, 3, 3, others ? '\0' : '\1');
  add_mask(model, "mask", {128, 128}, truths);
  if (others) model.node("Not", {"mask"}, {"chosen"});
  model.node("NonZero", {others ? "chosen" : "mask"}, {"columns"});
  set_integers(model.node("Transpose", {"columns"}, {"places"}), "perm", {1, 0});
  model.node("GatherND", {"x", "places"}, {"y"});
  return model;
}

TEST(OnnxComputedShapes, HowManyPlacesOfALargeMaskAreTrueIsCounted) {
  EXPECT_EQ(output_of(read(chosen_by_a_mask(false))), (Shape{180, 4}));
  EXPECT_EQ(output_of(read(chosen_by_a_mask(true))), (Shape{180, 4}));
}

TEST(OnnxComputedShapes, AMaskMayLieBesideTheModel) {
  Model model = chosen_by_a_mask(false);
  TensorProto& mask = *model.graph().mutable_initializer(0);
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "mask.bin", std::ios::binary) << "before" << mask.raw_data();
  mask.clear_raw_data();
  mask.set_data_location(TensorProto::EXTERNAL);
  for (const auto& [key, value] : {std::pair("location", "mask.bin"), std::pair("offset", "6")}) {
    onnx::StringStringEntryProto& entry = *mask.add_external_data();
    entry.set_key(key);
    entry.set_value(value);
  }
  std::ofstream(folder.path() / "model.onnx", std::ios::binary) << model.bytes();
  EXPECT_EQ(output_of(read_onnx(folder.path() / "model.onnx")), (Shape{180, 4}));
}

TEST(OnnxComputedShapes, LargeConstantsAreComputedWithUntilTheyAreTooMany) {
  Model model = chosen_by_a_mask(true);
  for (int i = 0; i < 3000; ++i) {  // 49 million truths
    model.node("Not", {i == 0 ? "mask" : "m" + std::to_string(i - 1)}, {"m" + std::to_string(i)});
  }
  model.output("z");
  model.node("NonZero", {"m2999"}, {"z"});
  const Network network = read(model);
  EXPECT_EQ(output_of(network), (Shape{180, 4}));
  EXPECT_NE(network.remarks.at(0).find("NonZero 'n_z' (at most 16384) depends on the data"), std::string::npos);
}

TEST(OnnxComputedShapes, AnInputThatIsReshapedToNothingIsEmpty) {
  Model model(14);
  model.input("x", {0, 3, 4}).input("z", {1, 3, 8, 8}).integers("to", {3, 4, 0}).weights("w", {4, 3, 3, 3});
  model.output("empty").output("y");
  set_integer(model.node("Reshape", {"x", "to"}, {"empty"}), "allowzero", 1);
  model.node("Conv", {"z", "w"}, {"y"});
  const Network network = read(model);
  EXPECT_EQ(lines(network), std::vector<std::string>{"convolution 3x3 1x3x8x8 -> 1x4x6x6 float32"});
  EXPECT_EQ(network.inputs.size(), 1U);
}

TEST(OnnxComputedShapes, AFirstLengthOf0IsABatchWhereNothingSaysThatItIsNone) {
  Model model(14);  // PyTorch writes allowzero with every Reshape
  model.input("x", {0, 12}).integers("to", {-1, 3, 4}).output("y");
  set_integer(model.node("Reshape", {"x", "to"}, {"y"}), "allowzero", 1);
  EXPECT_EQ(output_of(read(model)), (Shape{1, 3, 4}));
}

}  // namespace
}  // namespace tenshot::nasbench
