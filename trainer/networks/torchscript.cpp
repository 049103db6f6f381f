#include "trainer/networks/torchscript.h"

#include <torch/script.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "trainer/networks/torchscript_parsing.h"

namespace tenshot::trainer {
namespace {

at::Tensor tensor_of(const std::vector<float>& values, std::vector<std::int64_t> shape) {
  return torch::from_blob(const_cast<float*>(values.data()), shape).clone();
}

std::string forward_source(std::size_t layers, bool logarithmic) {
  std::ostringstream source;
  source << "def forward(self, encoding: Tensor) -> Tensor:\n  x = encoding\n";
  for (std::size_t l = 0; l < layers; ++l) {
    const std::string product =
        "torch.addmm(self.bias" + std::to_string(l) + ", x, self.weight" + std::to_string(l) + ")";
    source << "  x = " << (l + 1 < layers ? "torch.relu(" + product + ")" : product) << "\n";
  }
  source << "  x = " << (logarithmic ? "torch.exp(x)" : "x") << ".squeeze(1)\n"
         << "  return torch.clamp_min(x * self.scale_ms, self.floor_ms)\n";
  return source.str();
}

}  // namespace

std::string torchscript(const FeedForward& network, const nasbench::SearchSpace& space, const nlohmann::json& card) {
  torch::jit::Module module("tenshot_predictor");
  for (std::size_t l = 0; l < network.layers.size(); ++l) {
    const DenseLayer& layer = network.layers[l];
    module.register_buffer("weight" + std::to_string(l),
                           tensor_of(layer.weight, {layer.outputs, layer.inputs}).t().contiguous());
    module.register_buffer("bias" + std::to_string(l), tensor_of(layer.bias, {layer.outputs}));
  }
  module.register_attribute("scale_ms", c10::FloatType::get(), network.scale_ms);
  module.register_attribute("floor_ms", c10::FloatType::get(), network.floor_ms);
  define_parsing(module, space);
  module.define(forward_source(network.layers.size(), network.logarithmic));
  module.define(
      "def predict(self, architectures: List[str]) -> Tensor:\n"
      "  return self.forward(self.encode(architectures))\n");
  return with_card(module, card);
}

}  // namespace tenshot::trainer
