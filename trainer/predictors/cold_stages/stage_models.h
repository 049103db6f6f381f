#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "descriptor/cold/cold_files.h"
#include "trainer/predictors/cold_stages/stage_model.h"

namespace tenshot::trainer::cold_stages {

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
  StageModels(StageModels&&) = default;
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
  struct Kernel {
    std::vector<Row> rows;
    std::map<Stage, StageModel> models;
  };

  void read(const descriptor::ColdStages& file);
  void learn(const Learners& learners);
  const Row& nearest(const std::vector<Row>& rows, const LayerMeasures& layer) const;
  /// A kernel of a layer, and the measured one that it costs as much as.
  struct Likeness {
    std::string name, costs_as;
  };
  std::vector<Likeness> kernels_for(const descriptor::ColdNetwork& network, const descriptor::ColdLayer& layer,
                                    const LayerMeasures& measures, const OfferedKernels& offered) const;
  descriptor::LayerStages predict_layer(const descriptor::ColdNetwork& network, const descriptor::ColdLayer& layer,
                                        const OfferedKernels& offered) const;
  double predict(const Kernel& kernel, Stage stage, const LayerMeasures& layer) const;

  std::vector<std::vector<LayerMeasures>> measures_;  ///< of each file's layers
  std::vector<Row> layers_;                           ///< the first kernel of each measured layer
  std::vector<Row> plain_layers_;                     ///< those without weights
  std::map<std::string, Kernel> kernels_;
  std::map<Stage, StageModel> reading_;  ///< read_raw, read_cached and write_cached
  double once_ms_ = 0;                   ///< of the kernels that cost something once
  StageModel starting_;                  ///< by the number of layers
  descriptor::Interference interference_;
};

}  // namespace tenshot::trainer::cold_stages
