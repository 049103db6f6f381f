#include "trainer/predictors/cold_stages/stage_model.h"

#include <algorithm>
#include <cmath>

#include "trainer/core/nnls.h"

namespace tenshot::trainer::cold_stages {
namespace {

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
