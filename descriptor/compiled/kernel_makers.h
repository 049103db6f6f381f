#pragma once

#include <memory>

#include "descriptor/compiled/compiled_kernel.h"
#include "descriptor/compiled/machine_code.h"

namespace tenshot::descriptor {

/// Makes one kind of compiled kernel for a layer, or nothing where it cannot compute it.
using KernelMaker = std::unique_ptr<CompiledKernel>(const ColdNetwork& network, const ColdLayer& layer,
                                                    const MachineCode& code);

/// Convolutions of any window, stride and groups as matrix products whose rows are found by pointers (Dukhan, "The
/// Indirect Convolution Algorithm", 2019).
KernelMaker indirect_convolution;

/// Convolutions of one channel for each group, and one filter for each channel.
KernelMaker depthwise_convolution;

/// Linear layers, and convolutions of one pixel, with the weights as the model's file has them.
KernelMaker rows_of_weights;

KernelMaker compiled_pool;

/// Activations, sums and products of tensors, soft-max.
KernelMaker compiled_elements;

/// Concatenations, slices, channel shuffles, and reshapes to rows.
KernelMaker compiled_copy;

}  // namespace tenshot::descriptor
