#include "trainer/predictors/kernels/kernel_model.h"

#include <algorithm>
#include <cmath>

#include "nasbench/kernels/kernel_network.h"
#include "nasbench/kernels/kernel_search.h"
#include "nasbench/support/error.h"
#include "trainer/predictors/kernels/operation_features.h"

namespace tenshot::trainer::kernels {
namespace {

using nasbench::OperatorSpecification;

double elements_moved(const OperatorSpecification& op) {
  double elements = static_cast<double>(nasbench::element_count(op.output));
  for (const nasbench::Shape& shape : op.inputs) elements += static_cast<double>(nasbench::element_count(shape));
  return elements;
}

/// A forest that has been trained or read.
class ForestLearner : public LatencyLearner {
 public:
  explicit ForestLearner(TreeEnsemble trees) : trees_(std::move(trees)) {}
  double predict_ms(const std::vector<double>& features) const override {
    const std::vector<float> row(features.begin(), features.end());
    return std::exp(trees_.predict(row.data()));
  }

 private:
  TreeEnsemble trees_;
};

std::map<std::string, LatencyRows> rows_of(const std::vector<KernelSample>& samples) {
  if (samples.empty()) throw InputError("a predictor by kernels needs at least one measured kernel");
  std::map<std::string, LatencyRows> rows;
  for (const KernelSample& sample : samples) {
    if (!(sample.latency_ms > 0) || !std::isfinite(sample.latency_ms)) {
      throw InputError("a kernel '" + sample.kernel + "' takes " + std::to_string(sample.latency_ms) +
                       " ms, expected a positive number");
    }
    LatencyRows& of_type = rows[sample.kernel];
    of_type.features.push_back(operation_features(sample.leading));
    of_type.latency_ms.push_back(sample.latency_ms);
  }
  return rows;
}

const OperatorSpecification& leading_of(const std::vector<KernelSample>& samples, const std::string& type) {
  return std::find_if(samples.begin(), samples.end(), [&](const KernelSample& s) { return s.kernel == type; })->leading;
}

KernelForest forest_of(const LatencyRows& rows, const std::string& category, std::uint64_t seed) {
  KernelForest forest{category, rows.features.front().size(), 0, {}};
  std::vector<float> features;
  std::vector<double> targets;
  for (std::size_t i = 0; i < rows.latency_ms.size(); ++i) {
    features.insert(features.end(), rows.features[i].begin(), rows.features[i].end());
    targets.push_back(std::log(rows.latency_ms[i]));
  }
  TreeOptions options;
  options.seed = seed;
  forest.trees = train_trees(features, forest.width, targets, {}, options);
  return forest;
}

}  // namespace

double work_of(const OperatorSpecification& operation) {
  return static_cast<double>(nasbench::multiply_adds(operation)) + elements_moved(operation);
}

std::vector<NetworkKernel> kernels_of(const nasbench::Network& network, const nasbench::FusionRules& rules) {
  std::vector<NetworkKernel> kernels;
  for (const nasbench::Kernel& kernel : find_kernels(network, rules)) {
    const OperatorSpecification& leading = leading_operator(network, kernel);
    if (leading.kind == nasbench::OperatorKind::reshape && kernel.nodes.size() == 1) continue;
    kernels.push_back({kernel_type(network, kernel), leading});
  }
  return kernels;
}

KernelModel::KernelModel(const std::vector<KernelSample>& samples, double call_ms, std::uint64_t seed)
    : call_ms_(call_ms) {
  for (const auto& [type, rows] : rows_of(samples)) {
    KernelForest forest = forest_of(rows, operation_category(leading_of(samples, type)), seed);
    for (const KernelSample& sample : samples) {
      if (sample.kernel == type) forest.largest_work = std::max(forest.largest_work, work_of(sample.leading));
    }
    add(type, std::move(forest), rows.latency_ms.size());
  }
  learn_what_moving_costs(samples);
}

KernelModel::KernelModel(const std::vector<KernelSample>& samples, double call_ms, const TrainLearner& train)
    : call_ms_(call_ms) {
  for (const auto& [type, rows] : rows_of(samples)) {
    types_[type] = {operation_category(leading_of(samples, type)), train(rows), rows.latency_ms.size()};
  }
  learn_what_moving_costs(samples);
}

KernelModel::KernelModel(std::map<std::string, KernelForest> forests, double call_ms, double ms_per_element)
    : call_ms_(call_ms), ms_per_element_(ms_per_element) {
  for (auto& [type, forest] : forests) {
    const std::size_t width = feature_names(forest.category).size();
    if (forest.width != width) {
      throw FormatError("the forest of '" + type + "' takes " + std::to_string(forest.width) + " features, a " +
                        forest.category + " has " + std::to_string(width));
    }
    add(type, std::move(forest), 1);
  }
}

void KernelModel::add(const std::string& type, KernelForest forest, std::size_t samples) {
  types_[type] = {forest.category, std::make_shared<ForestLearner>(forest.trees), samples};
  forests_[type] = std::move(forest);
}

void KernelModel::learn_what_moving_costs(const std::vector<KernelSample>& samples) {
  std::vector<double> rates;
  for (const KernelSample& sample : samples) rates.push_back(sample.latency_ms / elements_moved(sample.leading));
  const auto middle = rates.begin() + static_cast<std::ptrdiff_t>(rates.size() / 2);
  std::nth_element(rates.begin(), middle, rates.end());
  ms_per_element_ = *middle;
}

KernelPrediction KernelModel::kernel(const NetworkKernel& kernel) const {
  const std::string category = operation_category(kernel.leading);
  const auto of_type = [&](const std::string& type) -> const Type* {
    const auto found = types_.find(type);
    return found != types_.end() && found->second.category == category ? &found->second : nullptr;
  };
  const std::vector<double> features = operation_features(kernel.leading);
  if (const Type* type = of_type(kernel.kernel)) {
    return {type->learner->predict_ms(features), KernelOrigin::measured_type};
  }
  // What the kernel begins with, one operator less at a time; then the type of its category that was measured most.
  std::string shorter = kernel.kernel;
  for (std::size_t end; (end = shorter.rfind("++")) != std::string::npos;) {
    shorter.resize(end);
    if (const Type* type = of_type(shorter)) return {type->learner->predict_ms(features), KernelOrigin::stand_in};
  }
  const Type* most = nullptr;
  for (const auto& [name, type] : types_) {
    if (type.category == category && (most == nullptr || type.samples > most->samples)) most = &type;
  }
  if (most != nullptr) return {most->learner->predict_ms(features), KernelOrigin::stand_in};
  return {ms_per_element_ * elements_moved(kernel.leading), KernelOrigin::unknown};
}

double KernelModel::network_ms(const std::vector<NetworkKernel>& kernels) const {
  double sum = call_ms_;
  for (const NetworkKernel& each : kernels) sum += kernel(each).latency_ms;
  return sum;
}

}  // namespace tenshot::trainer::kernels
