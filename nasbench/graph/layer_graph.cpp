#include "nasbench/graph/layer_graph.h"

#include <cmath>

#include "nasbench/support/error.h"
#include "nasbench/support/random.h"

namespace tenshot::nasbench {
namespace {

const TensorShape& input_of(const LayerGraph& graph, const Layer& layer) {
  return graph.layers[static_cast<std::size_t>(layer.inputs.front())].output;
}

std::int64_t elements(const TensorShape& shape) {
  return static_cast<std::int64_t>(shape.channels) * shape.height * shape.width;
}

/// How many values one output of a convolution or linear layer is computed from; 0 for the other kinds.
std::int64_t fan_in(const LayerGraph& graph, const Layer& layer) {
  switch (layer.kind) {
    case LayerKind::convolution:
      return static_cast<std::int64_t>(input_of(graph, layer).channels) * layer.kernel * layer.kernel;
    case LayerKind::linear: return elements(input_of(graph, layer));
    default: return 0;
  }
}

std::vector<float> uniform_values(Rng& rng, std::int64_t count, double low, double high) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = static_cast<float>(low + (high - low) * rng.uniform());
  return values;
}

}  // namespace

std::string_view name(LayerKind kind) {
  switch (kind) {
    case LayerKind::input: return "input";
    case LayerKind::convolution: return "convolution";
    case LayerKind::batch_norm: return "batch_norm";
    case LayerKind::relu: return "relu";
    case LayerKind::average_pool: return "average_pool";
    case LayerKind::global_average_pool: return "global_average_pool";
    case LayerKind::add: return "add";
    case LayerKind::zero: return "zero";
    case LayerKind::linear: return "linear";
  }
  return "unknown";
}

std::int64_t parameter_count(const LayerGraph& graph) {
  std::int64_t count = 0;
  for (const Layer& layer : graph.layers) {
    count += fan_in(graph, layer) * layer.output.channels;
    if (layer.kind == LayerKind::linear) count += layer.output.channels;
    if (layer.kind == LayerKind::batch_norm) count += 2 * static_cast<std::int64_t>(layer.output.channels);
  }
  return count;
}

std::int64_t flop_count(const LayerGraph& graph) {
  std::int64_t count = 0;
  for (const Layer& layer : graph.layers) {
    count += fan_in(graph, layer) * elements(layer.output);
    if (layer.kind == LayerKind::linear) count += layer.output.channels;
  }
  return count;
}

LayerWeights random_weights(const LayerGraph& graph, std::size_t index, std::uint64_t seed) {
  if (index >= graph.layers.size()) {
    throw InputError("layer " + std::to_string(index) + " of a graph of " + std::to_string(graph.layers.size()) +
                     " layers: there is no such layer");
  }
  const Layer& layer = graph.layers[index];
  const std::int64_t channels = layer.output.channels;
  Rng rng(seed, index);
  LayerWeights weights;
  if (const std::int64_t inputs = fan_in(graph, layer); inputs > 0) {
    const double bound = std::sqrt(6.0 / static_cast<double>(inputs));
    weights.weight = uniform_values(rng, inputs * channels, -bound, bound);
  }
  if (layer.kind == LayerKind::linear) weights.bias = uniform_values(rng, channels, -0.1, 0.1);
  if (layer.kind == LayerKind::batch_norm) {
    weights.weight = uniform_values(rng, channels, 0.5, 1.5);
    weights.bias = uniform_values(rng, channels, -0.1, 0.1);
    weights.mean = uniform_values(rng, channels, -0.1, 0.1);
    weights.variance = uniform_values(rng, channels, 0.5, 1.5);
  }
  return weights;
}

}  // namespace tenshot::nasbench
