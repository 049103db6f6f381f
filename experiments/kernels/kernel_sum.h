#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "experiments/kernels/learners.h"
#include "nasbench/graph/operator_specification.h"

namespace tenshot::experiments {

/// A network whose operators were timed one by one, and as a whole.
struct TimedNetwork {
  std::vector<nasbench::OperatorSpecification> operators;
  std::vector<double> operator_ms;  ///< of each operator
  double total_ms = 0;
};

/// Which operators share a learner: operation_category(), or the kernel that a runtime selects for each.
using Categorise = std::function<std::string(const nasbench::OperatorSpecification&)>;

/// The latency of a network as the sum of its operators' and an overhead that all networks have in common (Zhang et
/// al., MobiSys 2021, Eq. 2; Li et al., 2024, §4.2): T_overhead + Σ f_c(x), one learner for each category.
class KernelSum {
 public:
  /// T_overhead is the mean of what the networks take beyond their operators. Throws InputError where there are no
  /// networks, or a network's operators are not all timed.
  KernelSum(const std::vector<TimedNetwork>& networks, LearnerKind learner, const Categorise& categorise,
            std::uint64_t seed);

  double overhead_ms() const { return overhead_ms_; }
  /// The latency of one operator. One of a category that no network had is predicted by its operation_category(), and
  /// where that is unknown too, as the median of all operators.
  double operator_ms(const nasbench::OperatorSpecification& operation) const;
  double network_ms(const std::vector<nasbench::OperatorSpecification>& operators) const;

 private:
  Categorise categorise_;
  std::map<std::string, std::unique_ptr<trainer::kernels::LatencyLearner>> learners_;
  double overhead_ms_ = 0, median_ms_ = 0;
};

}  // namespace tenshot::experiments
