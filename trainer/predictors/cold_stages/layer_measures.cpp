#include "trainer/predictors/cold_stages/layer_measures.h"

#include <Eigen/Core>
#include <cmath>

#include "nasbench/graph/operator_specification.h"

namespace tenshot::trainer::cold_stages {
namespace {

using descriptor::ColdKind;
using nasbench::OperatorKind;

OperatorKind kind_of(ColdKind kind) {
  switch (kind) {
    case ColdKind::convolution: return OperatorKind::convolution;
    case ColdKind::linear: return OperatorKind::linear;
    case ColdKind::max_pool: return OperatorKind::max_pool;
    case ColdKind::average_pool: return OperatorKind::average_pool;
    case ColdKind::activation: return OperatorKind::activation;
    case ColdKind::add: return OperatorKind::add;
    case ColdKind::multiply: return OperatorKind::multiply;
    case ColdKind::concatenate: return OperatorKind::concatenate;
    case ColdKind::shuffle: return OperatorKind::shuffle;
    case ColdKind::softmax: return OperatorKind::softmax;
    case ColdKind::slice:
    case ColdKind::reshape:  // the engine copies: images lie channels last
      return OperatorKind::split;
  }
  return OperatorKind::opaque;
}

nasbench::OperatorSpecification specification_of(const descriptor::ColdNetwork& network,
                                                 const descriptor::ColdLayer& layer) {
  nasbench::OperatorSpecification specification;
  specification.kind = kind_of(layer.kind);
  specification.name = layer.activation.name;
  specification.kernel = layer.kernel;
  specification.stride = layer.stride;
  specification.dilation = layer.dilation;
  specification.groups = layer.groups;
  specification.bias = layer.has_weights();
  for (const int input : layer.inputs) {
    specification.inputs.push_back(network.tensors[static_cast<std::size_t>(input)]);
  }
  specification.output = network.tensors[static_cast<std::size_t>(layer.output)];
  return specification;
}

float logarithm(double value) { return static_cast<float>(std::log(value + 1e-6)); }

}  // namespace

LayerMeasures measures_of(const descriptor::ColdNetwork& network, const descriptor::ColdLayer& layer) {
  constexpr double million = 1e6;
  const nasbench::OperatorSpecification specification = specification_of(network, layer);
  LayerMeasures measures;
  measures.group = operators::operator_group_of(specification);
  const Eigen::VectorXd raw =
      operators::raw_features({specification}).head(static_cast<Eigen::Index>(operators::raw_feature_count()));
  for (Eigen::Index i = 1; i < raw.size(); ++i) {
    const auto measure = static_cast<std::size_t>(i - 1) % operators::measures_of_group;
    if (measure >= measures.measures.size()) continue;
    measures.measures[measure] += measure == operators::count ? raw(i) : raw(i) / million;
  }
  for (std::size_t i = 1; i < measures.measures.size(); ++i) measures.splits.push_back(logarithm(measures.measures[i]));
  for (const nasbench::Shape& shape : {specification.inputs.front(), specification.output}) {
    for (const std::size_t dimension : {1U, 2U, 3U}) {
      measures.splits.push_back(logarithm(dimension < shape.size() ? static_cast<double>(shape[dimension]) : 1.0));
    }
  }
  for (const int number : {layer.kernel.height, layer.kernel.width, layer.stride.height, layer.groups,
                           static_cast<int>(layer.kind), static_cast<int>(layer.inputs.size())}) {
    measures.splits.push_back(static_cast<float>(number));
  }
  measures.splits.push_back(layer.activation.name.empty() ? 0.0F : 1.0F);
  return measures;
}

LayerMeasures measures_of_reading(std::uint64_t bytes) {
  const double megabytes = static_cast<double>(bytes) / 1e6;
  LayerMeasures measures;
  measures.group = "reading";
  measures.measures = {1, 0, 0, 0, megabytes};
  measures.splits = {logarithm(megabytes)};
  return measures;
}

double distance(const LayerMeasures& a, const LayerMeasures& b) {
  constexpr double unlike_groups = 1000;
  double sum = a.group == b.group ? 0 : unlike_groups;
  for (std::size_t i = 0; i < a.splits.size() && i < b.splits.size(); ++i) {
    const double difference = a.splits[i] - b.splits[i];
    sum += difference * difference;
  }
  return sum;
}

}  // namespace tenshot::trainer::cold_stages
