#include "tests/unit/nasbench/graph/reference_inference.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <utility>

#include "nasbench/graph/network_weights.h"

namespace tenshot::nasbench {
namespace {

using Tensor = std::vector<float>;

std::size_t at(const Shape& shape, std::int64_t channel, std::int64_t row, std::int64_t column) {
  return static_cast<std::size_t>((channel * shape[2] + row) * shape[3] + column);
}

/// Calls `visit(kernel_row, kernel_column, row, column)` for the part of the window at an output position that lies
/// within the input.
template <class Visit>
void for_window(const NetworkNode& node, std::int64_t output_row, std::int64_t output_column, Visit visit) {
  const OperatorSpecification& op = node.operation;
  for (int i = 0; i < op.kernel.height; ++i) {
    for (int j = 0; j < op.kernel.width; ++j) {
      const std::int64_t row = output_row * op.stride.height - node.attributes.padding.top + i;
      const std::int64_t column = output_column * op.stride.width - node.attributes.padding.left + j;
      if (row >= 0 && row < op.inputs[0][2] && column >= 0 && column < op.inputs[0][3]) visit(i, j, row, column);
    }
  }
}

/// Calls `value(channel, row, column)` for every element of an image.
template <class Value>
Tensor filled(const Shape& shape, Value value) {
  Tensor tensor;
  for (std::int64_t c = 0; c < shape[1]; ++c) {
    for (std::int64_t row = 0; row < shape[2]; ++row) {
      for (std::int64_t column = 0; column < shape[3]; ++column) tensor.push_back(value(c, row, column));
    }
  }
  return tensor;
}

Tensor convolution(const NetworkNode& node, const Tensor& input, const Tensor& weight) {
  const Shape& shape = node.operation.inputs[0];
  const Extent& kernel = node.operation.kernel;
  return filled(node.operation.output, [&](auto channel, auto row, auto column) {
    float sum = 0;
    for (std::int64_t c = 0; c < shape[1]; ++c) {
      for_window(node, row, column, [&](int i, int j, auto r, auto s) {
        const std::int64_t w = ((channel * shape[1] + c) * kernel.height + i) * kernel.width + j;
        sum += weight[static_cast<std::size_t>(w)] * input[at(shape, c, r, s)];
      });
    }
    return sum;
  });
}

Tensor average_pool(const NetworkNode& node, const Tensor& input) {
  return filled(node.operation.output, [&](auto channel, auto row, auto column) {
    float sum = 0, count = 0;
    for_window(node, row, column, [&](int, int, auto r, auto s) {
      sum += input[at(node.operation.inputs[0], channel, r, s)];
      ++count;
    });
    return sum / count;
  });
}

Tensor batch_norm(const NetworkNode& node, const Tensor& input, const LayerWeights& weights) {
  const Shape& shape = node.operation.output;
  return filled(shape, [&](auto channel, auto row, auto column) {
    const auto c = static_cast<std::size_t>(channel);
    const float normalised =
        (input[at(shape, channel, row, column)] - weights.mean[c]) / std::sqrt(weights.variance[c] + 1e-5F);
    return weights.weight[c] * normalised + weights.bias[c];
  });
}

Tensor global_average_pool(const NetworkNode& node, const Tensor& input) {
  const Shape& shape = node.operation.inputs[0];
  return filled({1, shape[1], 1, 1}, [&](auto channel, auto, auto) {
    float sum = 0;
    for (std::int64_t row = 0; row < shape[2]; ++row) {
      for (std::int64_t column = 0; column < shape[3]; ++column) sum += input[at(shape, channel, row, column)];
    }
    return sum / static_cast<float>(shape[2] * shape[3]);
  });
}

Tensor linear(const NetworkNode& node, const Tensor& input, const LayerWeights& weights) {
  return filled({1, node.operation.output[1], 1, 1}, [&](auto channel, auto, auto) {
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

std::vector<float> reference_inference(const Network& network, const std::vector<float>& image, std::uint64_t seed) {
  std::vector<Tensor> tensors;
  const auto tensor = [&](const Source& source) -> const Tensor& {
    return source.node < 0 ? image : tensors[static_cast<std::size_t>(source.node)];
  };
  for (std::size_t i = 0; i < network.nodes.size(); ++i) {
    const NetworkNode& node = network.nodes[i];
    const Tensor& input = tensor(node.inputs[0]);
    const LayerWeights weights = random_weights(network, i, seed);
    Tensor output;
    switch (node.operation.kind) {
      case OperatorKind::convolution: output = convolution(node, input, weights.weight); break;
      case OperatorKind::batch_norm: output = batch_norm(node, input, weights); break;
      case OperatorKind::activation: output = elementwise(input, [](float x) { return std::max(x, 0.0F); }); break;
      case OperatorKind::average_pool: output = average_pool(node, input); break;
      case OperatorKind::global_pool: output = global_average_pool(node, input); break;
      case OperatorKind::add: output = sum(input, tensor(node.inputs[1])); break;
      case OperatorKind::multiply: output = elementwise(input, [](float x) { return 0.0F * x; }); break;
      case OperatorKind::linear: output = linear(node, input, weights); break;
      default: throw std::invalid_argument(node.name + " is no operator of NAS-Bench-201");
    }
    tensors.push_back(std::move(output));
  }
  return tensor(network.outputs.front());
}

}  // namespace tenshot::nasbench
