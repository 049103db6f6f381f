#include "descriptor/runtimes/libtorch_script.h"

#include <torch/csrc/jit/passes/xnnpack_rewrite.h>

#include <string>
#include <vector>

#include "descriptor/runtimes/libtorch_network.h"
#include "descriptor/runtimes/libtorch_runtime.h"
#include "nasbench/support/error.h"

namespace tenshot::descriptor {
namespace {

using nasbench::Network;

torch::jit::Module scripted(const Network& network, const RuntimeOptions& options) {
  torch::jit::Module module("Network");
  // Freezing refuses modules in training mode, which a module without this attribute counts as.
  module.register_attribute("training", c10::BoolType::get(), false);
  for (std::size_t i = 0; i < network.nodes.size(); ++i) {
    const NodeTensors tensors = tensors_of(network, i, options);
    const std::string suffix = "_" + std::to_string(i);
    if (tensors.weight.defined()) module.register_parameter("weight" + suffix, tensors.weight, false);
    if (tensors.bias.defined()) module.register_parameter("bias" + suffix, tensors.bias, false);
    if (tensors.mean.defined()) module.register_buffer("mean" + suffix, tensors.mean);
    if (tensors.variance.defined()) module.register_buffer("variance" + suffix, tensors.variance);
  }
  module.define(torchscript_source(network));
  return module;
}

class ScriptNetwork final : public LibTorchNetwork {
 public:
  ScriptNetwork(const Network& network, const RuntimeOptions& options, torch::jit::Module module)
      : LibTorchNetwork(network, options), module_(std::move(module)) {
    for (int i = 0; i < 3; ++i) run();  // the executor profiles the first run and compiles in the second
  }

 protected:
  std::vector<at::Tensor> forward(const std::vector<at::Tensor>& inputs) override {
    const c10::IValue result = module_.forward({inputs.begin(), inputs.end()});
    return result.isTensor() ? std::vector<at::Tensor>{result.toTensor()} : result.toTensorVector();
  }

 private:
  torch::jit::Module module_;
};

}  // namespace

torch::jit::Module compiled_module(std::string_view runtime, const Network& network, const RuntimeOptions& options) {
  if (runtime != "libtorch-frozen" && runtime != "libtorch-optimized" && runtime != "libtorch-xnnpack") {
    throw InputError("'" + std::string(runtime) + "' is no runtime that compiles to TorchScript; those are " +
                     "libtorch-frozen, libtorch-optimized, libtorch-xnnpack");
  }
  torch::jit::Module frozen = torch::jit::freeze(scripted(network, options));
  if (runtime == "libtorch-frozen") return frozen;
  if (runtime == "libtorch-optimized") return torch::jit::optimize_for_inference(frozen);
  // Frozen first: the rewrite itself folds batch normalisation only where it is a submodule of its own.
  return torch::jit::optimizeForMobile(frozen);
}

std::unique_ptr<PreparedNetwork> prepare_scripted(std::string_view runtime, const Network& network,
                                                  const RuntimeOptions& options) {
  return std::make_unique<ScriptNetwork>(network, options, compiled_module(runtime, network, options));
}

}  // namespace tenshot::descriptor
