#include <algorithm>

#include "nasbench/graph/layer_graph.h"
#include "nasbench/graph/network_builder.h"
#include "nasbench/support/error.h"

namespace tenshot::nasbench {
namespace {

/// Throws InputError when a layer does not take earlier layers, as many as its kind wants.
void require_sound(const LayerGraph& graph) {
  if (graph.layers.empty()) throw InputError("the layer graph is empty: expected an input layer first");
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    const Layer& layer = graph.layers[i];
    const std::size_t expected = layer.kind == LayerKind::input ? 0 : layer.kind == LayerKind::add ? 2 : 1;
    const bool earlier = std::all_of(layer.inputs.begin(), layer.inputs.end(),
                                     [&](int input) { return input >= 0 && static_cast<std::size_t>(input) < i; });
    if (layer.inputs.size() != expected || !earlier || (layer.kind == LayerKind::input) != (i == 0)) {
      throw InputError("layer '" + layer.name + "' (" + std::string(name(layer.kind)) + ", number " +
                       std::to_string(i) + ") wants " + std::to_string(expected) +
                       " earlier layers as inputs, and the input layer comes first and once");
    }
  }
}

}  // namespace

Network network_of(const LayerGraph& graph, int batch) {
  require_sound(graph);
  if (batch < 1) throw InputError("batch is " + std::to_string(batch) + "; expected at least 1");
  NetworkBuilder builder;
  std::vector<Source> values;
  for (const Layer& layer : graph.layers) {
    const auto input = [&](std::size_t i) { return values.at(static_cast<std::size_t>(layer.inputs.at(i))); };
    const Padding padding = {layer.padding, layer.padding, layer.padding, layer.padding};
    const WindowOptions window = {{layer.kernel, layer.kernel}, {layer.stride, layer.stride}, padding, {}};
    switch (layer.kind) {
      case LayerKind::input:
        values.push_back(
            builder.input(layer.name, {batch, layer.output.channels, layer.output.height, layer.output.width}));
        break;
      case LayerKind::convolution:
        values.push_back(builder.convolution(layer.name, input(0), layer.output.channels, {window}));
        break;
      case LayerKind::batch_norm: values.push_back(builder.batch_norm(layer.name, input(0))); break;
      case LayerKind::relu: values.push_back(builder.activation(layer.name, input(0), "relu")); break;
      case LayerKind::average_pool: values.push_back(builder.average_pool(layer.name, input(0), {window})); break;
      case LayerKind::global_average_pool: values.push_back(builder.global_average_pool(layer.name, input(0))); break;
      case LayerKind::add: values.push_back(builder.add(layer.name, input(0), input(1))); break;
      case LayerKind::zero: values.push_back(builder.multiply_by(layer.name, input(0), 0)); break;
      case LayerKind::linear: values.push_back(builder.linear(layer.name, input(0), layer.output.channels)); break;
    }
  }
  builder.output(values.back());
  return builder.take();
}

}  // namespace tenshot::nasbench
