#include "trainer/predictors/cold_stages/cold_predictor.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <numeric>

#include "nasbench/support/error.h"
#include "nasbench/support/quantiles.h"

namespace tenshot::trainer::cold_stages {
namespace {

using descriptor::ColdNetwork;
using descriptor::ColdStages;
using descriptor::KernelStages;

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
  return [&file](const ColdNetwork& network, const descriptor::ColdLayer& layer) {
    const auto i = static_cast<std::size_t>(&layer - network.layers.data());
    std::vector<std::string> names;
    for (const KernelStages& kernel : file.layers[i].kernels) names.push_back(kernel.name);
    return names;
  };
}

/// Sum of one stage over all kernels that were predicted, as predicted and as measured.
std::pair<double, double> sums_of(const ColdStages& predicted, const ColdStages& measured, Stage stage) {
  std::pair<double, double> sums = {0, 0};
  for (std::size_t i = 0; i < predicted.layers.size(); ++i) {
    for (const KernelStages& kernel : predicted.layers[i].kernels) {
      for (const KernelStages& other : measured.layers[i].kernels) {
        if (other.name != kernel.name || other.transforms != kernel.transforms) continue;
        sums.first += time_of(predicted.layers[i], kernel, stage);
        sums.second += time_of(measured.layers[i], other, stage);
      }
    }
  }
  return sums;
}

/// Stages of `one`, with those that another learner predicts better taken from `other`. Kernels that only one of them
/// has keep what it says.
ColdStages combined(ColdStages one, const ColdStages& other, const Learners& learners) {
  for (std::size_t i = 0; i < one.layers.size(); ++i) {
    for (KernelStages& kernel : one.layers[i].kernels) {
      for (const KernelStages& same : other.layers[i].kernels) {
        if (same.name != kernel.name) continue;
        for (const Stage stage : all_stages) {
          if (learners[static_cast<std::size_t>(stage)] != Learner::forest) continue;
          time_of(one.layers[i], kernel, stage) = time_of(other.layers[i], same, stage);
        }
      }
    }
  }
  return one;
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
  std::string family;
  for (const char letter : std::filesystem::path(model).stem().string()) {
    if (std::isalpha(static_cast<unsigned char>(letter)) == 0) break;
    family += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  return family;
}

/// A network as it is predicted by those of other families.
struct ColdPredictor::HeldOut {
  const ColdStages* measured;
  ColdStages by_operators, by_forest;
};

ColdPredictor::ColdPredictor(std::vector<ColdStages> measured, const ColdPlanOptions& plan)
    : measured_(std::move(measured)), plan_(plan) {
  if (measured_.empty()) throw InputError("cold starts are predicted from measured stages, and there are none");
  for (const ColdStages& file : measured_) {
    if (file.machine == measured_.front().machine) continue;
    throw InputError("the stages are of unlike machines: '" + measured_.front().machine + "' and '" + file.machine +
                     "'");
  }
  const std::vector<HeldOut> networks = hold_out();
  choose_learners(networks);
  find_errors(networks);
  std::vector<const ColdStages*> files;
  for (const ColdStages& file : measured_) files.push_back(&file);
  models_ = std::make_unique<StageModels>(files, learners_);
}

std::vector<ColdPredictor::HeldOut> ColdPredictor::hold_out() const {
  const std::vector<std::size_t> folds = folds_of(measured_);
  std::vector<HeldOut> networks;
  for (std::size_t fold = 0; fold < most_folds; ++fold) {
    std::vector<const ColdStages*> known, held_out;
    for (std::size_t i = 0; i < folds.size(); ++i) (folds[i] == fold ? held_out : known).push_back(&measured_[i]);
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

void ColdPredictor::choose_learners(const std::vector<HeldOut>& networks) {
  learners_ = all(Learner::operators);
  if (!has_xgboost()) return;
  for (const Stage stage : all_stages) {
    double error_of_operators = 0, error_of_forest = 0;
    for (const HeldOut& network : networks) {
      const auto error = [&](const ColdStages& predicted) {
        const auto [sum, truth] = sums_of(predicted, *network.measured, stage);
        return sum > 0 && truth > 0 ? std::abs(std::log(sum / truth)) : 0;
      };
      error_of_operators += error(network.by_operators);
      error_of_forest += error(network.by_forest);
    }
    if (error_of_forest < error_of_operators) learners_[static_cast<std::size_t>(stage)] = Learner::forest;
  }
}

void ColdPredictor::find_errors(const std::vector<HeldOut>& networks) {
  ColdPlanOptions quick = plan_;
  quick.quick = true;
  std::map<std::string, std::vector<double>> errors;
  for (const HeldOut& network : networks) {
    const ColdStages stages = combined(network.by_operators, network.by_forest, learners_);
    const ColdPlanning planning = plan_cold_start(stages, quick);
    try {
      errors[family_of(network.measured->model)].push_back(
          std::log(predicted_cold_ms(*network.measured, planning.plan) / planning.plan.predicted_ms));
      ++held_out_;
    } catch (const InputError&) {  // a kernel that transforms here and did not there
    }
  }
  std::vector<std::vector<double>> of_families;
  for (auto& [family, own] : errors) of_families.push_back(std::move(own));
  error_ = error_of_new_family(std::move(of_families));
}

PredictedStart ColdPredictor::predict(const ColdNetwork& network, const OfferedKernels& offered) const {
  PredictedStart start;
  start.stages = models_->predict(network, offered);
  start.stages.machine = machine();
  start.planning = plan_cold_start(start.stages, plan_);
  start.cold_ms = factor() * start.planning.plan.predicted_ms;
  start.low_ms = start.cold_ms * std::exp(-error_.spread);
  start.high_ms = start.cold_ms * std::exp(error_.spread);
  return start;
}

FamilyError error_of_new_family(std::vector<std::vector<double>> errors) {
  errors.erase(std::remove_if(errors.begin(), errors.end(), [](const auto& family) { return family.empty(); }),
               errors.end());
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
