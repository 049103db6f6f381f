#pragma once

#include <limits>
#include <optional>

#include "descriptor/cold/cold_network.h"
#include "descriptor/compiled/machine_code.h"

namespace tenshot::descriptor {

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
