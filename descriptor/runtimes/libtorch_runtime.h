#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "descriptor/runtimes/runtime.h"
#include "nasbench/graph/network.h"

namespace tenshot::descriptor {

/// The ways LibTorch can run a network. All but `libtorch-int8` run every kind of operator that is not opaque, in
/// float32; what they do not cover they name when they prepare the network.
/// - `libtorch-eager`: layer by layer; nothing is left out or merged.
/// - `libtorch-frozen`: by torch::jit::freeze: batch norms fold into convolutions, common subexpressions merge.
/// - `libtorch-optimized`: the frozen module after torch::jit::optimize_for_inference: convolutions and pools in
///   oneDNN's blocked layouts.
/// - `libtorch-xnnpack`: the frozen module after torch::jit::optimizeForMobile: packed for XNNPACK, ReLUs fused.
/// - `libtorch-channels-last`: eager, with the channels of a pixel side by side in memory.
/// - `libtorch-int8`: eager on bytes: batch normalisation folded, weights and activations quantised affinely by the
///   range that eight random images showed in floating point, convolutions by the best engine LibTorch has. On bytes
///   run convolutions, batch norms, ReLU, pools, sums, multiplication by a number, concatenation and linear layers; any
///   other operator runs on floats, between a conversion of what it takes and one of what it gives. Inputs are images.
/// - `libtorch-cuda`: eager on the first CUDA device; a run includes the wait. Preparing throws Error without one.
std::vector<std::string> libtorch_runtime_names();

/// nullptr when the name is none of libtorch_runtime_names().
std::unique_ptr<Runtime> make_libtorch_runtime(std::string_view name);

/// The network as a TorchScript method `forward` of its inputs; several outputs are a list. Node i's parameters are
/// attributes `weight_i`, `bias_i`, `mean_i`, `variance_i` of the module. No operation is in place, and a
/// multiplication by 0 is `x * 0.0`, which floating point forbids a compiler to remove (it maps NaN to NaN). Throws
/// InputError that names the node where TorchScript does not cover it.
std::string torchscript_source(const nasbench::Network& network);

/// The BLAS library that LibTorch's matrix products run on in this process: "OpenBLAS 0.3.21 (openmp, SkylakeX)",
/// "reference BLAS (slow: install libopenblas0-openmp)", or what LibTorch was built with when it brings its own.
std::string blas_in_use();

/// "LibTorch 1.13.0, oneDNN 2.6.3, OpenBLAS 0.3.21 (openmp, SkylakeX), AVX2": what decides how fast a network is
/// here. LibTorch's version is what it says of itself (Debian's 1.13.1 says 1.13.0).
std::string torch_versions();

/// torch_versions() and the number of threads; one line, for `tenshot --version`, which says so without LibTorch.
std::string torch_summary();

}  // namespace tenshot::descriptor
