#include "nasbench/graph/onnx_reader.h"

#include <gtest/gtest.h>

#include <fstream>

#include "nasbench/graph/network_builder.h"
#include "tests/unit/nasbench/graph/crafted_onnx.h"

namespace tenshot::nasbench {
namespace {

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
  expect_refusal(small_model({1, 3, Model::dynamic, 8}), {"input 'input', dimension 2", "--shape input=1x3x224x8"});
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
  onnx::AttributeProto& axis = *model.node("Concat", {"batch", "all"}, {"target"}).add_attribute();
  axis.set_name("axis");
  axis.set_type(onnx::AttributeProto::INT);
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

TEST(OnnxReader, ABranchOfOneShapeIsReadInPlaceOfItsIf) {
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
  EXPECT_EQ(format(network.nodes.back().operation), "activation negate 1x4x8x8 -> 1x4x8x8 float32");
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

TEST(OnnxReader, AnOpsetThatIsNewerThanItsRules_IsRemarked) {
  const auto remarks = [](std::int64_t opset) {
    Model model(opset);
    model.input("input", {1, 8}).output("output").node("Relu", {"input"}, {"output"});
    return read(model).remarks;
  };
  EXPECT_TRUE(remarks(23).empty());
  ASSERT_EQ(remarks(24).size(), 1U);
  EXPECT_NE(remarks(24)[0].find("opset 24, newer than this program knows"), std::string::npos);
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

TEST(OnnxReader, AWeightMayBeCastToTheTypeOfAnotherTensor) {
  OneNode one("MatMul", {2, 8}, {"x", "cast"});
  one.model.weights("w", {8, 4}, TensorProto::FLOAT16);
  one.model.node("CastLike", {"w", "x"}, {"cast"});
  EXPECT_EQ(parameter_count(read(one.model)), 8 * 4);
  EXPECT_TRUE(read(one.model).remarks.empty());
  OneNode shaped("Reshape", {2, 8}, {"x", "s"});
  shaped.model.scalar("four", 4).integers("like", {1});
  shaped.model.node("CastLike", {"four", "like"}, {"whole"});
  shaped.model.node("Unsqueeze", {"whole", "zero"}, {"last"});
  shaped.model.integers("zero", {0}).integers("open", {-1});
  set_integer(shaped.model.node("Concat", {"open", "last"}, {"s"}), "axis", 0);
  EXPECT_EQ(tensor_type(read(shaped.model), read(shaped.model).outputs.at(0)).shape, (Shape{4, 4}));
}

TEST(OnnxReader, AShapeForSeveralNetworksLeavesThoseThatFixTheirInputAsTheyAre) {
  OnnxReadOptions options;
  options.shapes["input"] = {1, 3, 64, 64};
  expect_refusal(small_model(), {"the file fixes it at 8"}, options);
  options.inputs_of_several = std::make_shared<std::set<std::string>>();
  EXPECT_EQ(lines(read(small_model(), options)), lines(read(small_model())));
  auto of_any_batch = small_model();
  auto& shape = *of_any_batch.proto().mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type();
  shape.mutable_shape()->mutable_dim(0)->set_dim_param("batch");
  EXPECT_EQ(lines(read(of_any_batch, options)), lines(read(small_model()))) << "a batch alone leaves no size open";
  options.shapes["input"] = {2, 3, 8, 8};
  EXPECT_EQ(tensor_type(read(of_any_batch, options), read(of_any_batch, options).outputs.at(0)).shape.front(), 2);
}

}  // namespace
}  // namespace tenshot::nasbench
