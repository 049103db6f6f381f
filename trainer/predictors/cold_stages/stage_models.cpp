#include "trainer/predictors/cold_stages/stage_models.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "nasbench/graph/operator_specification.h"
#include "nasbench/support/error.h"
#include "nasbench/support/median.h"

namespace tenshot::trainer::cold_stages {
namespace {

using descriptor::ColdLayer;
using descriptor::ColdNetwork;
using descriptor::ColdStages;
using descriptor::KernelStages;
using descriptor::LayerStages;

bool is_of_a_file(Stage stage) {
  return stage == Stage::read_raw || stage == Stage::read_cached || stage == Stage::write_cached;
}

/// A number of layers in the place of bytes.
LayerMeasures measures_of_start(std::size_t layers) { return measures_of_reading(layers * 1'000'000); }

std::uint64_t raw_bytes_of(const ColdNetwork& network, const ColdLayer& layer) {
  if (!layer.has_weights()) return 0;
  const nasbench::Shape shape = weight_shape(network, layer);
  return sizeof(float) * static_cast<std::uint64_t>(nasbench::element_count(shape) + shape.front());
}

/// Layers that compute the same have one number: that of the first of them.
void number_shapes(const ColdNetwork& network, std::vector<LayerStages>& layers) {
  std::map<std::string, std::size_t> first;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    layers[i].shape = static_cast<int>(first.emplace(shape_key(network, network.layers[i]), i).first->second);
  }
}

/// Times of equally many layers, which a model is fitted to.
struct Samples {
  std::vector<LayerMeasures> layers;
  std::vector<double> ms;
  StageModel model(Learner learner) const {
    std::vector<const LayerMeasures*> pointers;
    for (const LayerMeasures& layer : layers) pointers.push_back(&layer);
    return {pointers, ms, learner};
  }
};

StageModel model_of_starts(const std::vector<const ColdStages*>& files) {
  Samples samples;
  for (const ColdStages* file : files) {
    samples.layers.push_back(measures_of_start(file->layers.size()));
    samples.ms.push_back(file->start_ms);
  }
  return samples.model(Learner::operators);
}

}  // namespace

std::string_view name(Stage stage) {
  constexpr std::array<std::string_view, stage_count> names = {"read raw", "read cached",  "write cached", "transform",
                                                               "create",   "create again", "first",        "execute"};
  return names[static_cast<std::size_t>(stage)];
}

double& time_of(LayerStages& layer, KernelStages& kernel, Stage stage) {
  switch (stage) {
    case Stage::read_raw: return layer.read_raw_ms;
    case Stage::read_cached: return kernel.read_cached_ms;
    case Stage::write_cached: return kernel.write_cached_ms;
    case Stage::transform: return kernel.transform_ms;
    case Stage::create: return kernel.create_ms;
    case Stage::create_again: return kernel.create_again_ms;
    case Stage::first: return kernel.first_ms;
    case Stage::execute: break;
  }
  return kernel.execute_ms;
}

double time_of(const LayerStages& layer, const KernelStages& kernel, Stage stage) {
  return time_of(const_cast<LayerStages&>(layer), const_cast<KernelStages&>(kernel), stage);
}

StageModels::StageModels(const std::vector<const ColdStages*>& files, const Learners& learners)
    : starting_(model_of_starts(files)) {
  measures_.reserve(files.size());  // rows point into them
  std::vector<double> once, preparing, executing;
  for (const ColdStages* file : files) {
    read(*file);
    preparing.push_back(file->interference.preparing);
    executing.push_back(file->interference.executing);
    double most = 0;
    for (const LayerStages& layer : file->layers) {
      for (const KernelStages& kernel : layer.kernels) most = std::max(most, kernel.once_ms);
    }
    if (most > 0) once.push_back(most);
  }
  interference_ = {median(std::move(preparing)), median(std::move(executing))};
  if (!once.empty()) once_ms_ = median(std::move(once));
  learn(learners);
}

void StageModels::read(const ColdStages& file) {
  measures_.emplace_back();
  std::vector<LayerMeasures>& measures = measures_.back();
  for (const ColdLayer& layer : file.network.layers) measures.push_back(measures_of(file.network, layer));
  for (std::size_t i = 0; i < file.layers.size(); ++i) {
    const LayerStages& layer = file.layers[i];
    for (const KernelStages& kernel : layer.kernels)
      kernels_[kernel.name].rows.push_back({&measures[i], &layer, &kernel});
    layers_.push_back({&measures[i], &layer, &layer.kernels.front()});
    if (layer.raw_bytes == 0) plain_layers_.push_back(layers_.back());
  }
}

void StageModels::learn(const Learners& learners) {
  std::map<Stage, Samples> reading;
  for (auto& [name, kernel] : kernels_) {
    for (const Stage stage : all_stages) {
      if (is_of_a_file(stage)) continue;
      std::vector<const LayerMeasures*> layers;
      std::vector<double> ms;
      for (const Row& row : kernel.rows) {
        if (stage == Stage::transform && !row.kernel->transforms) continue;
        layers.push_back(row.layer);
        ms.push_back(time_of(*row.stages, *row.kernel, stage));
      }
      if (ms.empty()) continue;
      kernel.models.emplace(stage, StageModel(layers, ms, learners[static_cast<std::size_t>(stage)]));
    }
    for (const Row& row : kernel.rows) {
      if (!row.kernel->transforms) continue;
      for (const Stage stage : {Stage::read_cached, Stage::write_cached}) {
        reading[stage].layers.push_back(measures_of_reading(row.kernel->cached_bytes));
        reading[stage].ms.push_back(time_of(*row.stages, *row.kernel, stage));
      }
    }
  }
  for (const Row& row : layers_) {
    if (row.stages->raw_bytes == 0) continue;
    reading[Stage::read_raw].layers.push_back(measures_of_reading(row.stages->raw_bytes));
    reading[Stage::read_raw].ms.push_back(row.stages->read_raw_ms);
  }
  for (const auto& [stage, samples] : reading) {
    reading_.emplace(stage, samples.model(learners[static_cast<std::size_t>(stage)]));
  }
}

const StageModels::Row& StageModels::nearest(const std::vector<Row>& rows, const LayerMeasures& layer) const {
  return *std::min_element(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
    return distance(*a.layer, layer) < distance(*b.layer, layer);
  });
}

std::vector<StageModels::Likeness> StageModels::kernels_for(const ColdNetwork& network, const ColdLayer& layer,
                                                            const LayerMeasures& measures,
                                                            const OfferedKernels& offered) const {
  const std::vector<std::string> names = offered ? offered(network, layer) : std::vector<std::string>();
  std::vector<Likeness> known;
  for (const std::string& name : names) {
    if (kernels_.count(name) != 0) known.push_back({name, name});
  }
  if (!known.empty()) return known;
  const bool plain = !layer.has_weights() && !plain_layers_.empty();
  const Row& like = nearest(plain ? plain_layers_ : layers_, measures);
  if (!offered && like.layer->group == measures.group) {
    for (const KernelStages& kernel : like.stages->kernels) known.push_back({kernel.name, kernel.name});
  } else if (plain) {
    known = {{names.empty() ? like.kernel->name : names.front(), like.kernel->name}};
  } else {
    throw InputError("layer '" + layer.name + "': none of its kernels is in the measured stages; measure a network " +
                     "with such a layer too");
  }
  return known;
}

double StageModels::predict(const Kernel& kernel, Stage stage, const LayerMeasures& layer) const {
  const auto model = kernel.models.find(stage);
  return model == kernel.models.end() ? 0 : model->second.predict(layer);
}

LayerStages StageModels::predict_layer(const ColdNetwork& network, const ColdLayer& layer,
                                       const OfferedKernels& offered) const {
  constexpr double hopeless = 8, small_ms = 1;
  const LayerMeasures measures = measures_of(network, layer);
  LayerStages stages;
  stages.raw_bytes = raw_bytes_of(network, layer);
  const auto reading = [&](Stage stage, std::uint64_t bytes) {
    const auto model = reading_.find(stage);
    return model == reading_.end() || bytes == 0 ? 0 : model->second.predict(measures_of_reading(bytes));
  };
  stages.read_raw_ms = reading(Stage::read_raw, stages.raw_bytes);
  double fastest = std::numeric_limits<double>::infinity();
  for (const auto& [name, costs_as] : kernels_for(network, layer, measures, offered)) {
    const Kernel& known = kernels_.at(costs_as);
    const Row& like = nearest(known.rows, measures);
    KernelStages kernel;
    kernel.name = name;
    kernel.transforms = like.kernel->transforms && stages.raw_bytes > 0;
    if (kernel.transforms) {
      const double growth = static_cast<double>(like.kernel->cached_bytes) /
                            static_cast<double>(std::max<std::uint64_t>(1, like.stages->raw_bytes));
      kernel.cached_bytes = static_cast<std::uint64_t>(growth * static_cast<double>(stages.raw_bytes));
      kernel.read_cached_ms = reading(Stage::read_cached, kernel.cached_bytes);
      kernel.write_cached_ms = reading(Stage::write_cached, kernel.cached_bytes);
      kernel.transform_ms = predict(known, Stage::transform, measures);
    }
    kernel.create_ms = predict(known, Stage::create, measures);
    kernel.create_again_ms = std::min(kernel.create_ms, predict(known, Stage::create_again, measures));
    kernel.first_ms = predict(known, Stage::first, measures);
    kernel.execute_ms = predict(known, Stage::execute, measures);
    if (like.kernel->once_ms > 0) kernel.once_ms = once_ms_;
    fastest = std::min(fastest, kernel.execute_ms);
    stages.kernels.push_back(std::move(kernel));
  }
  stages.kernels.erase(std::remove_if(stages.kernels.begin(), stages.kernels.end(),
                                      [&](const KernelStages& kernel) {
                                        return kernel.execute_ms > std::max(small_ms, hopeless * fastest);
                                      }),
                       stages.kernels.end());
  return stages;
}

ColdStages StageModels::predict(const ColdNetwork& network, const OfferedKernels& offered) const {
  ColdStages stages;
  stages.network = network;
  stages.interference = interference_;
  stages.start_ms = starting_.predict(measures_of_start(network.layers.size()));
  for (const ColdLayer& layer : network.layers) stages.layers.push_back(predict_layer(network, layer, offered));
  number_shapes(network, stages.layers);
  return stages;
}

}  // namespace tenshot::trainer::cold_stages
