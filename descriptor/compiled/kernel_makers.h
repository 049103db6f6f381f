#pragma once

#include <limits>
#include <optional>

#include "descriptor/cold/cold_network.h"
#include "descriptor/compiled/compiled_kernel.h"
#include "descriptor/compiled/machine_code.h"

namespace tenshot::descriptor {

/// Makes one kind of compiled kernel for a layer, or nothing where it cannot compute it.
using KernelMaker = std::optional<CompiledKernel>(const ColdNetwork& network, const ColdLayer& layer,
                                                  const MachineCode& code);

/// Convolutions of any window, stride and groups as matrix products whose rows are found by pointers (Dukhan, 2019).
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

/// An activation as the routines apply it: within their results where it only clamps, in a pass of its own otherwise.
struct CompiledActivation {
  float low, high;                   ///< minus and plus infinity: nothing is clamped
  std::optional<Function> function;  ///< what the pass computes
  float alpha = 0, beta = 0;

  /// The pass after a routine that clamps by itself.
  void apply(const MachineCode& code, float* values, std::size_t count) const {
    if (function) code.apply(*function, alpha, beta, values, count);
  }
  /// The whole activation.
  void apply_alone(const MachineCode& code, float* values, std::size_t count) const {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    if (low > -infinity || high < infinity) code.apply(Function::clamp, low, high, values, count);
    apply(code, values, count);
  }
};

/// Nothing for an activation that the routines do not know. The empty name is no activation.
std::optional<CompiledActivation> compiled_activation(const ColdActivation& activation);

}  // namespace tenshot::descriptor
