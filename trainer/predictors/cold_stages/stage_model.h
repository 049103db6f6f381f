#pragma once

#include <Eigen/Core>
#include <string_view>
#include <vector>

#include "trainer/predictors/cold_stages/layer_measures.h"
#include "trainer/trees/tree_ensemble.h"

namespace tenshot::trainer::cold_stages {

/// How the cost of a stage is learned.
enum class Learner {
  operators,  ///< a sum over LayerMeasures::measures with costs that are not negative, by relative least squares
  forest      ///< a forest of the logarithm (needs XGBoost)
};
std::string_view name(Learner learner);

/// What one stage of one kernel costs, of what it cost in measured layers.
class StageModel {
 public:
  /// `ms` has one time for each layer, in milliseconds; what is below a tenth of a microsecond counts as that. There is
  /// at least one. Where a forest has too few layers to learn from, costs of measures are learned instead. Predictions
  /// are scaled so that those of the layers sum to what they took: a start is a sum.
  StageModel(const std::vector<const LayerMeasures*>& layers, const std::vector<double>& ms, Learner learner);

  double predict(const LayerMeasures& layer) const;

 private:
  double unscaled(const LayerMeasures& layer) const;

  bool is_forest_ = false;
  Eigen::VectorXd costs_;
  TreeEnsemble forest_;
  double scale_ = 1;
};

}  // namespace tenshot::trainer::cold_stages
