#include "trainer/cold/switching.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "nasbench/support/error.h"

namespace tenshot::trainer {
namespace {

using descriptor::ColdPlan;
using descriptor::ColdStages;
using descriptor::KernelStages;
using descriptor::LayerStages;
using descriptor::PlannedSwitch;

/// Reading, transforming and creating.
double preparation_ms(const LayerStages& layer, const KernelStages& kernel, bool cached, bool made) {
  const double weights = cached ? kernel.read_cached_ms : layer.read_raw_ms + kernel.transform_ms;
  return weights + (made ? kernel.create_again_ms : kernel.create_ms);
}

/// Kernels that the plan has made, by the shape of their layers.
std::set<std::pair<int, std::string>> kernels_of(const ColdStages& stages, const ColdPlan& plan) {
  std::set<std::pair<int, std::string>> made;
  for (std::size_t i = 0; i < plan.layers.size(); ++i) made.emplace(stages.layers[i].shape, plan.layers[i].kernel);
  return made;
}

}  // namespace

std::size_t kernel_called(const ColdStages& stages, std::size_t layer, const std::string& name) {
  const std::vector<KernelStages>& kernels = stages.layers[layer].kernels;
  const auto found =
      std::find_if(kernels.begin(), kernels.end(), [&](const KernelStages& kernel) { return kernel.name == name; });
  if (found == kernels.end()) {
    throw InputError("layer " + std::to_string(layer) + " has no kernel '" + name + "' in the stages");
  }
  return static_cast<std::size_t>(found - kernels.begin());
}

std::vector<PlannedSwitch> planned_switches(const ColdStages& stages, const ColdPlan& plan, bool may_cache) {
  std::vector<std::pair<double, PlannedSwitch>> found;  // what is saved for a millisecond of preparation
  const std::set<std::pair<int, std::string>> made = kernels_of(stages, plan);
  for (std::size_t i = 0; i < plan.layers.size(); ++i) {
    const LayerStages& layer = stages.layers[i];
    const KernelStages& present = layer.kernels[kernel_called(stages, i, plan.layers[i].kernel)];
    const auto fastest =
        std::min_element(layer.kernels.begin(), layer.kernels.end(),
                         [](const KernelStages& a, const KernelStages& b) { return a.execute_ms < b.execute_ms; });
    const double saved = present.execute_ms - fastest->execute_ms;
    if (saved <= 0) continue;
    const bool again = made.count({layer.shape, fastest->name}) != 0;
    const bool cached = may_cache && fastest->transforms &&
                        preparation_ms(layer, *fastest, true, again) < preparation_ms(layer, *fastest, false, again);
    const double cost = preparation_ms(layer, *fastest, cached, again);
    found.push_back(
        {saved / std::max(cost, std::numeric_limits<double>::min()), {static_cast<int>(i), fastest->name, cached}});
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<PlannedSwitch> switches;
  for (auto& [gain, change] : found) switches.push_back(std::move(change));
  return switches;
}

double switched_ms(const ColdStages& stages, const ColdPlan& plan) {
  std::vector<std::string> names;
  for (const descriptor::PlannedLayer& layer : plan.layers) names.push_back(layer.kernel);
  for (const PlannedSwitch& change : plan.switches) names[static_cast<std::size_t>(change.layer)] = change.kernel;
  double sum = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    sum += stages.layers[i].kernels[kernel_called(stages, i, names[i])].execute_ms;
  }
  return sum;
}

}  // namespace tenshot::trainer
