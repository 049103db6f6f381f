#include "tests/unit/nasbench/graph/reference_inference.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace tenshot::nasbench {
namespace {

using Tensor = std::vector<float>;

std::size_t at(const TensorShape& shape, int channel, int row, int column) {
  return static_cast<std::size_t>((channel * shape.height + row) * shape.width + column);
}

/// Calls `visit(kernel_row, kernel_column, row, column)` for the part of the window at an output position that lies
/// within the input.
template <class Visit>
void for_window(const Layer& layer, const TensorShape& input, int output_row, int output_column, Visit visit) {
  for (int i = 0; i < layer.kernel; ++i) {
    for (int j = 0; j < layer.kernel; ++j) {
      const int row = output_row * layer.stride - layer.padding + i;
      const int column = output_column * layer.stride - layer.padding + j;
      if (row >= 0 && row < input.height && column >= 0 && column < input.width) visit(i, j, row, column);
    }
  }
}

/// Calls `value(channel, row, column)` for every element of the layer's output.
template <class Value>
Tensor filled(const TensorShape& shape, Value value) {
  Tensor tensor;
  for (int c = 0; c < shape.channels; ++c) {
    for (int row = 0; row < shape.height; ++row) {
      for (int column = 0; column < shape.width; ++column) tensor.push_back(value(c, row, column));
    }
  }
  return tensor;
}

Tensor convolution(const Layer& layer, const TensorShape& shape, const Tensor& input, const Tensor& weight) {
  return filled(layer.output, [&](int channel, int row, int column) {
    float sum = 0;
    for (int c = 0; c < shape.channels; ++c) {
      for_window(layer, shape, row, column, [&](int i, int j, int r, int s) {
        const int w = ((channel * shape.channels + c) * layer.kernel + i) * layer.kernel + j;
        sum += weight[static_cast<std::size_t>(w)] * input[at(shape, c, r, s)];
      });
    }
    return sum;
  });
}

Tensor average_pool(const Layer& layer, const TensorShape& shape, const Tensor& input) {
  return filled(layer.output, [&](int channel, int row, int column) {
    float sum = 0;
    float count = 0;
    for_window(layer, shape, row, column, [&](int, int, int r, int s) {
      sum += input[at(shape, channel, r, s)];
      ++count;
    });
    return sum / count;
  });
}

Tensor batch_norm(const Layer& layer, const Tensor& input, const LayerWeights& weights) {
  return filled(layer.output, [&](int channel, int row, int column) {
    const auto c = static_cast<std::size_t>(channel);
    const float normalised =
        (input[at(layer.output, channel, row, column)] - weights.mean[c]) / std::sqrt(weights.variance[c] + 1e-5F);
    return weights.weight[c] * normalised + weights.bias[c];
  });
}

Tensor global_average_pool(const Layer& layer, const TensorShape& shape, const Tensor& input) {
  return filled(layer.output, [&](int channel, int, int) {
    float sum = 0;
    for (int row = 0; row < shape.height; ++row) {
      for (int column = 0; column < shape.width; ++column) sum += input[at(shape, channel, row, column)];
    }
    return sum / static_cast<float>(shape.height * shape.width);
  });
}

Tensor linear(const Layer& layer, const Tensor& input, const LayerWeights& weights) {
  return filled(layer.output, [&](int channel, int, int) {
    const auto c = static_cast<std::size_t>(channel);
    float sum = weights.bias[c];
    for (std::size_t i = 0; i < input.size(); ++i) sum += weights.weight[c * input.size() + i] * input[i];
    return sum;
  });
}

Tensor elementwise(Tensor values, float (*change)(float)) {
  std::transform(values.begin(), values.end(), values.begin(), change);
  return values;
}

Tensor sum(Tensor first, const Tensor& second) {
  for (std::size_t i = 0; i < first.size(); ++i) first[i] += second[i];
  return first;
}

}  // namespace

std::vector<float> reference_inference(const LayerGraph& graph, const std::vector<float>& image, std::uint64_t seed) {
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    const Layer& layer = graph.layers[i];
    if (layer.kind == LayerKind::input) {
      tensors.push_back(image);
      continue;
    }
    const auto source = static_cast<std::size_t>(layer.inputs[0]);
    const TensorShape& shape = graph.layers[source].output;
    const Tensor& input = tensors[source];
    const LayerWeights weights = random_weights(graph, i, seed);
    switch (layer.kind) {
      case LayerKind::input: break;
      case LayerKind::convolution: tensors.push_back(convolution(layer, shape, input, weights.weight)); break;
      case LayerKind::batch_norm: tensors.push_back(batch_norm(layer, input, weights)); break;
      case LayerKind::relu: tensors.push_back(elementwise(input, [](float x) { return std::max(x, 0.0F); })); break;
      case LayerKind::average_pool: tensors.push_back(average_pool(layer, shape, input)); break;
      case LayerKind::global_average_pool: tensors.push_back(global_average_pool(layer, shape, input)); break;
      case LayerKind::add: tensors.push_back(sum(input, tensors[static_cast<std::size_t>(layer.inputs[1])])); break;
      case LayerKind::zero: tensors.push_back(elementwise(input, [](float x) { return 0.0F * x; })); break;
      case LayerKind::linear: tensors.push_back(linear(layer, input, weights)); break;
    }
  }
  return tensors.back();
}

}  // namespace tenshot::nasbench
