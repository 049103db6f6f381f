#include "descriptor/runtimes/libtorch_network.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <string>

#include "nasbench/support/error.h"
#include "nasbench/support/random.h"

namespace tenshot::descriptor {

using nasbench::Layer;
using nasbench::LayerGraph;
using nasbench::LayerKind;
using nasbench::LayerWeights;

at::Tensor tensor_of(const std::vector<float>& values, const std::vector<std::int64_t>& shape) {
  if (values.empty()) return {};
  return at::tensor(values).reshape(shape);
}

LayerTensors tensors_of(const LayerGraph& graph, std::size_t index, std::uint64_t seed) {
  const LayerWeights weights = nasbench::random_weights(graph, index, seed);
  const Layer& layer = graph.layers[index];
  const std::int64_t outputs = layer.output.channels;
  std::vector<std::int64_t> weight_shape = {outputs};
  if (layer.kind == LayerKind::convolution) weight_shape = {outputs, -1, layer.kernel, layer.kernel};
  if (layer.kind == LayerKind::linear) weight_shape = {outputs, -1};
  return {tensor_of(weights.weight, weight_shape), tensor_of(weights.bias, {outputs}),
          tensor_of(weights.mean, {outputs}), tensor_of(weights.variance, {outputs})};
}

void require_runnable(const LayerGraph& graph, const RuntimeOptions& options) {
  if (graph.layers.empty()) throw InputError("the layer graph is empty: expected an input layer first");
  if (options.batch < 1) throw InputError("batch is " + std::to_string(options.batch) + "; expected at least 1");
  if (options.threads < 1) throw InputError("threads is " + std::to_string(options.threads) + "; expected at least 1");
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    const Layer& layer = graph.layers[i];
    const std::size_t expected = layer.kind == LayerKind::input ? 0 : layer.kind == LayerKind::add ? 2 : 1;
    const bool earlier = std::all_of(layer.inputs.begin(), layer.inputs.end(),
                                     [&](int input) { return input >= 0 && static_cast<std::size_t>(input) < i; });
    if (layer.inputs.size() != expected || !earlier || (layer.kind == LayerKind::input) != (i == 0)) {
      throw InputError("layer '" + layer.name + "' (" + std::string(nasbench::name(layer.kind)) + ", number " +
                       std::to_string(i) + ") wants " + std::to_string(expected) +
                       " earlier layers as inputs, and the input layer comes first and once");
    }
  }
}

at::Tensor random_images(const std::vector<std::int64_t>& shape, std::uint64_t seed, ImagePurpose purpose) {
  Rng rng(seed, static_cast<std::uint64_t>(purpose));
  std::vector<float> values(static_cast<std::size_t>(shape[0] * shape[1] * shape[2] * shape[3]));
  for (float& value : values) value = static_cast<float>(rng.normal());
  return tensor_of(values, shape);
}

LibTorchNetwork::LibTorchNetwork(const LayerGraph& graph, const RuntimeOptions& options) : threads_(options.threads) {
  const nasbench::TensorShape& shape = graph.input_shape();
  shape_ = {options.batch, shape.channels, shape.height, shape.width};
  input_ = random_images(shape_, options.weight_seed, ImagePurpose::input);
}

void LibTorchNetwork::run() {
  use_threads();
  const c10::InferenceMode inference;
  forward(input_);
  synchronise();
}

std::vector<float> LibTorchNetwork::infer(const std::vector<float>& input) {
  if (static_cast<std::int64_t>(input.size()) != input_.numel()) {
    throw InputError("the network's input has " + std::to_string(input_.numel()) +
                     " values (batch x channels x height x width), found " + std::to_string(input.size()));
  }
  use_threads();
  const c10::InferenceMode inference;
  const at::Tensor output = forward(placed(tensor_of(input, shape_))).to(at::kCPU).contiguous();
  const auto* values = output.data_ptr<float>();
  return {values, values + output.numel()};
}

/// LibTorch's thread count is global, and another network may have set its own since. The threads between operators
/// stay as they are: nothing here forks, and LibTorch forbids changing them after a start.
void LibTorchNetwork::use_threads() const {
  if (at::get_num_threads() != threads_) at::set_num_threads(threads_);
}

}  // namespace tenshot::descriptor
