#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "nasbench/graph/operator_specification.h"
#include "nasbench/support/error.h"
#include "nasbench/support/median.h"
#include "trainer/core/nnls.h"
#include "trainer/predictors/cold_stages/cold_predictor.h"

namespace tenshot::trainer::cold_stages {
namespace {

using descriptor::ColdLayer;
using descriptor::ColdNetwork;
using descriptor::ColdStages;
using descriptor::KernelStages;
using nasbench::OperatorKind;

/// In the order of ColdKind; of slices and reshapes the engine makes copies, since images lie channels last.
constexpr OperatorKind operator_kinds[] = {
    OperatorKind::convolution, OperatorKind::linear,  OperatorKind::max_pool, OperatorKind::average_pool,
    OperatorKind::activation,  OperatorKind::add,     OperatorKind::multiply, OperatorKind::concatenate,
    OperatorKind::split,       OperatorKind::shuffle, OperatorKind::softmax,  OperatorKind::split};
static_assert(std::size(operator_kinds) == static_cast<std::size_t>(descriptor::ColdKind::reshape) + 1);

nasbench::OperatorSpecification specification_of(const ColdNetwork& network, const ColdLayer& layer) {
  nasbench::OperatorSpecification specification;
  specification.kind = operator_kinds[static_cast<std::size_t>(layer.kind)];
  specification.name = layer.activation.name;
  specification.kernel = layer.kernel;
  specification.stride = layer.stride;
  specification.dilation = layer.dilation;
  specification.groups = layer.groups;
  specification.bias = layer.has_weights();
  for (const int input : layer.inputs) specification.inputs.push_back(shape_of(network, input));
  specification.output = shape_of(network, layer.output);
  return specification;
}

float logarithm(double value) { return static_cast<float>(std::log(value + 1e-6)); }

constexpr double least_ms = 1e-4;
constexpr std::size_t fewest_of_a_forest = 12;

Eigen::VectorXd costs_of(const std::vector<LayerMeasures>& layers, const Eigen::VectorXd& ms) {
  const auto width = static_cast<Eigen::Index>(layers.front().measures.size());
  Eigen::MatrixXd measures(ms.size(), width);
  for (Eigen::Index row = 0; row < ms.size(); ++row) {
    measures.row(row) =
        Eigen::Map<const Eigen::RowVectorXd>(layers[static_cast<std::size_t>(row)].measures.data(), width);
  }
  return relative_non_negative_least_squares(measures, ms);
}

TreeEnsemble forest_of(const std::vector<LayerMeasures>& layers, const Eigen::VectorXd& ms) {
  TreeOptions options;
  options.trees = 20;
  options.depth = 7;
  options.smallest_leaf = 3;
  options.feature_share = 0.5;
  std::vector<float> splits;
  std::vector<double> logarithms;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    splits.insert(splits.end(), layers[i].splits.begin(), layers[i].splits.end());
    logarithms.push_back(std::log(ms(static_cast<Eigen::Index>(i))));
  }
  return train_trees(splits, layers.front().splits.size(), logarithms, {}, options);
}

/// Reading so many bytes of a file, which depends on nothing else.
LayerMeasures measures_of_reading(std::uint64_t bytes) {
  const double megabytes = static_cast<double>(bytes) / 1e6;
  return {"reading", {1, 0, 0, 0, megabytes}, {logarithm(megabytes)}};
}

/// How unlike two layers are: the squared distance of their logarithms, and more where they are of unlike groups.
double distance(const LayerMeasures& a, const LayerMeasures& b) {
  constexpr double unlike_groups = 1000;
  double sum = a.group == b.group ? 0 : unlike_groups;
  for (std::size_t i = 0; i < a.splits.size(); ++i) {
    const double difference = a.splits[i] - b.splits[i];
    sum += difference * difference;
  }
  return sum;
}

/// A number of layers in the place of bytes.
LayerMeasures measures_of_start(std::size_t layers) { return measures_of_reading(layers * 1'000'000); }

template <class Row>
const Row& nearest(const std::vector<Row>& rows, const LayerMeasures& layer) {
  return *std::min_element(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
    return distance(a.layer, layer) < distance(b.layer, layer);
  });
}

}  // namespace

LayerMeasures measures_of(const ColdNetwork& network, const ColdLayer& layer) {
  constexpr double million = 1e6;
  const nasbench::OperatorSpecification specification = specification_of(network, layer);
  LayerMeasures measures;
  measures.group = operators::operator_group_name(operators::operator_group_index(specification));
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

StageModel::StageModel(const StageTimes& times, Learner learner) {
  const Eigen::VectorXd ms =
      Eigen::Map<const Eigen::VectorXd>(times.ms.data(), static_cast<Eigen::Index>(times.ms.size())).cwiseMax(least_ms);
  if (learner == Learner::forest && times.layers.size() >= fewest_of_a_forest) {
    forest_ = forest_of(times.layers, ms);
  } else {
    costs_ = costs_of(times.layers, ms);
  }
  double predicted = 0;
  for (const LayerMeasures& layer : times.layers) predicted += predict(layer);
  if (predicted > 0) scale_ = ms.sum() / predicted;
}

double StageModel::predict(const LayerMeasures& layer) const {
  if (!forest_.trees.empty()) return scale_ * std::exp(forest_.predict(layer.splits.data()));
  return scale_ *
         std::max(least_ms, std::inner_product(layer.measures.begin(), layer.measures.end(), costs_.data(), 0.0));
}

StageModels::StageModels(const std::vector<const ColdStages*>& files, const Learners& learners) {
  StageTimes starts;
  std::map<std::pair<std::string, Stage>, StageTimes> times;
  std::vector<double> once, preparing, executing;
  for (const ColdStages* file : files) {
    starts.add(measures_of_start(file->layers.size()), file->start_ms);
    preparing.push_back(file->interference.preparing);
    executing.push_back(file->interference.executing);
    double most = 0;
    for (std::size_t i = 0; i < file->layers.size(); ++i) {
      const LayerMeasures measures = measures_of(file->network, file->network.layers[i]);
      const descriptor::LayerStages& layer = file->layers[i];
      for (const KernelStages& kernel : layer.kernels) {
        kernels_[kernel.name].push_back({measures, &layer, &kernel});
        most = std::max(most, kernel.once_ms);
      }
      layers_.push_back({measures, &layer, &layer.kernels.front()});
      if (layer.raw_bytes == 0) {
        plain_layers_.push_back(layers_.back());
      } else {
        times[{"", Stage::read_raw}].add(measures_of_reading(layer.raw_bytes), layer.read_raw_ms);
      }
    }
    if (most > 0) once.push_back(most);
  }
  starting_.emplace(starts, Learner::operators);
  interference_ = {median(std::move(preparing)), median(std::move(executing))};
  if (!once.empty()) once_ms_ = median(std::move(once));
  for (const auto& [name, rows] : kernels_) {
    for (const Row& row : rows) {
      for (const Stage stage : all_stages) {
        const bool of_a_file = stage == Stage::read_cached || stage == Stage::write_cached;
        const bool of_transformed = of_a_file || stage == Stage::transform;
        if (stage == Stage::read_raw || (of_transformed && !row.kernel->transforms)) continue;
        times[{of_a_file ? "" : name, stage}].add(of_a_file ? measures_of_reading(row.kernel->cached_bytes) : row.layer,
                                                  time_of(*row.stages, *row.kernel, stage));
      }
    }
  }
  for (const auto& [of, own] : times)
    models_.emplace(of, StageModel(own, learners[static_cast<std::size_t>(of.second)]));
}

double StageModels::predicted_ms(const std::string& kernel, Stage stage, const LayerMeasures& layer) const {
  const auto model = models_.find({kernel, stage});
  return model == models_.end() ? 0 : model->second.predict(layer);
}

StageModels::Likenesses StageModels::kernels_for(const ColdNetwork& network, const ColdLayer& layer,
                                                 const LayerMeasures& measures, const OfferedKernels& offered) const {
  const std::vector<std::string> names = offered ? offered(network, layer) : std::vector<std::string>();
  Likenesses known;
  for (const std::string& name : names) {
    if (kernels_.count(name) != 0) known.emplace_back(name, name);
  }
  if (!known.empty()) return known;
  const bool plain = !layer.has_weights() && !plain_layers_.empty();
  const Row& like = nearest(plain ? plain_layers_ : layers_, measures);
  if (!offered && like.layer.group == measures.group) {
    for (const KernelStages& kernel : like.stages->kernels) known.emplace_back(kernel.name, kernel.name);
  } else if (plain) {
    known = {{names.empty() ? like.kernel->name : names.front(), like.kernel->name}};
  } else {
    throw InputError("layer '" + layer.name + "': none of its kernels is in the measured stages; measure a network " +
                     "with such a layer too");
  }
  return known;
}

descriptor::LayerStages StageModels::predict_layer(const ColdNetwork& network, const ColdLayer& layer,
                                                   const OfferedKernels& offered) const {
  constexpr double hopeless = 8, small_ms = 1;
  const LayerMeasures measures = measures_of(network, layer);
  descriptor::LayerStages stages;
  if (layer.has_weights()) {
    const nasbench::Shape shape = weight_shape(network, layer);
    stages.raw_bytes = sizeof(float) * static_cast<std::uint64_t>(nasbench::element_count(shape) + shape.front());
  }
  const auto reading = [&](Stage stage, std::uint64_t bytes) {
    return bytes == 0 ? 0 : predicted_ms("", stage, measures_of_reading(bytes));
  };
  stages.read_raw_ms = reading(Stage::read_raw, stages.raw_bytes);
  double fastest = std::numeric_limits<double>::infinity();
  for (const auto& [name, costs_as] : kernels_for(network, layer, measures, offered)) {
    const Row& like = nearest(kernels_.at(costs_as), measures);
    KernelStages& kernel = stages.kernels.emplace_back();
    kernel.name = name;
    kernel.transforms = like.kernel->transforms && stages.raw_bytes > 0;
    if (kernel.transforms) {
      const double growth = static_cast<double>(like.kernel->cached_bytes) /
                            static_cast<double>(std::max<std::uint64_t>(1, like.stages->raw_bytes));
      kernel.cached_bytes = static_cast<std::uint64_t>(growth * static_cast<double>(stages.raw_bytes));
      kernel.read_cached_ms = reading(Stage::read_cached, kernel.cached_bytes);
      kernel.write_cached_ms = reading(Stage::write_cached, kernel.cached_bytes);
      kernel.transform_ms = predicted_ms(costs_as, Stage::transform, measures);
    }
    kernel.create_ms = predicted_ms(costs_as, Stage::create, measures);
    kernel.create_again_ms = std::min(kernel.create_ms, predicted_ms(costs_as, Stage::create_again, measures));
    kernel.first_ms = predicted_ms(costs_as, Stage::first, measures);
    kernel.execute_ms = predicted_ms(costs_as, Stage::execute, measures);
    if (like.kernel->once_ms > 0) kernel.once_ms = once_ms_;
    fastest = std::min(fastest, kernel.execute_ms);
  }
  const auto is_hopeless = [&](const KernelStages& kernel) {
    return kernel.execute_ms > std::max(small_ms, hopeless * fastest);
  };
  stages.kernels.erase(std::remove_if(stages.kernels.begin(), stages.kernels.end(), is_hopeless), stages.kernels.end());
  return stages;
}

ColdStages StageModels::predict(const ColdNetwork& network, const OfferedKernels& offered) const {
  ColdStages stages;
  stages.network = network;
  stages.interference = interference_;
  stages.start_ms = starting_->predict(measures_of_start(network.layers.size()));
  std::map<std::string, int> shapes;  // layers that compute the same have one number: that of the first of them
  for (const ColdLayer& layer : network.layers) {
    const int shape = shapes.emplace(shape_key(network, layer), static_cast<int>(stages.layers.size())).first->second;
    stages.layers.push_back(predict_layer(network, layer, offered));
    stages.layers.back().shape = shape;
  }
  return stages;
}

}  // namespace tenshot::trainer::cold_stages
