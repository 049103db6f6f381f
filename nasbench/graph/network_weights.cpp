#include "nasbench/graph/network_weights.h"

#include <cmath>

#include "nasbench/support/error.h"
#include "nasbench/support/random.h"

namespace tenshot::nasbench {
namespace {

std::vector<float> uniform_values(Rng& rng, const Shape& shape, double low, double high) {
  if (shape.empty()) return {};
  std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
  for (float& value : values) value = static_cast<float>(low + (high - low) * rng.uniform());
  return values;
}

/// How many values one output of a convolution or linear layer is computed from; 0 for the other kinds.
std::int64_t fan_in(const OperatorSpecification& operation, const Shape& weight) {
  switch (operation.kind) {
    case OperatorKind::convolution:
    case OperatorKind::linear: return element_count(weight) / weight[0];
    case OperatorKind::transposed_convolution: return element_count(weight) / weight[1] / operation.groups;
    default: return 0;
  }
}

}  // namespace

WeightShapes weight_shapes(const NetworkNode& node) {
  const OperatorSpecification& s = node.operation;
  const std::int64_t height = s.kernel.height, width = s.kernel.width;
  const std::int64_t in = s.inputs.empty() ? 0 : channel_count(s, s.inputs[0]), out = channel_count(s, s.output);
  WeightShapes shapes;
  switch (s.kind) {
    case OperatorKind::convolution: shapes.weight = {out, in / s.groups, height, width}; break;
    case OperatorKind::transposed_convolution: shapes.weight = {in, out / s.groups, height, width}; break;
    case OperatorKind::linear: shapes.weight = {out, in}; break;
    case OperatorKind::batch_norm: shapes.weight = shapes.bias = shapes.mean = shapes.variance = {out}; break;
    case OperatorKind::layer_norm:
    case OperatorKind::group_norm: shapes.weight = shapes.bias = {out}; break;
    default:
      if (!s.constants.empty()) shapes.weight = s.constants.front();
  }
  if (s.bias && !is_norm(s.kind)) shapes.bias = {out};
  return shapes;
}

LayerWeights random_weights(const Network& network, std::size_t index, std::uint64_t seed) {
  if (index >= network.nodes.size()) {
    throw InputError("node " + std::to_string(index) + " of a network of " + std::to_string(network.nodes.size()) +
                     " nodes: there is no such node");
  }
  const NetworkNode& node = network.nodes[index];
  const WeightShapes shapes = weight_shapes(node);
  Rng rng(seed, index + 1);  // stream 0 is the input's
  LayerWeights weights;
  const std::int64_t inputs = fan_in(node.operation, shapes.weight);
  const bool is_added = node.operation.kind == OperatorKind::add || node.operation.kind == OperatorKind::concatenate;
  const double bound = inputs > 0 ? std::sqrt(6.0 / static_cast<double>(inputs)) : 0.1;
  weights.weight = inputs > 0 || is_added ? uniform_values(rng, shapes.weight, -bound, bound)
                                          : uniform_values(rng, shapes.weight, 0.5, 1.5);
  weights.bias = uniform_values(rng, shapes.bias, -0.1, 0.1);
  weights.mean = uniform_values(rng, shapes.mean, -0.1, 0.1);
  weights.variance = uniform_values(rng, shapes.variance, 0.5, 1.5);
  return weights;
}

std::vector<float> transposed(const std::vector<float>& matrix, std::int64_t rows, std::int64_t columns) {
  std::vector<float> result;
  for (std::int64_t c = 0; c < columns; ++c) {
    for (std::int64_t r = 0; r < rows; ++r) result.push_back(matrix[static_cast<std::size_t>(r * columns + c)]);
  }
  return result;
}

}  // namespace tenshot::nasbench
