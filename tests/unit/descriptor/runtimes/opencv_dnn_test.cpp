#include "descriptor/runtimes/opencv_dnn.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "nasbench/graph/network_builder.h"
#include "nasbench/graph/onnx_reader.h"
#include "nasbench/spaces/synthetic_networks.h"
#include "nasbench/support/error.h"
#include "nasbench/support/random.h"

namespace tenshot::descriptor {
namespace {

using nasbench::Network;
using nasbench::NetworkBuilder;

class OpencvDnn : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_opencv()) GTEST_SKIP() << "this build has no OpenCV";
  }

  static void expect_agreement(const Network& network) {
    std::int64_t count = 0;
    for (const nasbench::NetworkInput& input : network.inputs) count += nasbench::element_count(input.type.shape);
    std::vector<float> input(static_cast<std::size_t>(count));
    Rng rng(3);
    for (float& value : input) value = static_cast<float>(rng.normal());
    RuntimeOptions options;
    options.weight_seed = 7;
    const std::vector<float> eager = make_runtime("libtorch-eager")->prepare(network, options)->infer(input);
    const auto runtime = make_opencv_runtime();
    const auto prepared = runtime->prepare(network, options);
    const std::vector<float> output = prepared->infer(input);
    ASSERT_EQ(eager.size(), output.size());
    double difference = 0, total = 1e-30;
    for (std::size_t i = 0; i < eager.size(); ++i) {
      difference += std::pow(static_cast<double>(eager[i]) - static_cast<double>(output[i]), 2);
      total += std::pow(static_cast<double>(eager[i]), 2);
    }
    EXPECT_LT(std::sqrt(difference / total), runtime->tolerance());
    EXPECT_THROW(prepared->infer({1}), InputError);
    EXPECT_NO_THROW(prepared->run());
  }
};

TEST_F(OpencvDnn, TimedRun_GivesTheTimeOfFusedNodesToTheFirst) {
  NetworkBuilder builder;
  const nasbench::Source image = builder.input("input", {1, 32, 32, 32});
  const nasbench::Source x = builder.convolution("conv", image, 64, {nasbench::same_window(3), 1, true});
  builder.output(builder.activation("act", x, "relu"));
  const std::vector<double> ms = make_opencv_runtime()->prepare(builder.take(), {})->run_timed();
  ASSERT_EQ(ms.size(), 2U);
  EXPECT_GT(ms[0], 0);
  EXPECT_EQ(ms[1], 0);
}

TEST_F(OpencvDnn, AgreesWithEagerOnSyntheticNetworks) {
  for (std::uint64_t index = 0; index < 4; ++index) expect_agreement(nasbench::synthetic_cnn(1, index));
}

TEST_F(OpencvDnn, AgreesWithEagerOnExportedNetworks) {
  const char* exports = std::getenv("TENSHOT_EXPORTS");
  if (exports == nullptr) GTEST_SKIP() << "TENSHOT_EXPORTS names no folder of exported networks";
  for (const char* name : {"mobilenet_v2", "mobilenet_v3_small", "shufflenet_v2_x1_0", "squeezenet1_0", "resnet18"}) {
    SCOPED_TRACE(name);
    expect_agreement(nasbench::read_onnx(std::filesystem::path(exports) / (std::string(name) + ".onnx")));
  }
}

TEST_F(OpencvDnn, AgreesWithEagerOnSeveralOutputs) {
  NetworkBuilder builder;
  const nasbench::Source image = builder.input("image", {1, 4, 8, 8});
  nasbench::Source x = builder.convolution("conv", image, 8, {nasbench::same_window(3), 1, true});
  x = builder.activation("relu", builder.batch_norm("norm", x), "relu");
  builder.output(builder.linear("head", builder.global_average_pool("mean", x), 5));
  builder.output(builder.max_pool("pool", x, {nasbench::same_window(3, 2), false, false}));
  expect_agreement(builder.take());
}

TEST_F(OpencvDnn, NamesWhatItCannotRun) {
  NetworkBuilder builder;
  builder.output(builder.activation("step", builder.input("tokens", {1, 4}, nasbench::ElementType::int64), "relu"));
  try {
    make_opencv_runtime()->prepare(builder.network(), {});
    ADD_FAILURE() << "prepared what it cannot run";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("'tokens'"), std::string::npos) << error.what();
  }
}

TEST(OpencvRuntime, IsAmongTheNamesWhereItIsBuilt_ElseSaysWhatToInstall) {
  const std::vector<std::string> names = runtime_names();
  EXPECT_EQ(std::find(names.begin(), names.end(), opencv_runtime_name) != names.end(), has_opencv());
  if (has_opencv()) return;
  try {
    make_runtime(opencv_runtime_name);
    ADD_FAILURE() << "made a runtime that is not built";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("libopencv-dev"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace tenshot::descriptor
