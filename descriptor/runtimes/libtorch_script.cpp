#include "descriptor/runtimes/libtorch_script.h"

#include <torch/csrc/jit/passes/xnnpack_rewrite.h>

#include <array>
#include <string>
#include <vector>

#include "descriptor/runtimes/libtorch_network.h"
#include "descriptor/runtimes/libtorch_runtime.h"
#include "nasbench/support/error.h"
#include "nasbench/support/text.h"

namespace tenshot::descriptor {
namespace {

using nasbench::LayerGraph;

torch::jit::Module scripted(const LayerGraph& graph, std::uint64_t seed) {
  torch::jit::Module module("Network");
  // Freezing refuses modules in training mode, which a module without this attribute counts as.
  module.register_attribute("training", c10::BoolType::get(), false);
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    const LayerTensors tensors = tensors_of(graph, i, seed);
    const std::string suffix = "_" + std::to_string(i);
    if (tensors.weight.defined()) module.register_parameter("weight" + suffix, tensors.weight, false);
    if (tensors.bias.defined()) module.register_parameter("bias" + suffix, tensors.bias, false);
    if (tensors.mean.defined()) module.register_buffer("mean" + suffix, tensors.mean);
    if (tensors.variance.defined()) module.register_buffer("variance" + suffix, tensors.variance);
  }
  module.define(torchscript_source(graph));
  return module;
}

torch::jit::Module frozen(const LayerGraph& graph, std::uint64_t seed) {
  return torch::jit::freeze(scripted(graph, seed));
}

torch::jit::Module optimized(const LayerGraph& graph, std::uint64_t seed) {
  torch::jit::Module module = frozen(graph, seed);
  return torch::jit::optimize_for_inference(module);
}

// Frozen first: the rewrite itself folds batch normalisation only where it is a submodule of its own.
torch::jit::Module rewritten_for_mobile(const LayerGraph& graph, std::uint64_t seed) {
  return torch::jit::optimizeForMobile(frozen(graph, seed));
}

struct Compilation {
  std::string_view runtime;
  torch::jit::Module (*compile)(const LayerGraph&, std::uint64_t);
};

constexpr std::array<Compilation, 3> compilations = {
    {{"libtorch-frozen", frozen}, {"libtorch-optimized", optimized}, {"libtorch-xnnpack", rewritten_for_mobile}}};

class ScriptNetwork final : public LibTorchNetwork {
 public:
  ScriptNetwork(const LayerGraph& graph, const RuntimeOptions& options, torch::jit::Module module)
      : LibTorchNetwork(graph, options), module_(std::move(module)) {
    for (int i = 0; i < 3; ++i) run();  // the executor profiles the first run and compiles in the second
  }

 protected:
  at::Tensor forward(const at::Tensor& input) override { return module_.forward({input}).toTensor(); }

 private:
  torch::jit::Module module_;
};

}  // namespace

torch::jit::Module compiled_module(std::string_view runtime, const LayerGraph& graph, std::uint64_t seed) {
  std::vector<std::string_view> names;
  for (const Compilation& compilation : compilations) {
    if (compilation.runtime == runtime) return compilation.compile(graph, seed);
    names.push_back(compilation.runtime);
  }
  throw InputError("'" + std::string(runtime) + "' is no runtime that compiles to TorchScript; those are " +
                   joined(names));
}

std::unique_ptr<PreparedNetwork> prepare_frozen(const LayerGraph& graph, const RuntimeOptions& options) {
  return std::make_unique<ScriptNetwork>(graph, options, frozen(graph, options.weight_seed));
}

std::unique_ptr<PreparedNetwork> prepare_optimized(const LayerGraph& graph, const RuntimeOptions& options) {
  return std::make_unique<ScriptNetwork>(graph, options, optimized(graph, options.weight_seed));
}

std::unique_ptr<PreparedNetwork> prepare_xnnpack(const LayerGraph& graph, const RuntimeOptions& options) {
  return std::make_unique<ScriptNetwork>(graph, options, rewritten_for_mobile(graph, options.weight_seed));
}

}  // namespace tenshot::descriptor
