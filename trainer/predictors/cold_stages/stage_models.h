#pragma once

#include <Eigen/Core>
#include <array>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "descriptor/cold/cold_files.h"
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

/// How the cost of a stage is learned.
enum class Learner {
  operators,  ///< a sum over LayerMeasures::measures with costs that are not negative, by relative least squares
  forest      ///< a forest of the logarithm (needs XGBoost)
};
std::string_view name(Learner learner);

/// What a stage took in some layers; what is below a tenth of a microsecond counts as that.
struct StageTimes {
  std::vector<LayerMeasures> layers;
  std::vector<double> ms;

  void add(const LayerMeasures& layer, double time_ms) {
    layers.push_back(layer);
    ms.push_back(time_ms);
  }
};

/// What one stage of one kernel costs, of what it cost in measured layers.
class StageModel {
 public:
  /// There is at least one layer. Where a forest has too few to learn from, costs of measures are learned instead.
  /// Predictions are scaled so that those of the layers sum to what they took: a start is a sum.
  StageModel(const StageTimes& times, Learner learner);

  double predict(const LayerMeasures& layer) const;

 private:
  Eigen::VectorXd costs_;
  TreeEnsemble forest_;  ///< empty: costs of measures were learned
  double scale_ = 1;
};

/// What is predicted of a layer and its kernels.
enum class Stage { read_raw, read_cached, write_cached, transform, create, create_again, first, execute };
constexpr std::size_t stage_count = 8;
constexpr std::array<Stage, stage_count> all_stages = {Stage::read_raw,  Stage::read_cached, Stage::write_cached,
                                                       Stage::transform, Stage::create,      Stage::create_again,
                                                       Stage::first,     Stage::execute};
std::string_view name(Stage stage);
using Learners = std::array<Learner, stage_count>;

/// A time of a kernel; of the stage read_raw the layer's.
double& time_of(descriptor::LayerStages& layer, descriptor::KernelStages& kernel, Stage stage);
double time_of(const descriptor::LayerStages& layer, const descriptor::KernelStages& kernel, Stage stage);

/// The kernels that the engine has for a layer.
using OfferedKernels =
    std::function<std::vector<std::string>(const descriptor::ColdNetwork&, const descriptor::ColdLayer&)>;

/// Costs of stages, learned from networks whose stages were measured: for each kernel and stage a model of its own.
class StageModels {
 public:
  /// `files`: at least one, which stays while the models are used.
  StageModels(const std::vector<const descriptor::ColdStages*>& files, const Learners& learners);
  StageModels(const StageModels&) = delete;
  StageModels& operator=(const StageModels&) = delete;

  /// The stages of a network, of the kernels that are offered for each layer and were measured somewhere; without
  /// `offered`, of those of the measured layer that is most like it. Kernels that take eight times as long as another
  /// one are left out, as in measuring. For a layer without weights whose kernel was measured nowhere, that of the
  /// layer most like it stands in. Throws InputError that names another layer whose kernels were measured nowhere.
  descriptor::ColdStages predict(const descriptor::ColdNetwork& network, const OfferedKernels& offered) const;

 private:
  /// A kernel as it was measured for a layer.
  struct Row {
    const LayerMeasures* layer;
    const descriptor::LayerStages* stages;
    const descriptor::KernelStages* kernel;
  };
  /// Kernels of a layer, and the measured one that each costs as much as.
  using Likenesses = std::vector<std::pair<std::string, std::string>>;

  void learn(const Learners& learners);
  Likenesses kernels_for(const descriptor::ColdNetwork& network, const descriptor::ColdLayer& layer,
                         const LayerMeasures& measures, const OfferedKernels& offered) const;
  /// 0 where the stage was never measured. What depends on a file alone is of no kernel: "".
  double predicted_ms(const std::string& kernel, Stage stage, const LayerMeasures& layer) const;
  descriptor::LayerStages predict_layer(const descriptor::ColdNetwork& network, const descriptor::ColdLayer& layer,
                                        const OfferedKernels& offered) const;

  std::deque<LayerMeasures> measures_;  ///< of the measured layers
  std::vector<Row> layers_;             ///< the first kernel of each measured layer
  std::vector<Row> plain_layers_;       ///< those without weights
  std::map<std::string, std::vector<Row>> kernels_;
  std::map<std::pair<std::string, Stage>, StageModel> models_;
  double once_ms_ = 0;                  ///< of the kernels that cost something once
  std::optional<StageModel> starting_;  ///< by the number of layers
  descriptor::Interference interference_;
};

}  // namespace tenshot::trainer::cold_stages
