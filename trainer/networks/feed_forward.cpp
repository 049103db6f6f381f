#include "trainer/networks/feed_forward.h"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "nasbench/support/error.h"
#include "trainer/core/archive_reader.h"
#include "trainer/core/vector_loops.h"

namespace tenshot::trainer {
namespace {

/// Rows evaluated at a time: their activations stay in the second-level cache between layers.
constexpr std::int64_t block_rows = 512;

/// What a file's network may be.
constexpr std::int64_t widest_layer = 1'000'000;
constexpr Range weights{-1e9, 1e9};

at::Tensor tensor_of(const std::vector<float>& values, std::vector<std::int64_t> shape) {
  return torch::from_blob(const_cast<float*>(values.data()), shape);  // only read
}

/// Runs the layers over one block; `activations[l]` holds at least `rows` rows.
void run_block(const std::vector<DenseLayer>& layers, const float* inputs, std::int64_t rows,
               std::vector<at::Tensor>& activations, float* outputs) {
  at::Tensor input = torch::from_blob(const_cast<float*>(inputs), {rows, layers.front().inputs});
  for (std::size_t l = 0; l < layers.size(); ++l) {
    const DenseLayer& layer = layers[l];
    const bool last = l + 1 == layers.size();
    at::Tensor output = last ? torch::from_blob(outputs, {rows, 1}) : activations[l].narrow(0, 0, rows);
    at::mm_out(output, input, tensor_of(layer.weight, {layer.outputs, layer.inputs}).t());
    (last ? add_bias : add_bias_and_relu)(output.data_ptr<float>(), layer.bias.data(), rows, layer.outputs);
    input = output;
  }
}

std::vector<at::Tensor> activations_for(const std::vector<DenseLayer>& layers) {
  std::vector<at::Tensor> activations;
  for (const DenseLayer& layer : layers) activations.push_back(torch::empty({block_rows, layer.outputs}));
  return activations;
}

}  // namespace

std::vector<DenseLayer> fold_constant_inputs(std::vector<DenseLayer> layers, int variable_inputs,
                                             const std::vector<float>& constant_inputs) {
  DenseLayer& first = layers.front();
  if (first.inputs != variable_inputs + static_cast<int>(constant_inputs.size())) {
    throw InputError("the network takes " + std::to_string(first.inputs) +
                     " inputs, the encoding and the descriptor have " +
                     std::to_string(variable_inputs + static_cast<int>(constant_inputs.size())));
  }
  DenseLayer folded{variable_inputs, first.outputs, {}, first.bias};
  for (int o = 0; o < first.outputs; ++o) {
    const float* row = first.weight.data() + static_cast<std::ptrdiff_t>(o) * first.inputs;
    folded.weight.insert(folded.weight.end(), row, row + variable_inputs);
    double constant = first.bias[static_cast<std::size_t>(o)];
    for (std::size_t i = 0; i < constant_inputs.size(); ++i) {
      constant += static_cast<double>(row[static_cast<std::size_t>(variable_inputs) + i]) * constant_inputs[i];
    }
    folded.bias[static_cast<std::size_t>(o)] = static_cast<float>(constant);
  }
  first = std::move(folded);
  return layers;
}

std::vector<float> evaluate_layers(const std::vector<DenseLayer>& layers, const std::vector<float>& inputs) {
  const c10::InferenceMode no_autograd;
  const auto width = static_cast<std::size_t>(layers.front().inputs);
  const auto rows = static_cast<std::int64_t>(inputs.size() / width);
  std::vector<float> outputs(static_cast<std::size_t>(rows));
  std::vector<at::Tensor> activations = activations_for(layers);
  for (std::int64_t begin = 0; begin < rows; begin += block_rows) {
    run_block(layers, inputs.data() + static_cast<std::size_t>(begin) * width, std::min(block_rows, rows - begin),
              activations, outputs.data() + begin);
  }
  return outputs;
}

std::vector<double> evaluate(const FeedForward& network, const nasbench::SearchSpace& space,
                             const std::vector<nasbench::Architecture>& architectures) {
  const c10::InferenceMode no_autograd;
  const std::size_t width = space.encoding_width();
  std::vector<float> encoding(width * block_rows);
  std::vector<float> outputs(block_rows);
  std::vector<double> latency_ms;
  latency_ms.reserve(architectures.size());
  std::vector<at::Tensor> activations = activations_for(network.layers);
  for (std::size_t begin = 0; begin < architectures.size(); begin += block_rows) {
    const std::size_t rows = std::min<std::size_t>(block_rows, architectures.size() - begin);
    for (std::size_t r = 0; r < rows; ++r) space.encode(architectures[begin + r], encoding.data() + r * width);
    run_block(network.layers, encoding.data(), static_cast<std::int64_t>(rows), activations, outputs.data());
    for (std::size_t r = 0; r < rows; ++r) {
      const auto output = static_cast<double>(outputs[r]);
      const double relative = network.logarithmic ? std::exp(output) : output;
      latency_ms.push_back(std::max(network.floor_ms, network.scale_ms * relative));
    }
  }
  return latency_ms;
}

void put_layers(Archive& archive, const std::string& prefix, const std::vector<DenseLayer>& layers) {
  for (std::size_t l = 0; l < layers.size(); ++l) {
    const std::string name = prefix + std::to_string(l);
    archive.put(name + ".weight", to_array(layers[l].weight, {layers[l].outputs, layers[l].inputs}));
    archive.put(name + ".bias", to_array(layers[l].bias, {layers[l].outputs}));
  }
}

std::vector<DenseLayer> get_layers(const Archive& archive, const std::string& prefix) {
  std::vector<DenseLayer> layers;
  for (std::size_t l = 0; archive.has(prefix + std::to_string(l) + ".weight"); ++l) {
    const std::string name = prefix + std::to_string(l);
    const std::vector<std::int64_t>& shape = archive.shape(name + ".weight");
    const auto extent = [&](std::size_t d) { return shape[d] >= 1 && shape[d] <= widest_layer; };
    if (shape.size() != 2 || !extent(0) || !extent(1)) {
      throw FormatError("array '" + name + ".weight' is no matrix of 1 to " + std::to_string(widest_layer) +
                        " rows and columns");
    }
    DenseLayer layer{static_cast<int>(shape[1]), static_cast<int>(shape[0]),
                     checked_floats(archive, name + ".weight", weights),
                     checked_floats(archive, name + ".bias", weights, static_cast<std::size_t>(shape[0]))};
    if (!layers.empty() && layers.back().outputs != layer.inputs) {
      throw FormatError("array '" + name + ".weight' has " + std::to_string(layer.inputs) +
                        " columns, expected one for each of the " + std::to_string(layers.back().outputs) +
                        " outputs of the layer before it");
    }
    layers.push_back(std::move(layer));
  }
  if (layers.empty()) throw FormatError("there is no array '" + prefix + "0.weight', the first layer of a network");
  if (layers.back().outputs != 1) {
    throw FormatError("array '" + prefix + std::to_string(layers.size() - 1) + ".weight' has " +
                      std::to_string(layers.back().outputs) + " rows, expected one: the latency");
  }
  return layers;
}

nlohmann::json to_document(const FeedForward& network) {
  nlohmann::json layers = nlohmann::json::array();
  for (const DenseLayer& layer : network.layers) {
    nlohmann::json rows = nlohmann::json::array();
    for (int o = 0; o < layer.outputs; ++o) {
      const auto begin = layer.weight.begin() + static_cast<std::ptrdiff_t>(o) * layer.inputs;
      rows.push_back(std::vector<float>(begin, begin + layer.inputs));
    }
    layers.push_back({{"weight", rows}, {"bias", layer.bias}});
  }
  return {{"scale_ms", network.scale_ms}, {"floor_ms", network.floor_ms}, {"layers", layers}};
}

}  // namespace tenshot::trainer
