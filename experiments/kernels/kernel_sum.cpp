#include "experiments/kernels/kernel_sum.h"

#include <algorithm>
#include <numeric>

#include "nasbench/support/error.h"
#include "trainer/predictors/kernels/operation_features.h"

namespace tenshot::experiments {

using nasbench::OperatorSpecification;
using trainer::kernels::LatencyRows;
using trainer::kernels::operation_category;
using trainer::kernels::operation_features;

KernelSum::KernelSum(const std::vector<TimedNetwork>& networks, LearnerKind learner, const Categorise& categorise,
                     std::uint64_t seed)
    : categorise_(categorise) {
  std::map<std::string, LatencyRows> rows;
  std::vector<double> all;
  for (const TimedNetwork& network : networks) {
    if (network.operators.size() != network.operator_ms.size()) {
      throw InputError("a network has " + std::to_string(network.operators.size()) + " operators, of which " +
                       std::to_string(network.operator_ms.size()) + " are timed");
    }
    overhead_ms_ += network.total_ms - std::accumulate(network.operator_ms.begin(), network.operator_ms.end(), 0.0);
    for (std::size_t i = 0; i < network.operators.size(); ++i) {
      LatencyRows& of_category = rows[categorise(network.operators[i])];
      of_category.features.push_back(operation_features(network.operators[i]));
      of_category.latency_ms.push_back(network.operator_ms[i]);
      all.push_back(network.operator_ms[i]);
    }
  }
  if (all.empty()) throw InputError("a sum of kernels needs at least one network with a timed operator");
  overhead_ms_ /= static_cast<double>(networks.size());
  std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2), all.end());
  median_ms_ = all[all.size() / 2];
  for (const auto& [category, of_category] : rows) learners_[category] = train_learner(learner, of_category, seed);
}

double KernelSum::operator_ms(const OperatorSpecification& operation) const {
  for (const std::string& category : {categorise_(operation), operation_category(operation)}) {
    const auto found = learners_.find(category);
    if (found != learners_.end()) return found->second->predict_ms(operation_features(operation));
  }
  return median_ms_;
}

double KernelSum::network_ms(const std::vector<OperatorSpecification>& operators) const {
  return std::accumulate(operators.begin(), operators.end(), overhead_ms_,
                         [&](double sum, const OperatorSpecification& op) { return sum + operator_ms(op); });
}

}  // namespace tenshot::experiments
