#include <gtest/gtest.h>

#include "descriptor/runtimes/libtorch_runtime.h"
#include "nasbench/graph/network_builder.h"
#include "nasbench/graph/network_weights.h"
#include "nasbench/support/error.h"
#include "tests/unit/descriptor/runtimes/runtime_fixture.h"
#include "tests/unit/nasbench/graph/network_fixtures.h"

namespace tenshot::descriptor {
namespace {

using nasbench::ElementType;
using nasbench::Network;
using nasbench::NetworkBuilder;
using nasbench::NetworkNode;
using nasbench::OperatorAttributes;
using nasbench::OperatorKind;
using nasbench::Shape;
using nasbench::Source;

void expect_agreement(const std::string& runtime, const Network& network) {
  const std::vector<float> input = random_values(network, 3);
  const std::vector<float> eager = infer("libtorch-eager", network, input), output = infer(runtime, network, input);
  ASSERT_EQ(eager.size(), output.size());
  EXPECT_LT(relative_rms(eager, output), make_runtime(runtime)->tolerance());
  EXPECT_TRUE(std::all_of(eager.begin(), eager.end(), [](float value) { return std::isfinite(value); }));
}

/// A network whose outputs are one node each, of kinds and forms that the other networks have not.
class OddNodes {
 public:
  Network take() {
    append_moves();
    append_pairs();
    append_functions();
    return builder_.take();
  }

 private:
  void append(OperatorKind kind, const char* function, std::vector<Source> inputs, const Shape& shape,
              const OperatorAttributes& attributes, const std::vector<Shape>& constants = {}) {
    NetworkNode node;
    node.operation.kind = kind;
    node.operation.name = function;
    node.operation.constants = constants;
    node.attributes = attributes;
    node.name = "odd";
    node.inputs = std::move(inputs);
    node.outputs = {{shape, ElementType::float32}};
    builder_.output(builder_.append(node));
  }

  void append_moves() {
    OperatorAttributes a;
    a.axes = {2, 3};
    a.starts = {1, 2};
    a.steps = {2, 3};
    append(OperatorKind::split, "slice", {image}, {2, 6, 3, 3}, a);
    a = {};
    a.axes = {1};
    a.starts = {4};
    a.steps = {1};
    append(OperatorKind::split, "slice", {image}, {2, 7, 9}, a);
    for (const char* mode : {"reflect", "edge", "constant"}) {
      a = {};
      a.mode = mode;
      a.alpha = 0.5;
      a.starts = {0, 0, 1, 0};
      a.ends = {0, 0, 2, 3};
      append(OperatorKind::pad, "", {image}, {2, 6, 10, 12}, a);
    }
    for (const char* mode : {"nearest", "linear", "linear_aligned", "cubic"}) {
      a = {};
      a.mode = mode;
      append(OperatorKind::resize, "", {image}, {2, 6, 14, 18}, a);
    }
  }

  void append_pairs() {
    OperatorAttributes a;
    a.alpha = 2;
    for (const char* operation : {"subtract", "divide", "minimum", "maximum", "prelu"}) {
      append(OperatorKind::elementwise, operation, {image}, same, a);
      append(OperatorKind::elementwise, operation, {image}, same, {}, {{6, 1, 1}});
      append(OperatorKind::elementwise, operation, {image, other}, same, {});
    }
    a.constant_first = true;
    append(OperatorKind::elementwise, "subtract", {image}, same, a);
    append(OperatorKind::elementwise, "power", {image}, same, a);
    append(OperatorKind::add, "", {image}, same, {}, {{6, 1, 1}});
    append(OperatorKind::add, "", {image, other, image}, same, {});
    append(OperatorKind::multiply, "", {image, other}, same, {});
    a = {};
    a.axes = {1};
    a.constant_first = true;
    append(OperatorKind::concatenate, "", {image}, {2, 7, 7, 9}, a, {{1, 1, 7, 9}});
    a = {};
    a.axes = {1, 3};
    for (const char* function : {"mean", "sum", "max", "min"}) {
      append(OperatorKind::reduce, function, {image}, {2, 7}, a);
    }
  }

  void append_functions() {
    append(OperatorKind::global_pool, "max", {image}, {2, 6, 1, 1}, {});
    OperatorAttributes a;
    a.axes = {1};
    append(OperatorKind::softmax, "log", {image}, same, a);
    a = {};
    a.alpha = 0.25;
    a.beta = 0.5;
    for (const char* function : {"sigmoid", "gelu", "tanh", "selu", "softplus", "erf", "exp", "negate", "absolute",
                                 "floor", "ceil", "round", "sign", "sin", "cos", "hard_sigmoid", "elu", "clip"}) {
      append(OperatorKind::activation, function, {image}, same, a);
    }
  }

  NetworkBuilder builder_;
  const Shape same = {2, 6, 7, 9};
  const Source image = builder_.input("first", same), other = builder_.input("second", same);
};

class NetworkRuntime : public testing::TestWithParam<std::string> {};

TEST_P(NetworkRuntime, AgreesWithEagerOnConvolutionalNetworks) {
  expect_agreement(GetParam(), nasbench::network_of_convolutions());
}

TEST_P(NetworkRuntime, AgreesWithEagerOnTransformers) {
  expect_agreement(GetParam(), nasbench::network_of_attention());
}

TEST_P(NetworkRuntime, AgreesWithEagerOnOddNodesSeveralInputsAndOutputs) {
  expect_agreement(GetParam(), OddNodes().take());
}

TEST_P(NetworkRuntime, DepthwiseConvolutionAndShuffleByTheirDefinitions) {
  NetworkBuilder builder;
  const Source image = builder.input("input", {1, 4, 1, 1});
  builder.output(builder.shuffle("shuffle", builder.convolution("scale", image, 4, {{}, 4, true}), 2));
  const Network network = builder.take();
  const nasbench::LayerWeights weights = nasbench::random_weights(network, 0, 1);
  std::vector<float> expected;
  for (const std::size_t channel : {0U, 2U, 1U, 3U}) {  // two groups in turn
    expected.push_back(weights.weight[channel] * static_cast<float>(channel + 1) + weights.bias[channel]);
  }
  EXPECT_LT(relative_rms(expected, infer(GetParam(), network, {1, 2, 3, 4})), 1e-6);
}

TEST_P(NetworkRuntime, SplitIntoOnePartIsThatPart) {
  NetworkBuilder builder;
  const Source image = builder.input("input", {1, 2, 1, 2});
  builder.output(builder.activation("relu", builder.split("split", image, {2}).at(0), "relu"));
  EXPECT_EQ(infer(GetParam(), builder.take(), {-1, 2, 3, -4}), (std::vector<float>{0, 2, 3, 0}));
}

TEST_P(NetworkRuntime, PaddingOfOneSideMovesTheWindow) {
  NetworkBuilder builder;
  const Source image = builder.input("input", {1, 1, 1, 3});
  nasbench::ConvolutionOptions options;
  options.window = {{1, 2}, {1, 1}, {0, 0, 0, 1}, {}};
  builder.output(builder.convolution("convolution", image, 1, options));
  builder.output(builder.max_pool("pool", image, {options.window, false, false}));
  const Network network = builder.take();
  const std::vector<float> w = nasbench::random_weights(network, 0, 1).weight;
  const std::vector<float> expected = {w[0] * -1 + w[1] * -2, w[0] * -2 + w[1] * -3, w[0] * -3, -1, -2, -3};
  EXPECT_LT(relative_rms(expected, infer(GetParam(), network, {-1, -2, -3})), 1e-6);
}

TEST_P(NetworkRuntime, RunsItsOwnInputs) {
  const auto network = make_runtime(GetParam())->prepare(OddNodes().take(), {});
  EXPECT_NO_THROW(network->run());
  EXPECT_THROW(network->infer({1, 2, 3}), InputError);
}

INSTANTIATE_TEST_SUITE_P(LibTorch, NetworkRuntime,
                         testing::Values("libtorch-eager", "libtorch-frozen", "libtorch-optimized", "libtorch-xnnpack",
                                         "libtorch-channels-last"),
                         [](const testing::TestParamInfo<std::string>& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

void expect_refusal(const std::string& runtime, const Network& network, const std::string& part) {
  try {
    make_runtime(runtime)->prepare(network, {});
    ADD_FAILURE() << runtime << " prepared what it cannot run";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST(NetworkRuntimes, NameTheNodeThatTheyCannotRun) {
  NetworkBuilder builder;
  NetworkNode node;
  node.operation.name = "LSTM";
  node.name = "recurrent";
  node.inputs = {builder.input("input", {1, 4, 8})};
  node.outputs = {{{1, 4, 8}, ElementType::float32}};
  builder.output(builder.append(node));
  for (const std::string& runtime : runtime_names()) {
    if (runtime != "libtorch-cuda") expect_refusal(runtime, builder.network(), "node 'recurrent' (opaque LSTM)");
  }
}

TEST(NetworkRuntimes, NameTheElementTypeThatTheyDoNotTake) {
  NetworkBuilder builder;
  builder.output(builder.activation("relu", builder.input("input", {1, 4}, ElementType::float16), "relu"));
  expect_refusal("libtorch-eager", builder.network(), "float16");
  expect_refusal("libtorch-frozen", builder.network(), "float16");
}

TEST(LibTorchInt8, RunsOnBytesWithinItsTolerance) {
  NetworkBuilder builder;
  const Source image = builder.input("input", {2, 3, 16, 16});
  Source x = builder.convolution("stem", image, 8, {nasbench::same_window(3, 2), 1, true});
  x = builder.activation("relu6", builder.batch_norm("norm", x), "relu6");
  const Source depthwise = builder.convolution("depthwise", x, 8, {nasbench::same_window(3), 8, false});
  x = builder.concatenate("joined", {x, builder.add("sum", x, depthwise)});
  x = builder.max_pool("pool", x, {nasbench::same_window(3, 2), false, false});
  builder.output(builder.linear("head", builder.global_average_pool("mean", x), 10));
  const Network network = builder.take();
  const std::vector<float> input = random_values(network, 3);
  const double difference =
      relative_rms(infer("libtorch-eager", network, input), infer("libtorch-int8", network, input));
  EXPECT_LT(difference, make_runtime("libtorch-int8")->tolerance());
  EXPECT_GT(difference, 0) << "bytes cannot agree with floats to the last digit: nothing was quantised";
}

TEST(LibTorchInt8, RunsOnFloatsWhatHasNoOperatorOnBytes) {
  NetworkBuilder builder;
  const Source image = builder.input("input", {2, 6, 12, 12});
  Source x = builder.convolution("stem", image, 12, {nasbench::same_window(3), 1, true});
  x = builder.activation("swish", x, "hard_swish");
  const Source gate = builder.activation("gate", builder.global_average_pool("squeeze", x), "sigmoid");
  builder.output(builder.linear("head", gate, 10));
  builder.output(builder.shuffle("shuffle", x, 3));
  expect_agreement("libtorch-int8", builder.take());
}

TEST(LibTorchInt8, GroupedConvolutionsRunMoreThanOnce) {
  NetworkBuilder builder;
  const Source image = builder.input("input", {1, 64, 14, 14});
  const Source wide = builder.convolution("wide", image, 384, {{}, 2, true});
  builder.output(builder.convolution("narrow", wide, 112, {{}, 2, true}));
  const Network network = builder.take();
  const std::vector<float> input = random_values(network, 3);
  const std::unique_ptr<PreparedNetwork> prepared = make_runtime("libtorch-int8")->prepare(network, {});
  const std::vector<float> first = prepared->infer(input);
  EXPECT_LT(relative_rms(infer("libtorch-eager", network, input), first), make_runtime("libtorch-int8")->tolerance());
  EXPECT_EQ(prepared->infer(input), first);
}

TEST(NetworkRuntimes, RequireSupportedSaysWhatPreparingWould) {
  NetworkBuilder builder;
  builder.output(builder.activation("relu", builder.input("input", {1, 4}, ElementType::float16), "relu"));
  for (const char* runtime : {"libtorch-eager", "libtorch-optimized", "libtorch-int8"}) {
    EXPECT_THROW(make_runtime(runtime)->require_supported(builder.network(), {}), InputError) << runtime;
    EXPECT_NO_THROW(make_runtime(runtime)->require_supported(nasbench::network_of_convolutions(), {})) << runtime;
  }
}

TEST(TorchScriptSource, OfANetworkNamesInputsAndListsOutputs) {
  NetworkBuilder builder;
  const Source a = builder.input("a", {1, 2}), b = builder.input("b", {1, 2});
  builder.output(builder.add("sum", a, b));
  builder.output(a);
  EXPECT_EQ(torchscript_source(builder.network()),
            "def forward(self, x0, x1):\n    t0 = x0 + x1\n    return [t0, x0]\n");
}

/// A convolution that is far dearer than the ReLU behind it.
Network dear_convolution() {
  NetworkBuilder builder;
  const Source image = builder.input("input", {1, 32, 32, 32});
  builder.output(
      builder.activation("relu", builder.convolution("conv", image, 64, {nasbench::same_window(3), 1, true}), "relu"));
  return builder.take();
}

TEST(TimedRun, SaysHowLongEachNodeTakes) {
  for (const std::string runtime : {"libtorch-eager", "libtorch-channels-last", "libtorch-int8"}) {
    const auto prepared = make_runtime(runtime)->prepare(dear_convolution(), {});
    prepared->run();
    const std::vector<double> ms = prepared->run_timed();
    ASSERT_EQ(ms.size(), 2U) << runtime;
    EXPECT_GT(ms[0], 0) << runtime;
    EXPECT_GT(ms[1], 0) << runtime;
    EXPECT_NO_THROW(prepared->run()) << runtime;
  }
}

TEST(TimedRun, OfARuntimeThatCompilesTheNetwork_SaysNothing) {
  EXPECT_TRUE(make_runtime("libtorch-frozen")->prepare(dear_convolution(), {})->run_timed().empty());
}

}  // namespace
}  // namespace tenshot::descriptor
