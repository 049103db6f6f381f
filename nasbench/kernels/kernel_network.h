#pragma once

#include <string>

#include "nasbench/graph/network.h"
#include "nasbench/kernels/kernel_search.h"

namespace tenshot::nasbench {

/// A kernel of a network as a network of its own: what it reads from elsewhere are inputs, what others read of it are
/// outputs. A runtime that is given it executes the kernel alone. Throws InputError where the kernel has no nodes.
Network kernel_network(const Network& network, const Kernel& kernel);

/// What the latency of a kernel is learned from: of its operators the first with the most multiply-adds, or simply the
/// first where none multiplies. Throws InputError where the kernel has no nodes.
const OperatorSpecification& leading_operator(const Network& network, const Kernel& kernel);
/// The same of a kernel that is a network of its own.
const OperatorSpecification& leading_operator(const Network& kernel);

/// The kernel's name as runtimes execute it on average: batch norms are left out where something precedes them, since
/// they become part of its weights. "convolution++batch_norm++relu" is "convolution++relu".
std::string kernel_type(const Network& network, const Kernel& kernel);

/// Sizes of a kernel that is made to be measured: those of Table 6 of nn-Meter (Zhang et al., MobiSys 2021).
struct KernelSizes {
  int image = 1;    ///< height and width of the input
  int inputs = 1;   ///< channels
  int outputs = 1;  ///< channels; of what keeps them, as many as inputs
  int window = 1;   ///< height and width
  int stride = 1;
};

/// The sizes of a kernel that begins with this operator.
KernelSizes kernel_sizes(const OperatorSpecification& leading);

/// A kernel of that type (kernel_type) and those sizes. Windows have zeros around the image, half of the window wide.
/// Throws InputError where the type begins with an operator that cannot be made from sizes, or the window has no place.
Network made_kernel(const std::string& type, const KernelSizes& sizes);

/// Whether made_kernel() knows how to begin a kernel of that type.
bool can_be_made(const std::string& type);

}  // namespace tenshot::nasbench
