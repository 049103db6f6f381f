#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "nasbench/graph/network.h"
#include "nasbench/kernels/fusion_rules.h"
#include "nasbench/kernels/kernel_network.h"
#include "nasbench/spaces/networks.h"
#include "sampling/operators/adaptive_sampling.h"
#include "trainer/predictors/kernels/learners.h"

namespace tenshot::trainer::kernels {

/// A kernel of a network.
struct NetworkKernel {
  std::string kernel;                       ///< nasbench::kernel_type
  nasbench::OperatorSpecification leading;  ///< its leading operator (nasbench::leading_operator)
};

/// A kernel whose latency was measured.
struct KernelSample : NetworkKernel {
  double latency_ms = 0;     ///< positive; 0 where another operator executes it
  std::string network = {};  ///< that it was found in; empty: in none
};

/// The operators and edges of a network by name as a graph without attributes, which is what kernels are found in.
/// Where nobody said how its operators are connected, none of them fuse.
nasbench::Network graph_of(const nasbench::NamedNetwork& network);

/// The kernels that a runtime with these rules executes of a network; reshapes, which move no number, are left out.
std::vector<NetworkKernel> kernels_of(const nasbench::Network& network, const nasbench::FusionRules& rules);

/// A type of kernels by the kernel that rules choose: two ways of computing one learn apart (Li et al., 2024, §4.1).
std::string type_under(const nasbench::FusionRules& rules, const std::string& type,
                       const nasbench::OperatorSpecification& leading);

/// How much an operator computes and moves: multiply-adds and elements.
double work_of(const nasbench::OperatorSpecification& operation);

/// What was learned of one type of kernel.
struct KernelType {
  std::string category;  ///< operation_category() of the leading operators
  std::shared_ptr<const LatencyLearner> learner;
  std::size_t samples = 0;
  double largest_work = 0;  ///< work_of() of the kernels it learned from: beyond, it extrapolates; 0: not known
  double error = 0;         ///< of log latency, root mean square over kernels left out; 0: not known
  double share = 1;  ///< of its kernels that the runtime executes by themselves: what it predicts is multiplied by it
  LearnerKind learns = LearnerKind::forest;  ///< what operation_features() it sees
};

/// How a kernel was predicted.
enum class KernelOrigin : std::uint8_t {
  measured_type,  ///< by kernels of its type
  stand_in,       ///< by another type that begins with the same operator, or one of the same category
  unknown         ///< by the time that a number takes to be moved by the kernels that were measured
};

struct KernelPrediction {
  double latency_ms = 0;
  KernelOrigin origin = KernelOrigin::unknown;
  double error = 0;  ///< standard deviation of its logarithm; 0: not known
};

/// The sum over a network's kernels, what a call costs among it.
struct SumOfKernels {
  double latency_ms = 0;
  double error_ms = 0;    ///< Σ latency · error of kernels of measured types: as if all were wrong the same way
  double guessed_ms = 0;  ///< the same of kernels of other types
  /// What the sum is made of: log of the sum, of kernels, multiply-adds and elements for each ms, and the shares of
  /// convolutions (also those of one position), depthwise and grouped ones, linear layers, element-wise operators.
  std::vector<double> composition = {};
};

/// The latency of a network as what a call costs and the sum over its kernels (Zhang et al., MobiSys 2021, §5.3), one
/// learner for each type of kernel. A forest knows convolutions as one type, "convolution++*", and depthwise ones as
/// another, whatever they are fused with, as nn-Meter's program has it.
class KernelModel {
 public:
  /// A model that knows nothing, to be filled from a file's content.
  KernelModel() = default;
  /// Throws InputError without samples, where a latency is not positive, and as train_learner(); it names the type.
  KernelModel(const std::vector<KernelSample>& measured, double call_ms, std::uint64_t seed,
              LearnerKind learner = LearnerKind::forest);

  /// Finds out how wrong predictions are: of each type by five folds of its kernels, of stand-ins by leaving out one
  /// type after the other, of unknown kernels by what moving numbers says of all.
  void find_errors(const std::vector<KernelSample>& measured, std::uint64_t seed, LearnerKind learner);

  /// Where `hidden` is given, as if that type had not been measured.
  KernelPrediction kernel(const NetworkKernel& kernel, const std::string* hidden = nullptr) const;
  SumOfKernels network(const std::vector<NetworkKernel>& kernels) const;
  double network_ms(const std::vector<NetworkKernel>& kernels) const { return network(kernels).latency_ms; }

  using Types = std::map<std::string, KernelType>;
  /// The type of kernels called `kernel` that lead with operators of `category`; types.end() where none was measured.
  Types::const_iterator type_of(const std::string& kernel, const std::string& category) const;

  double call_ms = 0, ms_per_element = 0;
  double stand_in_error = 0, unknown_error = 0;  ///< of log latency; 0: not known
  Types types;
};

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

  /// The line at a composition, whose numbers count as 3 deviations from the mean at most.
  double value(const std::vector<double>& composition) const;
};

/// What whole networks say of sums over kernels.
struct WholeNetworks {
  double factor = 1, overhead_ms = 0;
  double guessed = 0;  ///< median over networks of SumOfKernels::guessed_ms over the sum, which errors hold already
  /// |log(measured / predicted)| of networks that neither kernels nor correction saw, ascending; none if under three.
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

/// Adaptive sampling of kernels of one type (nn-Meter, Algorithm 2) with the prior distribution of the sizes that the
/// kernels of a zoo have; a forest per round says where errors are large. Of kernels that keep their channels, inputs
/// and outputs are one dimension; layers without an image or a window have no dimensions of them. `measure`: latency of
/// a kernel in ms; NaN where the runtime refuses it. Throws InputError where the zoo has no kernel, the type cannot be
/// made (nasbench::can_be_made), or nothing could be measured.
sampling::AdaptiveSamples sample_kernels(const std::string& type, const std::vector<nasbench::KernelSizes>& zoo,
                                         const std::function<double(const nasbench::KernelSizes&)>& measure,
                                         const sampling::AdaptiveOptions& options);

}  // namespace tenshot::trainer::kernels
