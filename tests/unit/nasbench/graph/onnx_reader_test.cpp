#include "nasbench/graph/onnx_reader.h"

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "nasbench/graph/network_builder.h"
#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "nasbench/support/temporary_folder.h"

namespace tenshot::nasbench {
namespace {

using onnx::TensorProto;

/// Builds small models by hand.
class Model {
 public:
  explicit Model(std::int64_t opset = 13) {
    model_.set_ir_version(7);
    model_.add_opset_import()->set_version(opset);
    model_.mutable_graph()->set_name("crafted");
  }

  onnx::GraphProto& graph() { return *model_.mutable_graph(); }
  onnx::ModelProto& proto() { return model_; }

  Model& input(const std::string& name, const std::vector<std::int64_t>& shape, int type = TensorProto::FLOAT) {
    declare(*graph().add_input(), name, shape, type);
    return *this;
  }
  Model& output(const std::string& name) {
    graph().add_output()->set_name(name);
    return *this;
  }
  Model& value(const std::string& name, const std::vector<std::int64_t>& shape) {
    declare(*graph().add_value_info(), name, shape, TensorProto::FLOAT);
    return *this;
  }
  onnx::NodeProto& node(const std::string& type, const std::vector<std::string>& inputs,
                        const std::vector<std::string>& outputs) {
    onnx::NodeProto& node = *graph().add_node();
    node.set_op_type(type);
    node.set_name("n_" + outputs.front());
    for (const std::string& input : inputs) node.add_input(input);
    for (const std::string& output : outputs) node.add_output(output);
    return node;
  }
  /// Weights without data, as where it lies in another file.
  Model& weights(const std::string& name, const std::vector<std::int64_t>& shape, int type = TensorProto::FLOAT) {
    TensorProto& tensor = *graph().add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(type);
    for (const std::int64_t dimension : shape) tensor.add_dims(dimension);
    tensor.set_data_location(TensorProto::EXTERNAL);
    return *this;
  }
  Model& integers(const std::string& name, const std::vector<std::int64_t>& values) {
    TensorProto& tensor = *graph().add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(TensorProto::INT64);
    tensor.add_dims(static_cast<std::int64_t>(values.size()));
    for (const std::int64_t value : values) tensor.add_int64_data(value);
    return *this;
  }
  Model& scalar(const std::string& name, float value) {
    TensorProto& tensor = *graph().add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(TensorProto::FLOAT);
    tensor.add_float_data(value);
    return *this;
  }

  std::string bytes() const { return model_.SerializeAsString(); }

  static void declare(onnx::ValueInfoProto& value, const std::string& name, const std::vector<std::int64_t>& shape,
                      int type) {
    value.set_name(name);
    value.mutable_type()->mutable_tensor_type()->set_elem_type(type);
    for (const std::int64_t dimension : shape) {
      auto& added = *value.mutable_type()->mutable_tensor_type()->mutable_shape()->add_dim();
      if (dimension != dynamic) added.set_dim_value(dimension);
    }
  }

  static constexpr std::int64_t dynamic = -99;

 private:
  onnx::ModelProto model_;
};

void set_integers(onnx::NodeProto& node, const char* name, const std::vector<std::int64_t>& values) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::INTS);
  for (const std::int64_t value : values) attribute.add_ints(value);
}

void set_integer(onnx::NodeProto& node, const char* name, std::int64_t value) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::INT);
  attribute.set_i(value);
}

Network read_bytes(const std::string& bytes, const OnnxReadOptions& options = {}) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "model.onnx";
  std::ofstream(path, std::ios::binary) << bytes;
  return read_onnx(path, options);
}

Network read(const Model& model, const OnnxReadOptions& options = {}) { return read_bytes(model.bytes(), options); }

/// The message of the error that reading gives; it is one line that names the file.
std::string refusal(const std::string& bytes, const OnnxReadOptions& options = {}) {
  try {
    read_bytes(bytes, options);
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("model.onnx'"), std::string::npos) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    return message;
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

void expect_refusal(const Model& model, const std::vector<std::string>& parts, const OnnxReadOptions& options = {}) {
  const std::string message = refusal(model.bytes(), options);
  for (const std::string& part : parts) EXPECT_NE(message.find(part), std::string::npos) << message;
}

std::vector<std::string> lines(const Network& network) {
  std::vector<std::string> result;
  for (const NetworkNode& node : network.nodes) result.push_back(format(node.operation));
  return result;
}

/// 1×3×8×8 → convolution to 4 channels, 3×3 → ReLU.
Model small_model(const std::vector<std::int64_t>& input = {1, 3, 8, 8}) {
  Model model;
  model.input("input", input).weights("w", {4, 3, 3, 3}).weights("b", {4}).output("output");
  set_integers(model.node("Conv", {"input", "w", "b"}, {"features"}), "pads", {1, 1, 1, 1});
  model.node("Relu", {"features"}, {"output"});
  return model;
}

TEST(OnnxReader, ReadsOperatorsWithTheirShapes) {
  const Network network = read(small_model());
  EXPECT_EQ(lines(network), (std::vector<std::string>{"convolution 3x3 bias 1x3x8x8 -> 1x4x8x8 float32",
                                                      "activation relu 1x4x8x8 -> 1x4x8x8 float32"}));
  EXPECT_EQ(network.nodes[0].name, "n_features");
  EXPECT_EQ(network.nodes[0].attributes.padding, (Padding{1, 1, 1, 1}));
  EXPECT_EQ(network.outputs, std::vector<Source>{(Source{1, 0})});
}

TEST(OnnxReader, TheBatchFillsADynamicFirstDimensionAlone) {
  const Model model = small_model({Model::dynamic, 3, 8, 8});
  EXPECT_EQ(read(model).inputs[0].type.shape, (Shape{1, 3, 8, 8}));
  EXPECT_EQ(read(model, {16, {}}).nodes[1].operation.output, (Shape{16, 4, 8, 8}));
  EXPECT_EQ(read(small_model(), {16, {}}).inputs[0].type.shape, (Shape{1, 3, 8, 8}));
}

TEST(OnnxReader, NamesADimensionThatNobodySays) {
  expect_refusal(small_model({1, 3, Model::dynamic, 8}), {"input 'input', dimension 2", "--shape input=1x3x224x224"});
  EXPECT_EQ(read(small_model({1, 3, Model::dynamic, 8}), {1, {{"input", {1, 3, 20, 8}}}}).nodes[0].operation.output,
            (Shape{1, 4, 20, 8}));
}

TEST(OnnxReader, RefusesAShapeThatTheFileContradicts) {
  expect_refusal(small_model(), {"dimension 2", "fixes it at 8", "says 9"}, {1, {{"input", {1, 3, 9, 8}}}});
  expect_refusal(small_model(), {"no input 'image'", "input"}, {1, {{"image", {1, 3, 9, 8}}}});
  expect_refusal(small_model(), {"4 dimensions", "3x8x8"}, {1, {{"input", {3, 8, 8}}}});
}

TEST(OnnxReader, FoldsComputationsOfShapes) {
  Model model;  // flattening as exporters with dynamic axes write it
  model.input("input", {Model::dynamic, 6, 4, 5}).output("output").integers("zero", {0}).integers("all", {-1});
  model.node("Shape", {"input"}, {"shape"});
  model.node("Gather", {"shape", "zero"}, {"batch"});
  model.node("Concat", {"batch", "all"}, {"target"}).add_attribute()->set_name("axis");
  model.node("Reshape", {"input", "target"}, {"output"});
  EXPECT_EQ(lines(read(model, {7, {}})), std::vector<std::string>{"reshape 7x6x4x5 -> 7x120 float32"});
}

TEST(OnnxReader, LeavesOutWhatComputesNothing) {
  Model model = small_model();
  model.graph().mutable_node(1)->set_input(0, "dropped");
  model.node("Dropout", {"features"}, {"dropped"});  // after its reader: any order is fine
  model.node("Sigmoid", {"features"}, {"unread"});
  EXPECT_EQ(lines(read(model)), lines(read(small_model())));
  EXPECT_EQ(content_hash(read(model)), content_hash(read(small_model())));
}

TEST(OnnxReader, AnUnknownOperatorIsOpaqueAndHasTheShapeOfTheFile) {
  Model model = small_model();
  model.graph().clear_output();
  onnx::NodeProto& node = model.node("Polish", {"output", "w"}, {"polished"});
  node.set_domain("some.vendor");
  model.value("polished", {1, 7}).output("polished");
  const Network network = read(model);
  EXPECT_EQ(format(network.nodes.back().operation),
            "opaque some.vendor.Polish 1x4x8x8 -> 1x7 constant 4x3x3x3 float32");
  EXPECT_EQ(parameter_count(network.nodes.back().operation), 4 * 27);
}

TEST(OnnxReader, AnUnknownOperatorWithoutAShapeIsRefused) {
  Model model = small_model();
  model.node("Polish", {"output"}, {"polished"});
  model.output("polished");
  expect_refusal(model, {"node 3 (Polish 'n_polished')", "shape of its output 'polished' is unknown"});
}

TEST(OnnxReader, ControlFlowIsOpaqueAndReadsWhatItsBodyReads) {
  Model model = small_model();
  model.input("flag", {}, TensorProto::BOOL);
  model.graph().mutable_input(1)->mutable_type()->mutable_tensor_type()->mutable_shape();
  onnx::NodeProto& node = model.node("If", {"flag"}, {"chosen"});
  for (const char* branch : {"then_branch", "else_branch"}) {
    onnx::AttributeProto& attribute = *node.add_attribute();
    attribute.set_name(branch);
    attribute.set_type(onnx::AttributeProto::GRAPH);
    onnx::NodeProto& inner = *attribute.mutable_g()->add_node();
    inner.set_op_type("Neg");
    inner.add_input("features");
    inner.add_output("negative");
    attribute.mutable_g()->add_output()->set_name("negative");
  }
  model.value("chosen", {1, 4, 8, 8}).output("chosen");
  const Network network = read(model);
  EXPECT_EQ(format(network.nodes.back().operation), "opaque If scalar 1x4x8x8 -> 1x4x8x8 float32");
  EXPECT_EQ(network.nodes.back().inputs[1], (Source{0, 0}));
}

TEST(OnnxReader, RecurrentLayersAreOpaqueWithTheirWeights) {
  Model model;
  model.input("input", {5, 1, 10}).weights("w", {1, 80, 10}).weights("r", {1, 80, 20}).output("output");
  set_integer(model.node("LSTM", {"input", "w", "r"}, {"output"}), "hidden_size", 20);
  const Network network = read(model);
  EXPECT_EQ(format(network.nodes[0].operation),
            "opaque LSTM 5x1x10 -> 5x1x1x20 constant 1x80x10 constant 1x80x20 float32");
  EXPECT_EQ(parameter_count(network), 80 * 30);
}

TEST(OnnxReader, QuantiseNodesBecomeOperatorsOfBytes) {
  Model model;
  model.input("input", {1, 3, 8, 8})
      .weights("w", {4, 3, 1, 1}, TensorProto::INT8)
      .scalar("scale", 0.1F)
      .output("output");
  TensorProto& zero = *model.graph().add_initializer();
  zero.set_name("zero");
  zero.set_data_type(TensorProto::UINT8);
  zero.add_int32_data(128);
  model.node("QuantizeLinear", {"input", "scale", "zero"}, {"q"});
  model.node("DequantizeLinear", {"q", "scale", "zero"}, {"x"});
  model.node("DequantizeLinear", {"w", "scale"}, {"wx"});
  model.node("Conv", {"x", "wx"}, {"y"});
  model.node("QuantizeLinear", {"y", "scale", "zero"}, {"yq"});
  model.node("DequantizeLinear", {"yq", "scale", "zero"}, {"output"});
  EXPECT_EQ(lines(read(model)), std::vector<std::string>{"convolution 1x3x8x8 -> 1x4x8x8 uint8"});
}

TEST(OnnxReader, QLinearConvolutionIsAConvolutionOfBytes) {
  Model model;
  model.input("input", {1, 3, 8, 8}, TensorProto::UINT8)
      .weights("w", {4, 3, 1, 1}, TensorProto::UINT8)
      .output("output");
  model.weights("zero", {}, TensorProto::UINT8).scalar("scale", 0.1F).weights("bias", {4}, TensorProto::INT32);
  model.node("QLinearConv", {"input", "scale", "zero", "w", "scale", "zero", "scale", "zero", "bias"}, {"output"});
  EXPECT_EQ(lines(read(model)), std::vector<std::string>{"convolution bias 1x3x8x8 -> 1x4x8x8 uint8"});
}

TEST(OnnxReader, HalfPrecisionIsTheTypeOfItsOperators) {
  Model model;
  model.input("input", {1, 3, 8, 8}, TensorProto::FLOAT16).weights("w", {4, 3, 1, 1}, TensorProto::FLOAT16);
  model.output("output").node("Conv", {"input", "w"}, {"output"});
  EXPECT_EQ(lines(read(model)), std::vector<std::string>{"convolution 1x3x8x8 -> 1x4x8x8 float16"});
}

TEST(OnnxReader, SeveralInputsOfIntegersLookUpATable) {
  Model model;
  model.input("ids", {1, 12}, TensorProto::INT64).input("types", {1, 12}, TensorProto::INT64).output("output");
  model.weights("words", {1000, 16}).weights("kinds", {2, 16});
  model.node("Gather", {"words", "ids"}, {"a"});
  model.node("Gather", {"kinds", "types"}, {"b"});
  model.node("Add", {"a", "b"}, {"output"});
  const Network network = read(model);
  EXPECT_EQ(lines(network), (std::vector<std::string>{"opaque Gather 1x12 -> 1x12x16 constant 1000x16 float32",
                                                      "opaque Gather 1x12 -> 1x12x16 constant 2x16 float32",
                                                      "add 1x12x16 1x12x16 -> 1x12x16 float32"}));
  EXPECT_EQ(network.inputs[1].type.type, ElementType::int64);
  EXPECT_EQ(parameter_count(network), 1002 * 16);
}

TEST(OnnxReader, PaddingThatIsAskedForByNameIsWorkedOut) {
  Model model;
  model.input("input", {1, 3, 8, 8}).weights("w", {4, 3, 3, 3}).output("output");
  onnx::NodeProto& node = model.node("Conv", {"input", "w"}, {"output"});
  set_integers(node, "strides", {2, 2});
  onnx::AttributeProto& mode = *node.add_attribute();
  mode.set_name("auto_pad");
  mode.set_type(onnx::AttributeProto::STRING);
  mode.set_s("SAME_UPPER");
  const Network network = read(model);
  EXPECT_EQ(network.nodes[0].operation.output, (Shape{1, 4, 4, 4}));
  EXPECT_EQ(network.nodes[0].attributes.padding, (Padding{0, 0, 1, 1}));
}

TEST(OnnxReader, NewerOpsetsAreReadAsFarAsTheirOperatorsAreKnown) {
  Model model(20);
  model.input("input", {1, 3, 8, 8}).integers("axes", {2, 3}).output("output");
  model.node("Gelu", {"input"}, {"g"});
  set_integer(model.node("ReduceMean", {"g", "axes"}, {"output"}), "keepdims", 0);
  EXPECT_EQ(lines(read(model)), (std::vector<std::string>{"activation gelu 1x3x8x8 -> 1x3x8x8 float32",
                                                          "global_pool 1x3x8x8 -> 1x3 float32"}));
}

/// Tag and length of a field of bytes in the encoding of protocol buffers.
std::string field_of_bytes(int number, std::uint64_t length) {
  std::string text(1, static_cast<char>(number << 3 | 2));
  for (; length >= 0x80; length >>= 7) text += static_cast<char>((length & 0x7f) | 0x80);
  return text + static_cast<char>(length);
}

TEST(OnnxReader, PassesOverHalfAGigabyteOfWeights) {
  constexpr std::uint64_t bytes = 500'000'000;
  Model model = small_model();
  TensorProto tensor;
  tensor.set_name("large");
  tensor.set_data_type(TensorProto::FLOAT);
  for (const std::int64_t dimension : {1, 4, 1, 1, 31'250'000}) tensor.add_dims(dimension);
  model.node("Mul", {"output", "large"}, {"scaled"});
  model.graph().mutable_node(2)->set_input(0, "deep");
  model.integers("axes", {4});
  model.node("Unsqueeze", {"output", "axes"}, {"deep"});
  model.output("scaled");
  onnx::ModelProto head = model.proto();
  head.clear_graph();
  const std::string header = tensor.SerializeAsString() + field_of_bytes(9, bytes);  // raw_data
  const std::string graph =
      model.graph().SerializeAsString() + field_of_bytes(5, header.size() + bytes) + header;  // initializer
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "model.onnx";
  const std::string all = head.SerializeAsString() + field_of_bytes(7, graph.size() + bytes) + graph;
  std::ofstream(path, std::ios::binary) << all;
  std::filesystem::resize_file(path, all.size() + bytes);  // a hole: what is read of it would show in the time
  const Network network = read_onnx(path);
  EXPECT_EQ(network.nodes.back().operation.output, (Shape{1, 4, 8, 8, 31'250'000}));
  EXPECT_EQ(parameter_count(network.nodes.back().operation), 125'000'000);
}

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
    return external_files(path);
  };
  EXPECT_TRUE(located({}).empty());
  EXPECT_EQ(located({"weights/a.bin", "weights/./a.bin"}), std::vector<std::filesystem::path>{"weights/a.bin"});
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
  for (const char* wrong : {"", "images", "=1x3", "images=", "images=1x", "images=1xa", "images=0x3", "images=-1x3"}) {
    EXPECT_THROW(parse_input_shape(wrong), InputError) << wrong;
  }
}

TEST(OnnxReader, NamesWithControlCharactersStayInOneLine) {
  const std::string path = std::string(TENSHOT_SOURCE_DIR) + "/tests/fuzz/seeds/onnx/control_characters";
  const std::string message = refusal(read_file(path));
  for (const char c : message) EXPECT_FALSE(c >= 0 && c < ' ') << message;
}

}  // namespace
}  // namespace tenshot::nasbench
