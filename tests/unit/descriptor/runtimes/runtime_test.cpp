#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "descriptor/runtimes/libtorch_runtime.h"
#include "nasbench/graph/network_builder.h"
#include "nasbench/graph/network_weights.h"
#include "nasbench/spaces/search_space.h"
#include "nasbench/support/error.h"
#include "tests/unit/descriptor/runtimes/runtime_fixture.h"

namespace tenshot::descriptor {
namespace {

using nasbench::LayerWeights;
using nasbench::Network;
using nasbench::NetworkBuilder;
using nasbench::same_window;
using nasbench::Source;

/// The largest difference relative to the largest value.
double relative_difference(const std::vector<float>& a, const std::vector<float>& b) {
  double difference = 0, largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference = std::max(difference, std::abs(static_cast<double>(a[i]) - b[i]));
    largest = std::max(largest, std::abs(static_cast<double>(a[i])));
  }
  return difference / std::max(largest, 1e-30);
}

class EveryRuntime : public testing::TestWithParam<std::string> {};

TEST_P(EveryRuntime, ComputesReluAndAddAndZeroByHand) {
  NetworkBuilder builder;
  const Source image = builder.input("input", {1, 1, 1, 3});
  const Source relu = builder.activation("relu", image, "relu");
  const Source zero = builder.multiply_by("zero", image, 0);
  const Source sum = builder.add("sum", relu, image);
  builder.output(builder.add("output", sum, zero));
  EXPECT_EQ(infer(GetParam(), builder.network(), {-1, 2, 3}), (std::vector<float>{-1, 4, 6}));
}

TEST_P(EveryRuntime, ZeroIsMultiplicationThatKeepsNotANumber) {
  NetworkBuilder builder;
  builder.output(builder.multiply_by("zero", builder.input("input", {1, 1, 1, 2}), 0));
  const std::vector<float> output = infer(GetParam(), builder.network(), {std::nanf(""), 5});
  EXPECT_TRUE(std::isnan(output.at(0)));
  EXPECT_EQ(output.at(1), 0);
}

TEST_P(EveryRuntime, AveragePoolDoesNotCountPadding) {
  NetworkBuilder builder;
  builder.output(builder.average_pool("pool", builder.input("input", {1, 1, 3, 3}), {same_window(3)}));
  const std::vector<float> output = infer(GetParam(), builder.network(), {1, 2, 3, 4, 5, 6, 7, 8, 9});
  const std::vector<float> expected = {3, 3.5, 4, 4.5, 5, 5.5, 6, 6.5, 7};  // corners over four values, edges over six
  ASSERT_EQ(output.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_FLOAT_EQ(output[i], expected[i]) << i;
}

TEST_P(EveryRuntime, ConvolutionByItsDefinition) {
  NetworkBuilder builder;
  builder.output(builder.convolution("conv", builder.input("input", {1, 2, 5, 5}), 3, {same_window(3, 2)}));
  const Network& graph = builder.network();
  const std::vector<float> weight = nasbench::random_weights(graph, 0, 1).weight;
  const std::vector<float> input = random_values(graph, 3);
  std::vector<float> expected;
  for (int out = 0; out < 3; ++out) {
    for (int row = 0; row < 3; ++row) {
      for (int column = 0; column < 3; ++column) {
        double sum = 0;
        for (int in = 0; in < 2; ++in) {
          for (int i = 0; i < 3; ++i) {
            for (int j = 0; j < 3; ++j) {
              const int y = 2 * row - 1 + i, x = 2 * column - 1 + j;
              if (y < 0 || y > 4 || x < 0 || x > 4) continue;
              sum += static_cast<double>(weight[static_cast<std::size_t>(((out * 2 + in) * 3 + i) * 3 + j)]) *
                     input[static_cast<std::size_t>((in * 5 + y) * 5 + x)];
            }
          }
        }
        expected.push_back(static_cast<float>(sum));
      }
    }
  }
  EXPECT_LT(relative_difference(expected, infer(GetParam(), graph, input)), 1e-5);
}

TEST_P(EveryRuntime, BatchNormAndHeadByTheirDefinitions) {
  NetworkBuilder builder;
  const Source norm = builder.batch_norm("norm", builder.input("input", {1, 2, 1, 2}));
  const Source mean = builder.global_average_pool("mean", norm);
  const Source linear = builder.linear("linear", mean, 3);
  builder.output(linear);
  const Network& graph = builder.network();
  const LayerWeights n = nasbench::random_weights(graph, static_cast<std::size_t>(norm.node), 1);
  const LayerWeights l = nasbench::random_weights(graph, static_cast<std::size_t>(linear.node), 1);
  const std::vector<float> input = {1, 3, -2, 5};
  std::vector<double> pooled;
  for (std::size_t c = 0; c < 2; ++c) {
    const double average = (static_cast<double>(input[2 * c]) + input[2 * c + 1]) / 2;
    pooled.push_back((average - n.mean[c]) / std::sqrt(n.variance[c] + 1e-5) * n.weight[c] + n.bias[c]);
  }
  std::vector<float> expected;
  for (std::size_t o = 0; o < 3; ++o) {
    expected.push_back(static_cast<float>(l.weight[2 * o] * pooled[0] + l.weight[2 * o + 1] * pooled[1] + l.bias[o]));
  }
  EXPECT_LT(relative_difference(expected, infer(GetParam(), graph, input)), 1e-5);
}

TEST_P(EveryRuntime, AgreesWithEagerOnRandomArchitectures) {
  const nasbench::SearchSpace& space = nasbench::nasbench201();
  nasbench::NetworkShape shape;
  shape.resolution = 16;
  Rng rng(11);
  for (int i = 0; i < 12; ++i) {
    const nasbench::Architecture architecture = space.random(rng);
    for (const int batch : {1, 4}) {
      const Network graph = space.computation(architecture, shape, batch);
      const std::vector<float> input = random_values(graph, 100 + static_cast<std::uint64_t>(i));
      const std::vector<float> eager = infer("libtorch-eager", graph, input);
      const std::vector<float> output = infer(GetParam(), graph, input);
      ASSERT_EQ(output.size(), static_cast<std::size_t>(10 * batch));
      ASSERT_EQ(output.size(), eager.size());
      EXPECT_LT(relative_difference(eager, output), make_runtime(GetParam())->tolerance())
          << space.format(architecture) << " batch " << batch;
    }
  }
}

TEST_P(EveryRuntime, AgreesWithEagerOnEveryOperator) {
  nasbench::NetworkShape shape;
  shape.resolution = 8;
  for (const nasbench::Operator& op : nasbench::nasbench201().operators(shape, 2)) {
    const std::vector<float> input = random_values(op.graph, 5);
    const std::vector<float> eager = infer("libtorch-eager", op.graph, input);
    const std::vector<float> output = infer(GetParam(), op.graph, input);
    ASSERT_EQ(output.size(), eager.size()) << op.name;
    EXPECT_LT(relative_difference(eager, output), 1e-4) << op.name << " of " << op.key.channels() << " channels";
  }
}

TEST_P(EveryRuntime, OutputDependsOnInputAndSeedAndNotOnTheCall) {
  NetworkBuilder builder;
  const Source conv = builder.convolution("conv", builder.input("input", {1, 3, 8, 8}), 4, {same_window(3)});
  builder.output(builder.global_average_pool("mean", builder.batch_norm("norm", conv)));
  const Network& graph = builder.network();
  const auto runtime = make_runtime(GetParam());
  RuntimeOptions options;
  const auto network = runtime->prepare(graph, options);
  options.weight_seed = 2;
  const auto other_weights = runtime->prepare(graph, options);
  const std::vector<float> input = random_values(graph, 1);
  const std::vector<float> first = network->infer(input);
  network->run();
  EXPECT_EQ(network->infer(input), first);
  EXPECT_NE(network->infer(random_values(graph, 2)), first);
  EXPECT_NE(other_weights->infer(input), first);
}

TEST_P(EveryRuntime, ThreadsDoNotChangeTheFunction) {
  nasbench::NetworkShape shape;
  shape.resolution = 8;
  const nasbench::SearchSpace& space = nasbench::nasbench201();
  const Network graph = space.computation(space.at(7777), shape, 2);
  const std::vector<float> input = random_values(graph, 9);
  EXPECT_LT(relative_difference(infer(GetParam(), graph, input, 1), infer(GetParam(), graph, input, 2)), 1e-4);
}

TEST_P(EveryRuntime, ItsNameIsTheOneItIsMadeBy) {
  EXPECT_EQ(make_runtime(GetParam())->name(), GetParam());
  const std::string engine = GetParam() == "opencv-dnn" ? "OpenCV " : "LibTorch ";
  EXPECT_EQ(make_runtime(GetParam())->version().substr(0, engine.size()), engine);
}

TEST_P(EveryRuntime, RefusesWhatItCannotRun) {
  const auto runtime = make_runtime(GetParam());
  EXPECT_THROW(runtime->prepare(Network{}, {}), InputError);
  NetworkBuilder builder;
  builder.output(builder.activation("relu", builder.input("input", {1, 1, 2, 2}), "relu"));
  EXPECT_THROW(runtime->prepare(builder.network(), {})->infer({1, 2, 3}), InputError);
  Network forward_reference = builder.network();
  forward_reference.nodes[0].inputs = {{1, 0}};
  EXPECT_THROW(runtime->prepare(forward_reference, {}), InputError);
}

std::vector<std::string> runtimes_of_precision(std::string_view precision) {
  std::vector<std::string> names;
  for (const std::string& name : runtime_names()) {
    if (name != "libtorch-cuda" && make_runtime(name)->precision() == precision) names.push_back(name);
  }
  return names;
}

std::string as_identifier(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(LibTorch, EveryRuntime, testing::ValuesIn(runtimes_of_precision("fp32")), as_identifier);

class ByteRuntime : public testing::TestWithParam<std::string> {};

TEST_P(ByteRuntime, AgreesWithEagerWithinItsTolerance) {
  const nasbench::SearchSpace& space = nasbench::nasbench201();
  nasbench::NetworkShape shape;
  shape.resolution = 16;
  const double tolerance = make_runtime(GetParam())->tolerance();
  Rng rng(12);
  double total = 0;
  constexpr int architectures = 12;
  for (int i = 0; i < architectures; ++i) {
    const Network graph = space.computation(space.random(rng), shape, 2);
    const std::vector<float> input = random_values(graph, 100 + static_cast<std::uint64_t>(i));
    const double difference = relative_rms(infer("libtorch-eager", graph, input), infer(GetParam(), graph, input));
    EXPECT_LT(difference, tolerance) << i;
    total += difference;
  }
  EXPECT_GT(total, 0) << "bytes cannot agree with floats to the last digit: nothing was quantised";
}

TEST_P(ByteRuntime, AgreesWithEagerOnEveryOperator) {
  nasbench::NetworkShape shape;
  shape.resolution = 8;
  const double tolerance = make_runtime(GetParam())->tolerance();
  for (const nasbench::Operator& op : nasbench::nasbench201().operators(shape, 1)) {
    const std::vector<float> input = random_values(op.graph, 5);
    EXPECT_LT(relative_rms(infer("libtorch-eager", op.graph, input), infer(GetParam(), op.graph, input)), tolerance)
        << op.name << " of " << op.key.channels() << " channels";
  }
}

INSTANTIATE_TEST_SUITE_P(LibTorch, ByteRuntime, testing::ValuesIn(runtimes_of_precision("int8")), as_identifier);

TEST(LibTorchCuda, AgreesWithEagerOrSaysThatThereIsNoDevice) {
  const nasbench::SearchSpace& space = nasbench::nasbench201();
  nasbench::NetworkShape shape;
  shape.resolution = 8;
  const Network graph = space.computation(space.at(4321), shape, 1);
  const std::vector<float> input = random_values(graph, 3);
  try {
    const std::vector<float> output = infer("libtorch-cuda", graph, input);
    EXPECT_LT(relative_difference(infer("libtorch-eager", graph, input), output),
              make_runtime("libtorch-cuda")->tolerance());
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("no CUDA device"), std::string::npos) << error.what();
  }
}

TEST(MakeRuntime, ListsTheNamesWhenItDoesNotKnowOne) {
  try {
    make_runtime("tensorrt");
    FAIL() << "made a runtime that does not exist";
  } catch (const InputError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("'tensorrt'"), std::string::npos);
    for (const std::string& name : runtime_names()) EXPECT_NE(message.find(name), std::string::npos);
  }
}

TEST(TorchScriptSource, KeepsEveryZeroAndUsesNoOperationInPlace) {
  const nasbench::SearchSpace& space = nasbench::nasbench201();
  const Network graph = space.computation(space.at(0), {}, 1);  // six `none` in each of fifteen cells
  const std::string source = torchscript_source(graph);
  std::size_t zeros = 0;
  for (std::size_t at = source.find("* 0.0"); at != std::string::npos; at = source.find("* 0.0", at + 1)) ++zeros;
  EXPECT_EQ(zeros, 6u * 15u);
  EXPECT_EQ(source.find("_("), std::string::npos);
  EXPECT_EQ(source.find("+="), std::string::npos);
}

TEST(TorchInfo, NamesLibraryBlasAndThreads) {
  EXPECT_FALSE(blas_in_use().empty());
  const std::string summary = torch_summary();
  EXPECT_EQ(summary.rfind("LibTorch ", 0), 0u) << summary;
  EXPECT_NE(summary.find(blas_in_use()), std::string::npos) << summary;
  EXPECT_NE(summary.find(" thread"), std::string::npos) << summary;
  EXPECT_EQ(summary.find('\n'), std::string::npos) << summary;
}

}  // namespace
}  // namespace tenshot::descriptor
