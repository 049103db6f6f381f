#include "trainer/networks/feed_forward.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "nasbench/support/error.h"
#include "nasbench/support/vector_loops.h"
#include "trainer/core/archive_reader.h"
#include "trainer/networks/formula.h"

namespace tenshot::trainer {
namespace {

/// Rows evaluated at a time: their activations stay in the second-level cache between layers.
constexpr std::size_t block_rows = 512;

constexpr std::int64_t widest_layer = 1'000'000;
constexpr Range weights{-1e9, 1e9};

/// The outputs of rows of inputs, of which `block(begin, rows)` gives at most `block_rows` at a time.
template <class Block>
std::vector<float> outputs_of(const std::vector<DenseLayer>& layers, std::size_t rows, Block block) {
  std::vector<DenseLayer::Matrix> turned_weights;
  std::vector<std::vector<float>> activations;
  for (const DenseLayer& layer : layers) {
    turned_weights.emplace_back(layer.matrix().transpose());
    activations.emplace_back(block_rows * static_cast<std::size_t>(layer.outputs));
  }
  std::vector<float> found;
  found.reserve(rows);
  for (std::size_t begin = 0; begin < rows; begin += block_rows) {
    const std::size_t count = std::min(block_rows, rows - begin);
    const auto signed_count = static_cast<std::int64_t>(count);
    const float* values = block(begin, count);
    for (std::size_t l = 0; l < layers.size(); ++l) {
      float* outputs = activations[l].data();
      multiply_sparse(values, turned_weights[l].data(), outputs, signed_count, layers[l].inputs, layers[l].outputs);
      const bool last = l + 1 == layers.size();
      (last ? add_bias : add_bias_and_relu)(outputs, layers[l].bias.data(), signed_count, layers[l].outputs);
      values = outputs;
    }
    found.insert(found.end(), values, values + count);
  }
  return found;
}

}  // namespace

std::vector<DenseLayer> fold_constant_inputs(std::vector<DenseLayer> layers, int variable_inputs,
                                             const std::vector<float>& constant_inputs) {
  DenseLayer& first = layers.front();
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
  const auto width = static_cast<std::size_t>(layers.front().inputs);
  return outputs_of(layers, inputs.size() / width,
                    [&](std::size_t begin, std::size_t) { return inputs.data() + begin * width; });
}

std::vector<double> evaluate(const FeedForward& network, const nasbench::SearchSpace& space,
                             const std::vector<nasbench::Architecture>& architectures) {
  const std::size_t width = space.encoding_width();
  std::vector<float> encoding(width * block_rows);
  const auto encoded = [&](std::size_t begin, std::size_t rows) {
    for (std::size_t r = 0; r < rows; ++r) space.encode(architectures[begin + r], encoding.data() + r * width);
    return encoding.data();
  };
  std::vector<double> latency_ms;
  for (const double output : outputs_of(network.layers, architectures.size(), encoded)) {
    const double relative = network.logarithmic ? std::exp(output) : output;
    latency_ms.push_back(std::max(network.floor_ms, network.scale_ms * relative));
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

std::vector<DenseLayer> get_layers(const Archive& archive, const std::string& prefix, std::size_t inputs,
                                   const std::string& what) {
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
  if (layers.front().inputs != static_cast<int>(inputs)) {
    throw FormatError("array '" + prefix + "0.weight' has " + std::to_string(layers.front().inputs) +
                      " columns, expected " + std::to_string(inputs) + what);
  }
  return layers;
}

nlohmann::json to_document(const FeedForward& network) {
  nlohmann::json layers = nlohmann::json::array();
  for (const DenseLayer& layer : network.layers) {
    layers.push_back({{"weight", rows_of(layer.matrix().cast<double>())}, {"bias", layer.bias}});
  }
  return {{"scale_ms", network.scale_ms},
          {"floor_ms", network.floor_ms},
          {"logarithmic", network.logarithmic},
          {"layers", layers}};
}

}  // namespace tenshot::trainer
