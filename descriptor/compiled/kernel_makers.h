#pragma once

#include <memory>

#include "descriptor/compiled/compiled_kernel.h"
#include "descriptor/compiled/machine_code.h"

namespace tenshot::descriptor {

// Each makes one kind of compiled kernel for a layer, or nothing where it cannot compute it.

using KernelMaker = std::unique_ptr<CompiledKernel> (*)(const ColdNetwork&, const ColdLayer&, const MachineCode&);

/// Convolutions of any window, stride and groups as matrix products whose rows are found by pointers (Dukhan, "The
/// Indirect Convolution Algorithm", 2019).
std::unique_ptr<CompiledKernel> indirect_convolution(const ColdNetwork& network, const ColdLayer& layer,
                                                     const MachineCode& code);

/// Convolutions of one channel for each group, and one filter for each channel.
std::unique_ptr<CompiledKernel> depthwise_convolution(const ColdNetwork& network, const ColdLayer& layer,
                                                      const MachineCode& code);

/// Linear layers, and convolutions of one pixel, with the weights as the model's file has them.
std::unique_ptr<CompiledKernel> rows_of_weights(const ColdNetwork& network, const ColdLayer& layer,
                                                const MachineCode& code);

std::unique_ptr<CompiledKernel> compiled_pool(const ColdNetwork& network, const ColdLayer& layer,
                                              const MachineCode& code);

/// Activations, sums and products of tensors, soft-max.
std::unique_ptr<CompiledKernel> compiled_elements(const ColdNetwork& network, const ColdLayer& layer,
                                                  const MachineCode& code);

/// Concatenations, slices, channel shuffles, and reshapes to rows.
std::unique_ptr<CompiledKernel> compiled_copy(const ColdNetwork& network, const ColdLayer& layer,
                                              const MachineCode& code);

}  // namespace tenshot::descriptor
