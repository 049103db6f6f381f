#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "descriptor/cold/cold_network.h"

namespace tenshot::descriptor {

/// A kernel that the compiler made with the program. A start has to read its weights and to call it: no code is
/// generated, and nothing is looked up in a library. Images lie channels last (nhwc), all else row by row.
class CompiledKernel {
 public:
  virtual ~CompiledKernel() = default;

  /// Whether it wants weights other than the model's file has them.
  virtual bool transforms() const { return false; }
  /// Size of the weights as it wants them, without the bias, where it transforms them.
  virtual std::size_t weight_bytes() const { return 0; }
  /// Writes weight_bytes() to `ready`.
  virtual void transform(const float*, float*) const {}
  /// Memory that it wants while it is executed.
  virtual std::size_t scratch_bytes() const { return 0; }

  struct Arguments {
    std::vector<const float*> inputs;
    const float* weights = nullptr;
    const float* bias = nullptr;
    float* output = nullptr;
    char* scratch = nullptr;  ///< at a multiple of 64 bytes
  };
  virtual void execute(const Arguments& arguments) const = 0;
};

/// Names of the compiled kernels of a layer, for the widest instruction set of this machine: "compiled:avx2 indirect".
/// There are none for an activation or a shape that they do not know.
std::vector<std::string> compiled_kernel_names(const ColdNetwork& network, const ColdLayer& layer);

/// The kernel of that name, of any instruction set of this machine; null where it cannot compute the layer.
std::unique_ptr<CompiledKernel> compiled_kernel(const ColdNetwork& network, const ColdLayer& layer,
                                                const std::string& name);

}  // namespace tenshot::descriptor
