#pragma once

#include <cstdint>
#include <vector>

#include "nasbench/graph/network.h"
#include "nasbench/kernels/kernel_search.h"

namespace tenshot::experiments {

// The kernels of TensorFlow Lite's GPU delegate to the letter of Li, Paolieri and Golubchik (Performance Evaluation
// 165, 2024, Algorithm B.2), beside which the program's rules (tenshot kernels deduce) are held.

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
