#pragma once

#include <string>

#include "nasbench/graph/network.h"

namespace tenshot::descriptor {

// What the runtimes of LibTorch can run, without LibTorch's headers.

bool is_convolution(nasbench::OperatorKind kind);

/// "node 'conv1' (opaque LSTM)".
std::string describe(const nasbench::NetworkNode& node);

/// Why neither LibTorch's operators nor TorchScript cover the node; empty where they do.
std::string why_not_runnable(const nasbench::NetworkNode& node);

/// Throws InputError where an input is not of images that can be quantised.
void require_runnable_on_bytes(const nasbench::Network& network);

/// Zeros above and below are as many, and left and right.
bool is_symmetric(const nasbench::Padding& padding);

/// relu6(x + 3) / 6, of which LibTorch has an operator of its own.
bool is_usual_hard_sigmoid(const nasbench::NetworkNode& node);

/// Rows and columns that a transposed convolution adds at the bottom and the right.
nasbench::Extent output_padding(const nasbench::NetworkNode& node);

}  // namespace tenshot::descriptor
