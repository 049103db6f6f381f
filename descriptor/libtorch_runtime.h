#pragma once

#include <memory>
#include <string>

#include "descriptor/runtime.h"
#include "nasbench/layer_graph.h"

namespace tenshot::descriptor {

/// Executes the graph layer by layer, as PyTorch does without compilation: nothing is left out or merged.
std::unique_ptr<Runtime> make_libtorch_eager();
/// TorchScript frozen by torch::jit::freeze: batch normalisation folds into convolutions, common subexpressions merge.
std::unique_ptr<Runtime> make_libtorch_frozen();
/// The frozen module after torch::jit::optimize_for_inference: convolutions and pools in oneDNN's blocked layouts.
std::unique_ptr<Runtime> make_libtorch_optimized();

/// The graph as a TorchScript method `forward`. Layer i's parameters are attributes `weight_i`, `bias_i`, `mean_i`,
/// `variance_i` of the module. No operation is in place, and a zero layer is `x * 0.0`, which floating point forbids a
/// compiler to remove (it maps NaN to NaN).
std::string torchscript_source(const nasbench::LayerGraph& graph);

}  // namespace tenshot::descriptor
