#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "nasbench/graph/network.h"
#include "nasbench/kernels/kernel_search.h"

namespace tenshot::experiments {

// Kernels that are deduced from what a runtime's source says instead of being measured (Li, Paolieri and Golubchik,
// Performance Evaluation 165, 2024: §4.1 and Appendix B).

/// GPUs that TensorFlow Lite's delegate tells apart when it selects a kernel.
enum class MobileGpu : std::uint8_t {
  adreno,     ///< before and after the 600 series
  adreno6xx,  ///< Adreno 600 to 699
  amd,
  other  ///< Mali, PowerVR, Apple
};

/// A convolution's kernel in TensorFlow Lite's GPU delegate.
enum class TfliteKernel : std::uint8_t { convolution, winograd, grouped, depthwise, fully_connected };
/// As TensorFlow Lite calls it: "convolution_2d", "convolution_winograd_4x4_6x6", "convolution_2d_grouped",
/// "depthwise_convolution", "fully_connected".
std::string_view name(TfliteKernel kernel);

/// Algorithm B.3, and two cases that it leaves to other operations: a depthwise convolution has its own kernel, and the
/// delegate turns a 1×1 convolution of a 1×1 image into a fully connected layer. Throws InputError where `convolution`
/// is none.
TfliteKernel select_tflite_kernel(const nasbench::OperatorSpecification& convolution, MobileGpu gpu);

/// Which input of an addition or a multiplication comes first.
enum class InputOrder : std::uint8_t {
  as_written,     ///< as the network has them: Algorithm B.2 as printed
  latest_written  ///< the one that is computed last, where all inputs have the output's shape: so that what has just
                  ///< been computed can be joined, as the delegate's ConvertOperations() does before it fuses
};

/// The kernels that TensorFlow Lite's GPU delegate fuses (Algorithm B.2), in the order of execution.
std::vector<nasbench::Kernel> tflite_gpu_kernels(const nasbench::Network& network,
                                                 InputOrder order = InputOrder::latest_written);

/// The network as TensorFlow Lite's converter leaves it: a batch norm that alone reads a convolution or a linear layer
/// is folded into its weights, any other one becomes a multiplication and an addition of constants.
nasbench::Network with_batch_norms_converted(const nasbench::Network& network);

}  // namespace tenshot::experiments
