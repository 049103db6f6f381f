#include "trainer/predictors/cold_stages/stage_model.h"

#include <algorithm>
#include <cmath>

#include "nasbench/graph/operator_specification.h"
#include "trainer/core/nnls.h"

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

constexpr double least_ms = 1e-4;
constexpr std::size_t fewest_of_a_forest = 12;

Eigen::VectorXd costs_of(const std::vector<const LayerMeasures*>& layers, const Eigen::VectorXd& ms) {
  Eigen::MatrixXd measures(ms.size(), static_cast<Eigen::Index>(layers.front()->measures.size()));
  for (Eigen::Index row = 0; row < ms.size(); ++row) {
    for (Eigen::Index column = 0; column < measures.cols(); ++column) {
      measures(row, column) = layers[static_cast<std::size_t>(row)]->measures[static_cast<std::size_t>(column)];
    }
  }
  return relative_non_negative_least_squares(measures, ms);
}

TreeEnsemble forest_of(const std::vector<const LayerMeasures*>& layers, const Eigen::VectorXd& ms) {
  TreeOptions options;
  options.trees = 20;
  options.depth = 7;
  options.smallest_leaf = 3;
  options.feature_share = 0.5;
  std::vector<float> splits;
  std::vector<double> logarithms;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    splits.insert(splits.end(), layers[i]->splits.begin(), layers[i]->splits.end());
    logarithms.push_back(std::log(ms(static_cast<Eigen::Index>(i))));
  }
  return train_trees(splits, layers.front()->splits.size(), logarithms, {}, options);
}

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

std::string_view name(Learner learner) { return learner == Learner::forest ? "forest" : "operators"; }

StageModel::StageModel(const std::vector<const LayerMeasures*>& layers, const std::vector<double>& ms, Learner learner)
    : is_forest_(learner == Learner::forest && layers.size() >= fewest_of_a_forest) {
  Eigen::VectorXd times(static_cast<Eigen::Index>(ms.size()));
  for (std::size_t i = 0; i < ms.size(); ++i) times(static_cast<Eigen::Index>(i)) = std::max(least_ms, ms[i]);
  if (is_forest_) {
    forest_ = forest_of(layers, times);
  } else {
    costs_ = costs_of(layers, times);
  }
  double predicted = 0;
  for (const LayerMeasures* layer : layers) predicted += unscaled(*layer);
  if (predicted > 0) scale_ = times.sum() / predicted;
}

double StageModel::unscaled(const LayerMeasures& layer) const {
  if (is_forest_) return std::exp(forest_.predict(layer.splits.data()));
  double sum = 0;
  for (std::size_t i = 0; i < layer.measures.size(); ++i)
    sum += costs_(static_cast<Eigen::Index>(i)) * layer.measures[i];
  return std::max(least_ms, sum);
}

double StageModel::predict(const LayerMeasures& layer) const { return scale_ * unscaled(layer); }

}  // namespace tenshot::trainer::cold_stages
