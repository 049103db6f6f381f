#include "trainer/predictors/kernels/whole_networks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "nasbench/support/error.h"
#include "nasbench/support/median.h"
#include "nasbench/support/quantiles.h"
#include "nasbench/support/text.h"

namespace tenshot::trainer::kernels {
namespace {

WholeNetworks fitted(const std::vector<const WholeNetwork*>& networks, const KernelModel& model, Correction how) {
  WholeNetworks whole;
  std::vector<double> ratios, guessed;
  for (const WholeNetwork* network : networks) {
    const SumOfKernels sum = model.network(network->kernels);
    const double sum_ms = sum.latency_ms;
    guessed.push_back(sum.guessed_ms / sum_ms);
    ratios.push_back(network->latency_ms / sum_ms);
    if (how == Correction::overhead) {
      whole.overhead_ms += (network->latency_ms - sum_ms) / static_cast<double>(networks.size());
    }
  }
  if (!guessed.empty()) whole.guessed = upper_median(guessed);
  if (how == Correction::factor && !ratios.empty()) whole.factor = upper_median(ratios);
  return whole;
}

}  // namespace

Correction correction(const std::string& name) {
  constexpr std::array<const char*, 3> names = {"none", "overhead", "factor"};
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end())
    throw InputError("there is no correction '" + excerpt(name) + "'; there are: " + joined(names));
  return static_cast<Correction>(found - names.begin());
}

double WholeNetworks::corrected(double sum_ms) const { return std::max(factor * sum_ms + overhead_ms, sum_ms / 10); }

double WholeNetworks::half_width(double confidence) const {
  const auto count = static_cast<double>(errors.size());
  const double rank = std::ceil((count + 1) * confidence - 1e-9);
  if (rank <= count) return errors[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
  const double reached = count / (count + 1);
  return errors.back() * normal_quantile((1 + confidence) / 2) / normal_quantile((1 + reached) / 2);
}

WholeNetworks fit_whole_networks(const std::vector<WholeNetwork>& networks, const KernelModel& model,
                                 const std::vector<KernelSample>& samples, Correction how, std::uint64_t seed,
                                 LearnerKind learner) {
  constexpr std::size_t least = 3, most_folds = 5;
  std::vector<const WholeNetwork*> all;
  for (const WholeNetwork& network : networks) all.push_back(&network);
  WholeNetworks whole = fitted(all, model, how);
  const std::size_t folds = std::min(most_folds, networks.size());
  for (std::size_t fold = 0; networks.size() >= least && fold < folds; ++fold) {
    std::vector<const WholeNetwork*> others, left_out;
    std::set<std::string> names;
    for (std::size_t i = 0; i < all.size(); ++i) {
      (i % folds == fold ? left_out : others).push_back(all[i]);
      if (i % folds == fold) names.insert(all[i]->name);
    }
    std::vector<KernelSample> elsewhere;
    std::copy_if(samples.begin(), samples.end(), std::back_inserter(elsewhere),
                 [&](const KernelSample& sample) { return names.count(sample.network) == 0; });
    const bool same = elsewhere.size() == samples.size();
    const KernelModel unseen = same ? model : KernelModel(elsewhere, model.call_ms(), seed, learner);
    const WholeNetworks of_others = fitted(others, unseen, how);
    for (const WholeNetwork* network : left_out) {
      const double predicted_ms = of_others.corrected(unseen.network_ms(network->kernels));
      whole.errors.push_back(std::abs(std::log(network->latency_ms / predicted_ms)));
    }
  }
  std::sort(whole.errors.begin(), whole.errors.end());
  return whole;
}

}  // namespace tenshot::trainer::kernels
