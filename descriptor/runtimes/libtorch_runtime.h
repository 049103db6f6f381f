#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "descriptor/runtimes/runtime.h"
#include "nasbench/graph/layer_graph.h"

namespace tenshot::descriptor {

/// The ways LibTorch can run a network:
/// - `libtorch-eager`: layer by layer, as PyTorch does without compilation: nothing is left out or merged.
/// - `libtorch-frozen`: TorchScript frozen by torch::jit::freeze: batch normalisation folds into convolutions, common
///   subexpressions merge.
/// - `libtorch-optimized`: the frozen module after torch::jit::optimize_for_inference: convolutions and pools in
///   oneDNN's blocked layouts.
/// - `libtorch-xnnpack`: the frozen module after torch::jit::optimizeForMobile, PyTorch Mobile's rewrite: convolutions
///   packed for XNNPACK, a following ReLU fused.
/// - `libtorch-channels-last`: eager, with the channels of a pixel side by side in memory.
/// - `libtorch-int8`: eager on bytes: batch normalisation folded, weights and activations quantised affinely by the
///   range that eight random images showed in floating point, convolutions by the best engine LibTorch has.
/// - `libtorch-cuda`: eager on the first CUDA device; a run includes waiting for it. Where there is none, preparing
///   throws Error.
std::vector<std::string> libtorch_runtime_names();

/// nullptr when the name is none of libtorch_runtime_names().
std::unique_ptr<Runtime> make_libtorch_runtime(std::string_view name);

/// The graph as a TorchScript method `forward`. Layer i's parameters are attributes `weight_i`, `bias_i`, `mean_i`,
/// `variance_i` of the module. No operation is in place, and a zero layer is `x * 0.0`, which floating point forbids a
/// compiler to remove (it maps NaN to NaN).
std::string torchscript_source(const nasbench::LayerGraph& graph);

}  // namespace tenshot::descriptor
