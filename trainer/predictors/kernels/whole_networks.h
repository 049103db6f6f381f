#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/predictors/kernels/kernel_model.h"

namespace tenshot::trainer::kernels {

/// How whole networks that were measured correct the sum over their kernels.
enum class Correction : std::uint8_t {
  none,      ///< nn-Meter: the sum stands
  overhead,  ///< Li et al.'s T_overhead: the mean of what networks take beyond the sum (2024, §4.2)
  factor     ///< the median of measured over sum
};
/// The correction of that name, as the enumerator is spelt. Throws InputError that lists the names.
Correction correction(const std::string& name);

/// A whole network that was measured.
struct WholeNetwork {
  std::string name;
  std::vector<NetworkKernel> kernels;
  double latency_ms = 0;
};

/// What whole networks say of sums over kernels.
struct WholeNetworks {
  double factor = 1, overhead_ms = 0;
  double guessed = 0;  ///< median over networks of SumOfKernels::guessed_ms over the sum, which errors hold already
  /// |log(measured / predicted)| of networks that neither the kernels nor the correction had seen, ascending; empty
  /// where under three were measured.
  std::vector<double> errors = {};

  /// factor · sum + overhead, at least a tenth of the sum.
  double corrected(double sum_ms) const;
  /// Half the width of the interval of log latency that holds the next network with that probability: the ⌈(n + 1)
  /// confidence⌉-th error, and where there are too few the largest, stretched as a normal distribution's quantiles are.
  double half_width(double confidence) const;
};

/// Fits a correction to networks, and their errors by five folds: kernels that were found in the networks of a fold are
/// left out of what predicts it. Throws as KernelModel does.
WholeNetworks fit_whole_networks(const std::vector<WholeNetwork>& networks, const KernelModel& model,
                                 const std::vector<KernelSample>& samples, Correction correction, std::uint64_t seed,
                                 LearnerKind learner);

}  // namespace tenshot::trainer::kernels
