#pragma once

#include <torch/script.h>

#include <string_view>

#include "descriptor/runtimes/runtime.h"
#include "nasbench/graph/network.h"

namespace tenshot::descriptor {

// The runtimes that compile to TorchScript. Needs LibTorch's headers: for their sources only.

/// The network as the module that `runtime` (libtorch-frozen, libtorch-optimized or libtorch-xnnpack) executes. Throws
/// InputError that lists the names when it is none of them.
torch::jit::Module compiled_module(std::string_view runtime, const nasbench::Network& network,
                                   const RuntimeOptions& options);

}  // namespace tenshot::descriptor
