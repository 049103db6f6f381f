#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "descriptor/cold/cold_network.h"

namespace tenshot::descriptor {

/// A kernel that the compiler made with the program. A start has to read its weights and to call it: no code is
/// generated, and nothing is looked up in a library. Images lie channels last (nhwc), all else row by row.
struct CompiledKernel {
  struct Arguments {
    std::vector<const float*> inputs;
    const float* weights = nullptr;
    const float* bias = nullptr;
    float* output = nullptr;
    char* scratch = nullptr;  ///< at a multiple of 64 bytes
  };
  std::function<void(const Arguments&)> execute;
  std::size_t scratch_bytes = 0;  ///< memory that it wants while it is executed
  /// Writes weight_bytes of weights as it wants them, without the bias; empty where it takes those of the model's file.
  std::function<void(const float* raw, float* ready)> transform = {};
  std::size_t weight_bytes = 0;
};

/// Names of the compiled kernels of a layer, for the widest instruction set of this machine: "compiled:avx2 indirect".
/// There are none for an activation or a shape that they do not know.
std::vector<std::string> compiled_kernel_names(const ColdNetwork& network, const ColdLayer& layer);

/// The kernel of that name, of any instruction set of this machine; nothing where it cannot compute the layer.
std::optional<CompiledKernel> compiled_kernel(const ColdNetwork& network, const ColdLayer& layer,
                                              const std::string& name);

}  // namespace tenshot::descriptor
