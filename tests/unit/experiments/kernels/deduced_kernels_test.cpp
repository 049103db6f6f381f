#include "experiments/kernels/deduced_kernels.h"

#include <gtest/gtest.h>

#include <set>

#include "experiments/kernels/published_cnn.h"
#include "nasbench/graph/network_builder.h"
#include "nasbench/kernels/fusion_rules.h"

namespace tenshot::experiments {
namespace {

using nasbench::ConvolutionOptions;
using nasbench::Kernel;
using nasbench::Network;
using nasbench::NetworkBuilder;
using nasbench::NetworkNode;
using nasbench::OperatorKind;
using nasbench::same_window;
using nasbench::Source;

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

/// Kernels as the sets of their nodes.
std::set<std::vector<int>> members(const std::vector<Kernel>& kernels) {
  std::set<std::vector<int>> result;
  for (const Kernel& kernel : kernels) result.insert(kernel.nodes);
  return result;
}

TEST(TfliteFusion, TheProgramsRulesFuseAsTheAlgorithmDoes) {
  const nasbench::FusionRules rules = nasbench::fusion_rules("tflite-gpu-mali");
  for (const std::string& name : published_cnn_names()) {
    const Network network = with_batch_norms_converted(published_cnn(name));
    EXPECT_EQ(members(find_kernels(network, rules)), members(tflite_gpu_kernels(network))) << name;
  }
}

}  // namespace
}  // namespace tenshot::experiments
