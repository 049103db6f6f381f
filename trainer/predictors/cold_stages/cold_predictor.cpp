#include "trainer/predictors/cold_stages/cold_predictor.h"

#include <cmath>
#include <filesystem>
#include <numeric>

#include "nasbench/support/error.h"
#include "nasbench/support/quantiles.h"
#include "nasbench/support/words.h"

namespace tenshot::trainer::cold_stages {
namespace {

using descriptor::ColdStages;

constexpr std::size_t most_folds = 4;

Learners all(Learner learner) {
  Learners learners;
  learners.fill(learner);
  return learners;
}

/// Which fold each file is held out in: families stay together, and files do where there is one family alone.
std::vector<std::size_t> folds_of(const std::vector<ColdStages>& files) {
  std::map<std::string, std::size_t> families;
  std::vector<std::size_t> folds;
  for (const ColdStages& file : files)
    folds.push_back(families.emplace(family_of(file.model), families.size()).first->second);
  for (std::size_t i = 0; i < folds.size(); ++i) folds[i] = (families.size() > 1 ? folds[i] : i) % most_folds;
  return folds;
}

OfferedKernels kernels_of(const ColdStages& file) {
  return [&file](const descriptor::ColdNetwork& network, const descriptor::ColdLayer& layer) {
    const auto i = static_cast<std::size_t>(&layer - network.layers.data());
    std::vector<std::string> names;
    for (const descriptor::KernelStages& kernel : file.layers[i].kernels) names.push_back(kernel.name);
    return names;
  };
}

/// A network as it is predicted by those of other families.
struct HeldOut {
  const ColdStages* measured;
  ColdStages by_operators, by_forest;
};

std::vector<HeldOut> hold_out(const std::vector<ColdStages>& files) {
  const std::vector<std::size_t> folds = folds_of(files);
  std::vector<HeldOut> networks;
  for (std::size_t fold = 0; fold < most_folds; ++fold) {
    std::vector<const ColdStages*> known, held_out;
    for (std::size_t i = 0; i < folds.size(); ++i) (folds[i] == fold ? held_out : known).push_back(&files[i]);
    if (known.empty() || held_out.empty()) continue;
    const StageModels operators(known, all(Learner::operators));
    const StageModels forest(known, all(has_xgboost() ? Learner::forest : Learner::operators));
    for (const ColdStages* file : held_out) {
      try {
        networks.push_back({file, operators.predict(file->network, kernels_of(*file)),
                            forest.predict(file->network, kernels_of(*file))});
      } catch (const InputError&) {  // a layer of a kind that the others lack says nothing about the rest
      }
    }
  }
  return networks;
}

/// Calls `visit` with each kernel of `one` and its layer, and the kernel of that name and the same layer of `other`.
template <class Stages, class Visit>
void for_same_kernels(Stages& one, const ColdStages& other, const Visit& visit) {
  for (std::size_t i = 0; i < one.layers.size(); ++i) {
    for (auto& kernel : one.layers[i].kernels) {
      for (const descriptor::KernelStages& same : other.layers[i].kernels) {
        if (same.name == kernel.name) visit(one.layers[i], kernel, other.layers[i], same);
      }
    }
  }
}

/// How far the sum of one stage over all kernels that were predicted is off: of its logarithm.
double error_of_sum(const ColdStages& predicted, const ColdStages& measured, Stage stage) {
  double sum = 0, truth = 0;
  for_same_kernels(predicted, measured,
                   [&](const auto& layer, const auto& kernel, const auto& other, const auto& same) {
                     if (same.transforms != kernel.transforms) return;
                     sum += time_of(layer, kernel, stage);
                     truth += time_of(other, same, stage);
                   });
  return sum > 0 && truth > 0 ? std::abs(std::log(sum / truth)) : 0;
}

Learners chosen_learners(const std::vector<HeldOut>& networks) {
  Learners learners = all(Learner::operators);
  for (const Stage stage : all_stages) {
    double of_operators = 0, of_forest = 0;
    for (const HeldOut& network : networks) {
      of_operators += error_of_sum(network.by_operators, *network.measured, stage);
      of_forest += error_of_sum(network.by_forest, *network.measured, stage);
    }
    if (of_forest < of_operators) learners[static_cast<std::size_t>(stage)] = Learner::forest;
  }
  return learners;
}

/// A network's stages, each by its learner. Kernels that the forest has not keep what operators say.
ColdStages combined(const HeldOut& network, const Learners& learners) {
  ColdStages stages = network.by_operators;
  for_same_kernels(stages, network.by_forest, [&](auto& layer, auto& kernel, const auto& other, const auto& same) {
    for (const Stage stage : all_stages) {
      if (learners[static_cast<std::size_t>(stage)] != Learner::forest) continue;
      time_of(layer, kernel, stage) = time_of(other, same, stage);
    }
  });
  return stages;
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Whether the mean of the other families' means brings a family's predictions nearer, on average over families.
bool mean_transfers(const std::vector<std::vector<double>>& errors, const std::vector<double>& means) {
  const double sum = std::accumulate(means.begin(), means.end(), 0.0);
  double without = 0, with = 0;
  for (std::size_t f = 0; f < errors.size(); ++f) {
    const double of_others = (sum - means[f]) / static_cast<double>(errors.size() - 1);
    std::vector<double> before, after;
    for (const double error : errors[f]) {
      before.push_back(std::abs(error));
      after.push_back(std::abs(error - of_others));
    }
    without += mean(before);
    with += mean(after);
  }
  return with < without;
}

}  // namespace

std::string family_of(const std::string& model) {
  const std::string name = lower_case(std::filesystem::path(model).stem().string());
  return name.substr(0, name.find_first_not_of("abcdefghijklmnopqrstuvwxyz"));
}

const std::string& machine_of(const std::vector<ColdStages>& measured) {
  if (measured.empty()) throw InputError("cold starts are predicted from measured stages, and there are none");
  const std::string& machine = measured.front().machine;
  for (const ColdStages& file : measured) {
    if (file.machine == machine) continue;
    throw InputError("the stages are of unlike machines: '" + machine + "' and '" + file.machine + "'");
  }
  return machine;
}

PredictedStart predict_cold_start(const descriptor::ColdNetwork& network, const OfferedKernels& offered,
                                  const std::vector<ColdStages>& measured, const ColdPlanOptions& plan) {
  PredictedStart start;
  const std::string& machine = machine_of(measured);
  const std::vector<HeldOut> held_out = hold_out(measured);
  start.learners = chosen_learners(held_out);
  ColdPlanOptions quick = plan;
  quick.quick = true;
  std::map<std::string, std::vector<double>> errors;
  for (const HeldOut& other : held_out) {
    const descriptor::ColdPlan planned = plan_cold_start(combined(other, start.learners), quick).plan;
    try {
      const double cold_ms = predicted_cold_ms(*other.measured, planned);
      errors[family_of(other.measured->model)].push_back(std::log(cold_ms / planned.predicted_ms));
      ++start.held_out;
    } catch (const InputError&) {  // a kernel that transforms here and did not there
    }
  }
  std::vector<std::vector<double>> of_families;
  for (auto& [family, own] : errors) of_families.push_back(std::move(own));
  const FamilyError error = error_of_new_family(std::move(of_families));
  std::vector<const ColdStages*> files;
  for (const ColdStages& file : measured) files.push_back(&file);
  start.stages = StageModels(files, start.learners).predict(network, offered);
  start.stages.machine = machine;
  start.planning = plan_cold_start(start.stages, plan);
  start.factor = std::exp(error.middle);
  start.cold_ms = start.factor * start.planning.plan.predicted_ms;
  start.low_ms = start.cold_ms * std::exp(-error.spread);
  start.high_ms = start.cold_ms * std::exp(error.spread);
  return start;
}

FamilyError error_of_new_family(std::vector<std::vector<double>> errors) {
  if (errors.empty()) return {};
  if (errors.size() == 1) {
    const std::vector<double> networks = std::move(errors.front());
    errors.clear();
    for (const double error : networks) errors.push_back({error});
  }
  std::vector<double> means;
  double within = 0, networks = 0, inverse_sizes = 0;
  for (const std::vector<double>& family : errors) {
    means.push_back(mean(family));
    for (const double error : family) within += (error - means.back()) * (error - means.back());
    networks += static_cast<double>(family.size());
    inverse_sizes += 1 / static_cast<double>(family.size());
  }
  const auto families = static_cast<double>(errors.size());
  if (errors.size() == 1) return {0, t_quantile(0.95, 1) * std::abs(means.front())};
  if (networks > families) within /= networks - families;
  FamilyError error;
  if (mean_transfers(errors, means)) error.middle = mean(means);
  double between = 0;
  for (const double one : means) between += (one - error.middle) * (one - error.middle);
  between /= families - 1;
  within *= 1 - inverse_sizes / families;  // means of few networks vary by the rest already
  error.spread = t_quantile(0.95, errors.size() - 1) * std::sqrt(between * (1 + 1 / families) + within);
  return error;
}

}  // namespace tenshot::trainer::cold_stages
