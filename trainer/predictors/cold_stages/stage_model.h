#pragma once

#include <Eigen/Core>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "descriptor/cold/cold_network.h"
#include "trainer/predictors/operators/operator_groups.h"
#include "trainer/trees/tree_ensemble.h"

namespace tenshot::trainer::cold_stages {

/// What of a layer its stages may cost time for.
struct LayerMeasures {
  std::string group;  ///< of operators whose costs are alike, as the predictor `operators` groups them
  /// One, multiply–adds in millions, and the megabytes that it reads, writes, and reads as weights (operators::Measure;
  /// the engine's kernels copy no windows).
  std::array<double, operators::window_bytes> measures = {};
  /// What trees split on: logarithms of the measures, the channels and the image, window, stride and groups.
  std::vector<float> splits;
};

LayerMeasures measures_of(const descriptor::ColdNetwork& network, const descriptor::ColdLayer& layer);

/// Reading so many bytes of a file, which depends on nothing else.
LayerMeasures measures_of_reading(std::uint64_t bytes);

/// How unlike two layers are: the squared distance of their logarithms, and more where they are of unlike groups.
double distance(const LayerMeasures& a, const LayerMeasures& b);

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
