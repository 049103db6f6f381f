#include "descriptor/runtimes/libtorch_runtime.h"
#include "nasbench/support/error.h"

namespace tenshot::descriptor {
namespace {

using nasbench::Layer;
using nasbench::LayerKind;

std::string pair(int value) {
  const std::string text = std::to_string(value);
  return "[" + text + ", " + text + "]";
}

std::string value(int index) { return "t" + std::to_string(index); }

std::string expression(const Layer& layer, std::size_t index) {
  const auto input = [&](std::size_t i) { return value(layer.inputs.at(i)); };
  const auto parameter = [&](const char* name) { return std::string("self.") + name + "_" + std::to_string(index); };
  switch (layer.kind) {
    case LayerKind::input:
      return "x";
    case LayerKind::convolution:
      return "torch.conv2d(" + input(0) + ", " + parameter("weight") + ", None, " + pair(layer.stride) + ", " +
             pair(layer.padding) + ")";
    case LayerKind::batch_norm:
      return "torch.batch_norm(" + input(0) + ", " + parameter("weight") + ", " + parameter("bias") + ", " +
             parameter("mean") + ", " + parameter("variance") + ", False, 0.1, 0.00001, False)";
    case LayerKind::relu:
      return "torch.relu(" + input(0) + ")";
    case LayerKind::average_pool:
      return "torch.avg_pool2d(" + input(0) + ", " + pair(layer.kernel) + ", " + pair(layer.stride) + ", " +
             pair(layer.padding) + ", False, False)";
    case LayerKind::global_average_pool:
      return "torch.mean(" + input(0) + ", [2, 3])";
    case LayerKind::add:
      return input(0) + " + " + input(1);
    case LayerKind::zero:
      return input(0) + " * 0.0";
    case LayerKind::linear:
      return "torch.linear(" + input(0) + ", " + parameter("weight") + ", " + parameter("bias") + ")";
  }
  throw InputError("layer '" + layer.name + "' is of a kind that TorchScript generation does not know");
}

}  // namespace

std::string torchscript_source(const nasbench::LayerGraph& graph) {
  std::string source = "def forward(self, x):\n";
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    source += "    " + value(static_cast<int>(i)) + " = " + expression(graph.layers[i], i) + "\n";
  }
  return source + "    return " + value(static_cast<int>(graph.layers.size()) - 1) + "\n";
}

}  // namespace tenshot::descriptor
