#include "experiments/kernels/deduced_kernels.h"

#include <gtest/gtest.h>

#include "experiments/kernels/published_cnn.h"
#include "nasbench/graph/network_builder.h"
#include "nasbench/support/error.h"

namespace tenshot::experiments {
namespace {

using nasbench::ConvolutionOptions;
using nasbench::Kernel;
using nasbench::Network;
using nasbench::NetworkBuilder;
using nasbench::NetworkNode;
using nasbench::OperatorKind;
using nasbench::OperatorSpecification;
using nasbench::same_window;
using nasbench::Source;

OperatorSpecification convolution(std::int64_t in, std::int64_t out, std::int64_t output_size, int kernel = 3,
                                  int groups = 1, int stride = 1) {
  OperatorSpecification op;
  op.kind = OperatorKind::convolution;
  op.kernel = {kernel, kernel};
  op.stride = {stride, stride};
  op.groups = groups;
  op.inputs = {{1, in, output_size * stride, output_size * stride}};
  op.output = {1, out, output_size, output_size};
  return op;
}

bool winograd(const OperatorSpecification& op, MobileGpu gpu) {
  return select_tflite_kernel(op, gpu) == TfliteKernel::winograd;
}

TEST(TfliteSelection, TakesWinogradAsThePapersTableSays) {
  // Li et al. (2024), Table B.3.
  EXPECT_FALSE(winograd(convolution(64, 64, 56), MobileGpu::adreno6xx));
  EXPECT_TRUE(winograd(convolution(64, 64, 56), MobileGpu::other));
  EXPECT_FALSE(winograd(convolution(128, 128, 28), MobileGpu::adreno6xx));
  EXPECT_TRUE(winograd(convolution(128, 128, 28), MobileGpu::other));
  EXPECT_FALSE(winograd(convolution(256, 256, 14), MobileGpu::adreno6xx));
  EXPECT_FALSE(winograd(convolution(256, 256, 14), MobileGpu::other));
}

TEST(TfliteSelection, ThresholdsOfWinogradAreThoseOfEachGpu) {
  // Tiles: ⌈45/4⌉² = 144, ⌈33/4⌉² = 81, ⌈21/4⌉² = 36. Depths: 128/4 = 32, 64/4 = 16, 29/4 rounds up to 8.
  EXPECT_TRUE(winograd(convolution(128, 128, 45), MobileGpu::adreno6xx));
  EXPECT_FALSE(winograd(convolution(128, 128, 33), MobileGpu::adreno6xx));
  EXPECT_TRUE(winograd(convolution(128, 128, 33), MobileGpu::adreno));
  EXPECT_FALSE(winograd(convolution(128, 128, 21), MobileGpu::adreno));
  EXPECT_TRUE(winograd(convolution(64, 29, 21), MobileGpu::amd));
  EXPECT_FALSE(winograd(convolution(64, 29, 21), MobileGpu::other));
  EXPECT_FALSE(winograd(convolution(64, 64, 56, 5), MobileGpu::other));
  EXPECT_FALSE(winograd(convolution(64, 64, 56, 3, 1, 2), MobileGpu::other));
}

TEST(TfliteSelection, GroupsOfFoursHaveTheirOwnKernel) {
  EXPECT_EQ(select_tflite_kernel(convolution(64, 64, 56, 3, 16), MobileGpu::other), TfliteKernel::grouped);
  EXPECT_EQ(select_tflite_kernel(convolution(96, 96, 56, 3, 16), MobileGpu::other), TfliteKernel::convolution);
  EXPECT_EQ(select_tflite_kernel(convolution(64, 64, 56, 3, 64), MobileGpu::other), TfliteKernel::depthwise);
  EXPECT_EQ(select_tflite_kernel(convolution(64, 16, 1, 1), MobileGpu::other), TfliteKernel::fully_connected);
  EXPECT_EQ(select_tflite_kernel(convolution(64, 16, 7, 1), MobileGpu::other), TfliteKernel::convolution);
  EXPECT_THROW(select_tflite_kernel(OperatorSpecification{}, MobileGpu::other), InputError);
}

std::vector<std::string> names(const std::vector<Kernel>& kernels) {
  std::vector<std::string> result;
  for (const Kernel& kernel : kernels) result.push_back(kernel.name);
  return result;
}

/// Two convolutions of one image that are added up, and a ReLU.
Network sum_of_two() {
  NetworkBuilder b;
  const Source image = b.input("input", {1, 4, 8, 8});
  const ConvolutionOptions same{same_window(3), 1, false};
  const Source first = b.convolution("first", image, 4, same), second = b.convolution("second", image, 4, same);
  b.output(b.activation("relu", b.add("sum", first, second), "relu"));
  return b.take();
}

TEST(TfliteFusion, AnAdditionJoinsTheInputThatIsComputedLast) {
  const std::vector<std::string> latest = {"convolution", "convolution++add++relu"};
  EXPECT_EQ(names(tflite_gpu_kernels(sum_of_two())), latest);
  const std::vector<Kernel> kernels = tflite_gpu_kernels(sum_of_two());
  EXPECT_EQ(kernels[1].nodes, (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(tflite_gpu_kernels(sum_of_two(), InputOrder::as_written)[1].nodes, (std::vector<int>{0, 2, 3}));
}

TEST(TfliteFusion, StopsAtForksOutputsAndSecondInputs) {
  NetworkBuilder b;
  const Source image = b.input("input", {1, 4, 8, 8});
  const Source trunk = b.convolution("trunk", image, 4, {same_window(3), 1, false});
  const Source gate = b.activation("gate", b.global_average_pool("mean", trunk, true), "sigmoid");
  const Source gated = b.multiply("gated", trunk, gate);  // of two shapes: the gate stays second
  b.output(gated);
  b.output(b.activation("relu", gated, "relu"));
  const std::vector<std::string> expected = {"convolution", "global_pool++sigmoid", "multiply", "relu"};
  EXPECT_EQ(names(tflite_gpu_kernels(b.network())), expected);
}

TEST(TfliteFusion, BatchNormsAreFoldedOrBecomeTwoOperators) {
  const Network converted = with_batch_norms_converted(published_cnn("preresnet10"));
  require_sound(converted);
  for (const NetworkNode& node : converted.nodes) EXPECT_NE(node.operation.kind, OperatorKind::batch_norm);
  const std::vector<Kernel> kernels = tflite_gpu_kernels(converted);
  EXPECT_EQ(kernels.front().name, "convolution++relu");
  EXPECT_EQ(kernels[kernels.size() - 3].name, "convolution++add++multiply++add++relu");
}

}  // namespace
}  // namespace tenshot::experiments
