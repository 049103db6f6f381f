#include "nasbench/graph/onnx.h"

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <map>
#include <set>

#include "nasbench/graph/network_builder.h"
#include "nasbench/graph/network_weights.h"
#include "nasbench/graph/onnx_reader.h"
#include "nasbench/spaces/search_space.h"
#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "nasbench/support/random.h"
#include "nasbench/support/temporaries.h"
#include "tests/unit/nasbench/graph/network_fixtures.h"

namespace tenshot::nasbench {
namespace {

onnx::ModelProto model_of(const Network& graph, const OnnxOptions& options = {}) {
  onnx::ModelProto model;
  EXPECT_TRUE(model.ParseFromString(onnx_model(graph, options)));
  return model;
}

std::map<std::string, int> nodes_of(const onnx::ModelProto& model) {
  std::map<std::string, int> counts;
  for (const onnx::NodeProto& node : model.graph().node()) ++counts[node.op_type()];
  return counts;
}

std::vector<std::int64_t> shape_of(const onnx::ValueInfoProto& value) {
  std::vector<std::int64_t> shape;
  for (const auto& extent : value.type().tensor_type().shape().dim()) shape.push_back(extent.dim_value());
  return shape;
}

Network network_of(const char* architecture) {
  return nasbench201().computation(nasbench201().parse(architecture), {}, 1);
}

TEST(Onnx, EveryLayerOfANetworkIsANode) {
  const onnx::ModelProto model =
      model_of(network_of("|nor_conv_3x3~0|+|none~0|avg_pool_3x3~1|+|skip_connect~0|nor_conv_1x1~1|skip_connect~2|"));
  EXPECT_EQ(model.ir_version(), 7);
  ASSERT_EQ(model.opset_import_size(), 1);
  EXPECT_EQ(model.opset_import(0).version(), 13);
  // 15 cells of two convolutions, a pool, a multiplication by 0 and three additions; stem, two residual blocks of
  // three convolutions, a pool and an addition, and the head: as tests of the network count them.
  const std::map<std::string, int> expected = {{"Conv", 30 + 1 + 6},
                                               {"BatchNormalization", 30 + 1 + 4 + 1},
                                               {"Relu", 30 + 4 + 1},
                                               {"AveragePool", 15 + 2},
                                               {"Mul", 15},
                                               {"Add", 45 + 2},
                                               {"GlobalAveragePool", 1},
                                               {"Flatten", 1},
                                               {"Gemm", 1}};
  EXPECT_EQ(nodes_of(model), expected);
}

TEST(Onnx, InputAndOutputHaveTheBatchAndTheShape) {
  const onnx::ModelProto model =
      model_of(nasbench201().computation(nasbench201().at(0), {16, 100}, 8), {1, "all_none"});
  EXPECT_EQ(model.graph().name(), "all_none");
  EXPECT_EQ(model.graph().input(0).name(), onnx_input_name);
  EXPECT_EQ(shape_of(model.graph().input(0)), (std::vector<std::int64_t>{8, 3, 16, 16}));
  EXPECT_EQ(model.graph().output(0).name(), onnx_output_name);
  EXPECT_EQ(shape_of(model.graph().output(0)), (std::vector<std::int64_t>{8, 100}));
}

TEST(Onnx, HoldsTheWeightsOfTheSeed) {
  NetworkBuilder builder;
  builder.output(builder.convolution("conv", builder.input("input", {1, 2, 6, 6}), 4, {same_window(3, 2)}));
  const Network graph = builder.take();
  const onnx::ModelProto model = model_of(graph, {7, "one"});
  ASSERT_EQ(model.graph().initializer_size(), 1);
  const onnx::TensorProto& weight = model.graph().initializer(0);
  EXPECT_EQ(std::vector<std::int64_t>(weight.dims().begin(), weight.dims().end()),
            (std::vector<std::int64_t>{4, 2, 3, 3}));
  EXPECT_EQ(std::vector<float>(weight.float_data().begin(), weight.float_data().end()),
            random_weights(graph, 0, 7).weight);
}

TEST(Onnx, NoTwoConvolutionsShareWeights) {
  const onnx::ModelProto model = model_of(
      network_of("|nor_conv_1x1~0|+|nor_conv_1x1~0|nor_conv_1x1~1|+|nor_conv_1x1~0|nor_conv_1x1~1|nor_conv_1x1~2|"));
  std::set<std::string> different;
  int convolutions = 0;
  for (const onnx::TensorProto& tensor : model.graph().initializer()) {
    if (tensor.dims_size() != 4) continue;
    ++convolutions;
    different.insert(tensor.name());
    different.insert(std::to_string(tensor.float_data(0)) + "," + std::to_string(tensor.float_data(1)));
  }
  EXPECT_EQ(static_cast<int>(different.size()), 2 * convolutions);
}

TEST(Onnx, NoneIsAMultiplicationByZeroAndASkipAloneAnIdentity) {
  const std::vector<Operator> operators = nasbench201().operators({}, 1);
  EXPECT_EQ(nodes_of(model_of(operators[0].graph)), (std::map<std::string, int>{{"Mul", 1}}));
  const onnx::ModelProto skip = model_of(operators[3].graph);
  EXPECT_EQ(operators[3].name, "skip_connect");
  EXPECT_EQ(nodes_of(skip), (std::map<std::string, int>{{"Identity", 1}}));
  EXPECT_EQ(skip.graph().node(0).output(0), onnx_output_name);
}

TEST(Onnx, SameSeedSameBytes) {
  const Network graph = network_of("|nor_conv_3x3~0|+|none~0|none~1|+|none~0|none~1|skip_connect~2|");
  EXPECT_EQ(onnx_model(graph, {3, "a"}), onnx_model(graph, {3, "a"}));
  EXPECT_NE(onnx_model(graph, {3, "a"}), onnx_model(graph, {4, "a"}));
}

Network round_trip(const Network& network) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "network.onnx";
  write_file_atomically(path, onnx_model(network, {1, "network"}));
  return read_onnx(path);
}

std::vector<std::string> lines(const Network& network) {
  std::vector<std::string> result;
  for (const NetworkNode& node : network.nodes) result.push_back(format(node.operation));
  return result;
}

TEST(OnnxRoundTrip, IsTheSameNetwork) {
  for (const Network& network : {network_of_convolutions(), network_of_attention(), network_of_attention(1)}) {
    const Network read = round_trip(network);
    EXPECT_EQ(lines(read), lines(network));
    EXPECT_EQ(content_hash(read), content_hash(network));
  }
}

TEST(OnnxRoundTrip, KeepsTheNamesOfNodesAndInputs) {
  const Network network = network_of_convolutions(), read = round_trip(network);
  ASSERT_EQ(read.nodes.size(), network.nodes.size());
  for (std::size_t i = 0; i < read.nodes.size(); ++i) EXPECT_EQ(read.nodes[i].name, network.nodes[i].name);
  EXPECT_EQ(read.inputs[0].name, "input");
}

TEST(OnnxRoundTrip, OfNasBench201IsTheSameNetwork) {
  Rng rng(3);
  for (int i = 0; i < 20; ++i) {
    const Network network = nasbench201().computation(nasbench201().random(rng), {}, 1 + i % 3);
    EXPECT_EQ(content_hash(round_trip(network)), content_hash(network));
  }
}

TEST(OnnxRoundTrip, OfOddNodes) {
  NetworkBuilder builder;
  const Source image = builder.input("first", {2, 6, 7, 9}), other = builder.input("second", {2, 6, 7, 9});
  const auto append = [&](OperatorKind kind, const char* function, std::vector<Source> inputs, const Shape& shape,
                          const OperatorAttributes& attributes, const std::vector<Shape>& constants = {}) {
    NetworkNode node;
    node.operation.kind = kind;
    node.operation.name = function;
    node.operation.constants = constants;
    node.attributes = attributes;
    node.name = "odd";
    node.inputs = std::move(inputs);
    node.outputs = {{shape, ElementType::float32}};
    return builder.append(node);
  };
  OperatorAttributes a;
  a.axes = {2, 3};
  a.starts = {1, 8};
  a.steps = {2, -1};
  builder.output(append(OperatorKind::split, "slice", {image}, {2, 6, 3, 9}, a));
  a = {};
  a.axes = {1};
  a.starts = {4};
  a.steps = {1};
  builder.output(append(OperatorKind::split, "slice", {image}, {2, 7, 9}, a));
  a = {};
  a.mode = "reflect";
  a.starts = {0, 0, 1, 0};
  a.ends = {0, 0, 2, 3};
  builder.output(append(OperatorKind::pad, "", {image}, {2, 6, 10, 12}, a));
  for (const char* mode : {"nearest", "linear", "linear_aligned", "cubic"}) {
    a = {};
    a.mode = mode;
    builder.output(append(OperatorKind::resize, a.mode == "cubic" ? "cubic" : "", {image}, {2, 6, 14, 18}, a));
  }
  a = {};
  a.alpha = 2;
  a.constant_first = true;
  builder.output(append(OperatorKind::elementwise, "subtract", {image}, {2, 6, 7, 9}, a));
  builder.output(append(OperatorKind::elementwise, "maximum", {image, other}, {2, 6, 7, 9}, {}));
  builder.output(append(OperatorKind::elementwise, "divide", {image}, {2, 6, 7, 9}, {}, {{6, 1, 1}}));
  a = {};
  a.axes = {1};
  a.constant_first = true;
  builder.output(append(OperatorKind::concatenate, "", {image}, {2, 7, 7, 9}, a, {{1, 1, 7, 9}}));
  for (const char* function : {"sum", "max", "product"}) {
    a = {};
    a.axes = {1, 3};
    builder.output(append(OperatorKind::reduce, function, {image}, {2, 7}, a));
  }
  builder.output(append(OperatorKind::global_pool, "max", {image}, {2, 6}, {}));
  builder.output(image);
  const Network read = round_trip(builder.network());
  EXPECT_EQ(lines(read), lines(builder.network()));
  EXPECT_EQ(content_hash(read), content_hash(builder.network()));
}

TEST(Onnx, RefusesAnOpaqueOperatorByName) {
  NetworkBuilder builder;
  NetworkNode node;
  node.operation.name = "Polish";
  node.name = "polish_1";
  node.inputs = {builder.input("input", {1, 3})};
  node.outputs = {{{1, 3}, ElementType::float32}};
  builder.output(builder.append(node));
  try {
    onnx_model(builder.network(), {});
    FAIL() << "wrote an operator that nobody knows";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("'polish_1' (opaque Polish)"), std::string::npos) << error.what();
  }
}

TEST(Onnx, RefusesWhatNobodyCanRun) { EXPECT_THROW(onnx_model(Network{}, {}), InputError); }

}  // namespace
}  // namespace tenshot::nasbench
