#pragma once

#include <functional>
#include <string>
#include <vector>

#include "nasbench/kernels/kernel_network.h"
#include "sampling/operators/adaptive_sampling.h"

namespace tenshot::trainer::kernels {

/// Latency of a kernel in ms; NaN where the runtime refuses it.
using MeasureKernel = std::function<double(const nasbench::KernelSizes&)>;

/// Adaptive sampling of kernels of one type (nn-Meter, Algorithm 2) with the prior distribution of the sizes that the
/// kernels of a zoo have; a forest per round says where errors are large. Of kernels that keep their channels, inputs
/// and outputs are one dimension; layers without an image or a window have no dimensions of them. Throws InputError
/// where the zoo has no kernel, the type cannot be made (nasbench::can_be_made), or nothing could be measured.
sampling::AdaptiveSamples sample_kernels(const std::string& type, const std::vector<nasbench::KernelSizes>& zoo,
                                         const MeasureKernel& measure, const sampling::AdaptiveOptions& options);

}  // namespace tenshot::trainer::kernels
