#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/predictors/kernels/kernel_model.h"

namespace tenshot::trainer::kernels {

/// How whole networks that were measured correct the sum over their kernels.
enum class Correction : std::uint8_t {
  none,        ///< nn-Meter: the sum stands
  overhead,    ///< Li et al.'s T_overhead: the mean of what networks take beyond the sum (2024, §4.2)
  factor,      ///< the median of measured over sum
  composition  ///< what measured over sum is, by what the sum is made of (SumOfKernels::composition)
};
/// The correction of that name, as the enumerator is spelt. Throws InputError that lists the names.
Correction correction(const std::string& name);

/// A whole network that was measured.
struct WholeNetwork {
  std::string name;
  std::vector<NetworkKernel> kernels;
  double latency_ms = 0;
};

/// log(measured / sum) as a line through what sums are made of; nothing where there are no weights.
struct CompositionLine {
  std::vector<double> mean = {}, deviation = {}, weight = {};
  double intercept = 0;

  /// Of a composition that is 3 deviations from the mean at most.
  double value(const std::vector<double>& composition) const;
};

/// What whole networks say of sums over kernels.
struct WholeNetworks {
  double factor = 1, overhead_ms = 0;
  double guessed = 0;  ///< median over networks of SumOfKernels::guessed_ms over the sum, which errors hold already
  /// |log(measured / predicted)| of networks that neither the kernels nor the correction had seen, ascending; empty
  /// where under three were measured.
  std::vector<double> errors = {};
  CompositionLine line = {};

  /// (factor · sum + overhead) · exp(line), at least a tenth of the sum.
  double corrected(const SumOfKernels& sum) const;
  /// Half the width of the interval of log latency that holds the next network with that probability: the ⌈(n + 1)
  /// confidence⌉-th error, and where there are too few the largest, stretched as a normal distribution's quantiles are.
  double half_width(double confidence) const;
};

/// Fits a correction to networks, and their errors, by five folds: kernels that were found in the networks of a fold
/// are left out of what predicts it, since learners know too well what they have learned from. Of under three networks
/// the correction is of what they have learned. Throws as KernelModel does.
WholeNetworks fit_whole_networks(const std::vector<WholeNetwork>& networks, const KernelModel& model,
                                 const std::vector<KernelSample>& samples, Correction correction, std::uint64_t seed,
                                 LearnerKind learner);

}  // namespace tenshot::trainer::kernels
