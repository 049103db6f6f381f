#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "nasbench/support/error.h"
#include "nasbench/support/median.h"
#include "nasbench/support/quantiles.h"
#include "nasbench/support/text.h"
#include "trainer/predictors/kernels/kernel_model.h"

namespace tenshot::trainer::kernels {
namespace {

/// A network, and what kernels that were found elsewhere add up to.
using Summed = std::pair<const WholeNetwork*, SumOfKernels>;

/// By ridge regression on standardised compositions; the penalty is the number of networks, so that ten say little.
CompositionLine fitted_line(const std::vector<Summed>& networks) {
  const auto count = static_cast<Eigen::Index>(networks.size());
  const auto width = static_cast<Eigen::Index>(networks.front().second.composition.size());
  Eigen::MatrixXd compositions(count, width);
  Eigen::VectorXd target(count);
  for (Eigen::Index i = 0; i < count; ++i) {
    const auto& [network, sum] = networks[static_cast<std::size_t>(i)];
    compositions.row(i) = Eigen::Map<const Eigen::RowVectorXd>(sum.composition.data(), width);
    target[i] = std::log(network->latency_ms / sum.latency_ms);
  }
  const Eigen::RowVectorXd mean = compositions.colwise().mean();
  compositions.rowwise() -= mean;
  constexpr double least_deviation = 1e-9;
  const Eigen::RowVectorXd deviation =
      (compositions.colwise().squaredNorm() / static_cast<double>(count)).cwiseSqrt().cwiseMax(least_deviation);
  compositions = compositions.array().rowwise() / deviation.array();
  Eigen::MatrixXd normal = compositions.transpose() * compositions;
  normal.diagonal().array() += static_cast<double>(count);
  const double intercept = target.mean();
  const Eigen::VectorXd weight = normal.ldlt().solve(compositions.transpose() * (target.array() - intercept).matrix());
  const auto listed = [&](const auto& vector) { return std::vector<double>(vector.data(), vector.data() + width); };
  return {listed(mean), listed(deviation), listed(weight), intercept};
}

WholeNetworks fitted(const std::vector<Summed>& networks, Correction how) {
  WholeNetworks whole;
  std::vector<double> ratios, guessed;
  for (const auto& [network, sum] : networks) {
    guessed.push_back(sum.guessed_ms / sum.latency_ms);
    ratios.push_back(network->latency_ms / sum.latency_ms);
    if (how == Correction::overhead) {
      whole.overhead_ms += (network->latency_ms - sum.latency_ms) / static_cast<double>(networks.size());
    }
  }
  if (!guessed.empty()) whole.guessed = upper_median(guessed);
  if (how == Correction::factor && !ratios.empty()) whole.factor = upper_median(ratios);
  if (how == Correction::composition && !networks.empty()) whole.line = fitted_line(networks);
  return whole;
}

}  // namespace

Correction correction(const std::string& name) {
  constexpr std::array<const char*, 4> names = {"none", "overhead", "factor", "composition"};
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end())
    throw InputError("there is no correction '" + excerpt(name) + "'; there are: " + joined(names));
  return static_cast<Correction>(found - names.begin());
}

double CompositionLine::value(const std::vector<double>& composition) const {
  constexpr double farthest = 3;
  double sum = intercept;
  for (std::size_t i = 0; i < weight.size(); ++i) {
    sum += weight[i] * std::clamp((composition[i] - mean[i]) / deviation[i], -farthest, farthest);
  }
  return sum;
}

double WholeNetworks::corrected(const SumOfKernels& sum) const {
  const double corrected_ms = (factor * sum.latency_ms + overhead_ms) * std::exp(line.value(sum.composition));
  return std::max(corrected_ms, sum.latency_ms / 10);
}

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
  const std::size_t folds = networks.size() < least ? 1 : std::min(most_folds, networks.size());
  std::vector<Summed> held_out;
  for (std::size_t fold = 0; fold < folds; ++fold) {
    std::set<std::string> names;  // whose kernels are left out; none where all networks are one fold
    for (std::size_t i = fold; folds > 1 && i < networks.size(); i += folds) names.insert(networks[i].name);
    std::vector<KernelSample> elsewhere;
    std::copy_if(samples.begin(), samples.end(), std::back_inserter(elsewhere),
                 [&](const KernelSample& sample) { return names.count(sample.network) == 0; });
    const bool same = elsewhere.size() == samples.size();
    const KernelModel unseen = same ? model : KernelModel(elsewhere, model.call_ms, seed, learner);
    for (std::size_t i = fold; i < networks.size(); i += folds) {
      held_out.emplace_back(&networks[i], unseen.network(networks[i].kernels));
    }
  }
  WholeNetworks whole = fitted(held_out, how);
  if (folds == 1) return whole;
  for (std::size_t fold = 0; fold < folds; ++fold) {
    std::vector<Summed> others, left_out;
    for (std::size_t i = 0; i < held_out.size(); ++i) (i % folds == fold ? left_out : others).push_back(held_out[i]);
    const WholeNetworks of_others = fitted(others, how);
    for (const auto& [network, sum] : left_out) {
      whole.errors.push_back(std::abs(std::log(network->latency_ms / of_others.corrected(sum))));
    }
  }
  std::sort(whole.errors.begin(), whole.errors.end());
  return whole;
}

}  // namespace tenshot::trainer::kernels
