#pragma once

#include <Eigen/Core>
#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "descriptor/cold/cold_files.h"
#include "trainer/cold/planner.h"
#include "trainer/predictors/operators/operator_groups.h"
#include "trainer/trees/tree_ensemble.h"

namespace tenshot::trainer::cold_stages {

/// What of a layer its stages may cost time for.
struct LayerMeasures {
  std::string group;  ///< of operators whose costs are alike, as the predictor `operators` groups them
  /// One, multiply–adds in millions, and the megabytes that it reads, writes, and reads as weights (no copied windows).
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
inline std::string_view name(Learner learner) { return learner == Learner::forest ? "forest" : "operators"; }

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
using Learners = std::array<Learner, stage_count>;

/// What each stage is called, in Stage's order, and which time of a kernel it is; reading raw weights is the layer's.
constexpr std::array<std::pair<std::string_view, double descriptor::KernelStages::*>, stage_count> named_stages = {
    {{"read raw", nullptr},
     {"read cached", &descriptor::KernelStages::read_cached_ms},
     {"write cached", &descriptor::KernelStages::write_cached_ms},
     {"transform", &descriptor::KernelStages::transform_ms},
     {"create", &descriptor::KernelStages::create_ms},
     {"create again", &descriptor::KernelStages::create_again_ms},
     {"first", &descriptor::KernelStages::first_ms},
     {"execute", &descriptor::KernelStages::execute_ms}}};
inline std::string_view name(Stage stage) { return named_stages[static_cast<std::size_t>(stage)].first; }

/// A time of a kernel; of the stage read_raw the layer's.
template <class Layer, class Kernel>
auto& time_of(Layer& layer, Kernel& kernel, Stage stage) {
  const auto time = named_stages[static_cast<std::size_t>(stage)].second;
  return time == nullptr ? layer.read_raw_ms : kernel.*time;
}

/// The kernels that the engine has for a layer.
using OfferedKernels =
    std::function<std::vector<std::string>(const descriptor::ColdNetwork&, const descriptor::ColdLayer&)>;

/// Costs of stages, learned from networks whose stages were measured: for each kernel and stage a model of its own.
class StageModels {
 public:
  /// `files`: at least one, which stays while the models are used.
  StageModels(const std::vector<const descriptor::ColdStages*>& files, const Learners& learners);

  /// The stages of a network, of the kernels that are offered for each layer and were measured somewhere; without
  /// `offered`, of those of the measured layer that is most like it. Kernels that take eight times as long as another
  /// one are left out, as in measuring. For a layer without weights whose kernel was measured nowhere, that of the
  /// layer most like it stands in. Throws InputError that names another layer whose kernels were measured nowhere.
  descriptor::ColdStages predict(const descriptor::ColdNetwork& network, const OfferedKernels& offered) const;

 private:
  /// A kernel as it was measured for a layer.
  struct Row {
    LayerMeasures layer;
    const descriptor::LayerStages* stages;
    const descriptor::KernelStages* kernel;
  };
  /// Kernels of a layer, and the measured one that each costs as much as.
  using Likenesses = std::vector<std::pair<std::string, std::string>>;

  Likenesses kernels_for(const descriptor::ColdNetwork& network, const descriptor::ColdLayer& layer,
                         const LayerMeasures& measures, const OfferedKernels& offered) const;
  /// 0 where the stage was never measured. What depends on a file alone is of no kernel: "".
  double predicted_ms(const std::string& kernel, Stage stage, const LayerMeasures& layer) const;
  descriptor::LayerStages predict_layer(const descriptor::ColdNetwork& network, const descriptor::ColdLayer& layer,
                                        const OfferedKernels& offered) const;

  std::vector<Row> layers_;        ///< the first kernel of each measured layer
  std::vector<Row> plain_layers_;  ///< those without weights
  std::map<std::string, std::vector<Row>> kernels_;
  std::map<std::pair<std::string, Stage>, StageModel> models_;
  double once_ms_ = 0;                  ///< of the kernels that cost something once
  std::optional<StageModel> starting_;  ///< by the number of layers
  descriptor::Interference interference_;
};

/// "mobilenet" of "…/mobilenet_v2_w1.0_r224.onnx": the letters that a model's file name begins with, in lower case.
std::string family_of(const std::string& model);

/// How far predictions are off for a network of a family that was never measured.
struct FamilyError {
  double middle = 0;  ///< what to add to a predicted logarithm
  double spread = 0;  ///< nine of ten errors of the logarithm are to lie within this of the middle
};

/// The error of a new family from `errors` of logarithms (measured less predicted), a list that is not empty for each
/// family held out. It is one more draw from those: the variance is what families' means and, within families, networks
/// vary by, and Student's t with a degree of freedom less than there are families says how far nine of ten may be off.
/// The middle is the mean over families where, of each family left out, the mean of the others brings predictions
/// nearer to the truth; else 0. One family alone counts each of its networks as one. Without families all is 0.
FamilyError error_of_new_family(std::vector<std::vector<double>> errors);

/// A cold start that was predicted, milliseconds.
struct PredictedStart {
  double cold_ms = 0;
  double low_ms = 0, high_ms = 0;  ///< nine of ten starts are to lie between them; equal to cold_ms where unknown
  descriptor::ColdStages stages;   ///< for plan_cold_start; without the model's name and hash
  ColdPlanning planning;           ///< of these stages
  Learners learners = {};
  std::size_t held_out = 0;  ///< networks that were held out and predicted
  double factor = 1;         ///< of planned times; 1 where a factor does not carry over to families that are held out
};

/// The machine of measured stages. Throws InputError where there is no file, or where they are of unlike machines.
const std::string& machine_of(const std::vector<descriptor::ColdStages>& measured);

/// Predicts the cold start of a network that was never run, from the measured stages of others: the costs of each stage
/// of each kernel (StageModels), with which the start is planned and simulated (Yi et al., §3.3).
///
/// Each stage is learned as sums of operators' measures or by a forest, whichever errs less on families of networks
/// that were held out. What plans of predicted stages took for these families, by their measured stages, against what
/// was predicted, gives a factor and the interval. Throws as machine_of() and StageModels::predict.
PredictedStart predict_cold_start(const descriptor::ColdNetwork& network, const OfferedKernels& offered,
                                  const std::vector<descriptor::ColdStages>& measured, const ColdPlanOptions& plan);

}  // namespace tenshot::trainer::cold_stages
