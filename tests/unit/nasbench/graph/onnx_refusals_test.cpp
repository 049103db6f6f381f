#include <gtest/gtest.h>

#include <fstream>

#include "nasbench/graph/onnx_external.h"
#include "nasbench/support/files.h"
#include "tests/unit/nasbench/graph/crafted_onnx.h"

namespace tenshot::nasbench {
namespace {

TEST(OnnxReaderRefuses, WhatIsNoOnnxFile) {
  EXPECT_NE(refusal("").find("is empty"), std::string::npos);
  EXPECT_NE(refusal("architecture,latency_ms\n1,2\n").find("no ONNX model"), std::string::npos);
  EXPECT_NE(refusal(std::string(300, '\0')).find("no ONNX model"), std::string::npos);
  EXPECT_THROW(read_onnx("/nowhere/model.onnx"), FileError);
  const TemporaryFolder folder;
  EXPECT_THROW(read_onnx(folder.path()), FileError);
}

TEST(OnnxReaderRefuses, AFileThatIsCutShortAnywhere) {
  const std::string bytes = small_model().bytes();
  const Network whole = read_bytes(bytes);
  for (std::size_t length = 1; length < bytes.size(); ++length) {
    try {
      read_bytes(bytes.substr(0, length));
      // The opset's version stands behind the graph: a file without it is a model still.
      EXPECT_GE(length + 8, bytes.size());
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("model.onnx'"), std::string::npos) << error.what();
    }
  }
}

TEST(OnnxReaderRefuses, BytesAtRandomWithoutACrash) {
  const std::string bytes = small_model().bytes();
  std::uint64_t state = 1;
  for (int i = 0; i < 500; ++i) {
    std::string damaged = bytes;
    for (int k = 0; k < 3; ++k) {
      state = state * 6364136223846793005ULL + 1442695040888963407ULL;
      damaged[(state >> 33) % damaged.size()] = static_cast<char>(state >> 56);
    }
    try {
      read_bytes(damaged);
    } catch (const Error&) {
    }
  }
}

TEST(OnnxReaderRefuses, AnImageThatHasOtherDimensionsThanItsWeights) {
  Model model;
  model.input("x", {1, 20}).weights("w", {84, 64, 1, 1}).output("y");
  model.node("Conv", {"x", "w"}, {"y"});
  expect_refusal(model, {"its image has 2 dimensions, its weights 4"});
}

TEST(OnnxReaderRefuses, WeightsOfWhichTheFileSaysNoShape) {
  Model model;
  model.input("x", {1, 3, 8, 8}).weights("w", {}).output("y");
  model.node("Conv", {"x", "w"}, {"y"});
  expect_refusal(model, {"node 1 (Conv 'n_y')", "the file says no shape of its weights", "write it anew"});
}

TEST(OnnxReaderRefuses, BlocksThatDoNotDivideAnImage) {
  for (const auto& [type, shape] : {std::pair("DepthToSpace", Shape{1, 6, 4, 4}), {"SpaceToDepth", {1, 4, 5, 4}}}) {
    OneNode blocks(type, shape, {"x"});
    set_integer(*blocks.node, "blocksize", 2);
    expect_refusal(blocks.model, {"blocks of 2x2 pixels do not divide an image of " + format(shape)});
  }
}

TEST(OnnxReaderRefuses, AWindowWiderThanItsImage) {
  OneNode window("Conv", {1, 3, 4, 4}, {"x", "w"});
  window.model.weights("w", {4, 3, 5, 5});
  set_integers(*window.node, "strides", {4, 4});
  expect_refusal(window.model, {"its window of 5 is wider than its input"});
  set_integers(*window.node, "pads", {1, 0, 0, 1});
  EXPECT_EQ(lines(read(window.model)).size(), 1U);
}

TEST(OnnxReaderRefuses, ANumberOfGroupsThatIsLeftOutAndSo0) {
  Model model = small_model();
  onnx::AttributeProto& group = *model.graph().mutable_node(0)->add_attribute();
  group.set_name("group");
  group.set_type(onnx::AttributeProto::INT);
  expect_refusal(model, {"attribute 'group' has 0; expected at least 1"});
}

TEST(OnnxReaderRefuses, AnAttentionWhoseValuesHaveNoHeads) {
  Model model;
  model.input("q", {1, 32, 64}).input("k", {1, 32, 64}).input("v", {64}).output("y");
  onnx::NodeProto& node = model.node("MultiHeadAttention", {"q", "k", "v"}, {"y"});
  node.set_domain("com.microsoft");
  set_integer(node, "num_heads", 4);
  expect_refusal(model, {"com.microsoft.MultiHeadAttention", "shape of its output 'y' is unknown"});
}

TEST(OnnxReaderRefuses, AScanWithoutABody) {
  for (const std::int64_t opset : {8, 13}) {
    Model model(opset);
    model.input("x", {2, 3}).output("y");
    model.node("Scan", {"x"}, {"y"});
    expect_refusal(model, {"Scan 'n_y'"});
  }
}

TEST(OnnxReaderRefuses, ACycle) {
  Model model = small_model();
  model.node("Add", {"output", "b2"}, {"b1"});
  model.node("Neg", {"b1"}, {"b2"});
  expect_refusal(model, {"node 3 (Add 'n_b1')", "cycle"});
}

TEST(OnnxReaderRefuses, NamesThatNothingGivesOrThatTwoGive) {
  Model model = small_model();
  model.node("Neg", {"nothing"}, {"negative"});
  expect_refusal(model, {"node 3 (Neg 'n_negative')", "'nothing'"});
  Model twice = small_model();
  twice.node("Neg", {"features"}, {"output"});
  expect_refusal(twice, {"node 3", "'output' already"});
  Model unknown_output = small_model();
  unknown_output.output("nowhere");
  expect_refusal(unknown_output, {"output 'nowhere'"});
}

TEST(OnnxReaderRefuses, NegativeAndOverflowingDimensions) {
  Model negative = small_model();
  negative.graph().mutable_initializer(0)->set_dims(0, -4);
  expect_refusal(negative, {"constant 'w'", "-4"});
  Model large = small_model();
  for (int i = 0; i < 4; ++i) large.graph().mutable_initializer(0)->set_dims(i, 2147483647);
  expect_refusal(large, {"constant 'w'", "2^36"});
  expect_refusal(small_model({1, 3, -8, 8}), {"input 'input'", "-8"});
  expect_refusal(small_model({std::int64_t{1} << 40, 3, 8, 8}), {"input 'input'", "1099511627776"});
  expect_refusal(small_model({1, 3, 1 << 20, 1 << 20}), {"input 'input'", "2^36"});
}

TEST(OnnxReaderRefuses, ShapesThatContradictEachOther) {
  Model model;
  model.input("input", {1, 5, 8, 8}).weights("w", {4, 3, 3, 3}).output("output");
  model.node("Conv", {"input", "w"}, {"output"});
  expect_refusal(model, {"node 1 (Conv 'n_output')", "4x3x3x3", "5 channels"});
}

TEST(OnnxReaderRefuses, StridesAndGroupsOfNothing) {
  for (const char* name : {"strides", "dilations"}) {
    Model model = small_model();
    set_integers(*model.graph().mutable_node(0), name, {1, 0});
    expect_refusal(model, {"node 1 (Conv", name, "0"});
  }
  Model model = small_model();
  set_integer(*model.graph().mutable_node(0), "group", 0);
  expect_refusal(model, {"'group'"});
}

TEST(OnnxReaderRefuses, AMillionNodes) {
  Model model;
  model.input("input", {1}).output("x0");
  std::string last = "input";
  for (int i = 0; i < 1'000'000; ++i) {
    onnx::NodeProto& node = *model.graph().add_node();
    node.set_op_type("Relu");
    node.add_input(last);
    node.add_output(last = "x" + std::to_string(i));
  }
  expect_refusal(model, {"more than 100000 nodes"});
}

TEST(OnnxReaderRefuses, GraphsInsideGraphsWithoutEnd) {
  onnx::GraphProto inner;
  inner.add_node()->set_op_type(std::string(5000, 'x'));
  for (int depth = 0; depth < 200; ++depth) {
    onnx::GraphProto outer;
    outer.add_node()->set_op_type("If");
    *outer.mutable_node(0)->add_attribute()->mutable_g() = inner;
    inner = outer;
  }
  Model model = small_model();
  *model.graph().add_node() = inner.node(0);
  EXPECT_NE(refusal(model.bytes()).find("nested"), std::string::npos);
}

TEST(OnnxReaderRefuses, AnOpsetThatIsTooOld) {
  Model model = small_model();
  model.proto().mutable_opset_import(0)->set_version(6);
  expect_refusal(model, {"opset 6", "7 or newer"});
}

TEST(ExternalFiles, AreListedOnceAndOnlyInsideTheFolder) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "model.onnx";
  const auto located = [&](const std::vector<std::string>& locations) {
    Model model = small_model();
    for (std::size_t i = 0; i < locations.size(); ++i) {
      onnx::StringStringEntryProto& entry =
          *model.graph().mutable_initializer(static_cast<int>(i))->add_external_data();
      entry.set_key("location");
      entry.set_value(locations[i]);
    }
    std::ofstream(path, std::ios::binary) << model.bytes();
    return external_data_files(path);
  };
  EXPECT_TRUE(located({}).empty());
  EXPECT_EQ(located({"weights/a.bin", "weights/a.bin"}), std::vector<std::filesystem::path>{"weights/a.bin"});
  for (const char* outside : {"../secret", "/etc/passwd", "weights/../../secret", ""}) {
    EXPECT_THROW(located({outside}), FormatError) << outside;
  }
  std::filesystem::create_directory_symlink("/etc", folder.path() / "link");
  EXPECT_THROW(located({"link/passwd"}), FormatError);
}

TEST(ParseInputShape, ReadsNameAndDimensions) {
  const auto [name, shape] = parse_input_shape("images=1x3x224x224");
  EXPECT_EQ(name, "images");
  EXPECT_EQ(shape, (Shape{1, 3, 224, 224}));
  EXPECT_EQ(parse_input_shape("past=1x2x0x16").second, (Shape{1, 2, 0, 16}));
  EXPECT_EQ(parse_input_shape("boxes=0x4").second, (Shape{0, 4}));
  for (const char* wrong : {"", "images", "=1x3", "images=", "images=1x", "images=1xa", "images=-1x3"}) {
    EXPECT_THROW(parse_input_shape(wrong), InputError) << wrong;
  }
}

TEST(OnnxReader, NamesWithControlCharactersStayInOneLine) {
  const std::string path = std::string(TENSHOT_SOURCE_DIR) + "/tests/fuzz/seeds/onnx/control_characters";
  const std::string message = refusal(read_file(path));
  for (const char c : message) EXPECT_FALSE(c >= 0 && c < ' ') << message;
}

TEST(OnnxReaderRefuses, ALengthOfTheFileThatMayBeOpenByWhatItIs) {
  for (const auto& [length, said] : {std::pair(0, "has the length 0 in the file"), std::pair(-1, "the length -1")}) {
    Model model;
    model.input("x", {1, length, 80}).output("y");
    model.node("Relu", {"x"}, {"y"});
    expect_refusal(model, {"input 'x', dimension 1", said, "--shape x=1x128x80"});
    OnnxReadOptions options;
    options.shapes = {{"x", {1, 5, 80}}};
    EXPECT_EQ(lines(read(model, options)), std::vector<std::string>{"activation relu 1x5x80 -> 1x5x80 float32"});
    options.shapes = {{"x", {1, 0, 80}}};
    expect_refusal(model, {"all its inputs are empty"}, options);
  }
}

TEST(OnnxReaderRefuses, AFirstDimensionThatIsTimeUnlessItIsGiven) {
  Model model;
  model.input("x", {Model::dynamic, 80}).output("y");
  model.node("Relu", {"x"}, {"y"});
  onnx::TensorShapeProto& shape =
      *model.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
  for (const char* name : {"time", "num_frames", "SequenceLength"}) {
    shape.mutable_dim(0)->set_dim_param(name);
    EXPECT_NE(refusal(model.bytes()).find("dimension 0 ('" + std::string(name) + "') is dynamic"), std::string::npos);
  }
  OnnxReadOptions options;
  options.shapes["x"] = {100, 80};
  EXPECT_EQ(read(model, options).inputs.at(0).type.shape, (Shape{100, 80}));
  shape.mutable_dim(0)->set_dim_param("batch");
  EXPECT_EQ(read(model).inputs.at(0).type.shape, (Shape{1, 80}));
}

TEST(OnnxReaderRefuses, SizesThatDoNotFitTheWeights) {
  OneNode gemm("Gemm", {1, 1024}, {"x", "w"});
  gemm.model.weights("w", {256, 10});
  expect_refusal(gemm.model, {"n_y", "rows of 1024 numbers meet columns of 256"});
  OneNode volume("Conv", {1, 5, 8, 8, 8}, {"x", "w"});
  volume.model.weights("w", {4, 3, 3, 3, 3});
  expect_refusal(volume.model, {"weights of 4x3x3x3x3 and 1 groups do not fit 5 channels"});
  OneNode transposed("ConvTranspose", {1, 5, 8, 8}, {"x", "w"});
  transposed.model.weights("w", {4, 3, 3, 3});
  expect_refusal(transposed.model, {"weights of 4x3x3x3 and 1 groups do not fit 5 channels"});
  OneNode kernel("Conv", {1, 3, 8, 8}, {"x", "w"});
  kernel.model.weights("w", {4, 3, 3, 3});
  set_integers(*kernel.node, "kernel_shape", {5, 5});
  expect_refusal(kernel.model, {"do not fit 3 channels and a kernel of 5x5"});
  OneNode recurrent("LSTM", {3, 1, 7}, {"x", "w", "r"});
  recurrent.model.weights("w", {1, 16, 5}).weights("r", {1, 16, 4});
  set_integer(*recurrent.node, "hidden_size", 4);
  expect_refusal(recurrent.model, {"weights of 1x16x5 and 1x16x4 do not fit an input of 3x1x7 and 4 units"});
  OneNode attention("Attention", {2, 6, 30}, {"x", "w", "b"});
  attention.model.weights("w", {32, 96}).weights("b", {96});
  attention.node->set_domain("com.microsoft");
  set_integer(*attention.node, "num_heads", 5);
  expect_refusal(attention.model, {"weights of 32x96 do not fit 2x6x30"});
  Model keys(23);
  keys.input("q", {2, 4, 6, 8}).input("k", {2, 4, 7, 9}).input("v", {2, 4, 7, 8}).output("y");
  keys.node("Attention", {"q", "k", "v"}, {"y"});
  expect_refusal(keys, {"keys of 2x4x7x9"});
}

TEST(OnnxReaderRefuses, AReshapeToAnotherNumberOfElements) {
  OneNode one("Reshape", {Model::dynamic, 4, 8, 8}, {"x", "s"});
  one.model.integers("s", {1, 256});
  EXPECT_EQ(tensor_type(read(one.model), read(one.model).outputs.at(0)).shape, (Shape{1, 256}));
  OnnxReadOptions four;
  four.batch = 4;
  expect_refusal(one.model, {"n_y", "cannot make 1x256 of 4x4x8x8, which has 1024 numbers and not 256"}, four);
}

}  // namespace
}  // namespace tenshot::nasbench
