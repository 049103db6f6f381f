#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "nasbench/graph/network.h"
#include "nasbench/kernels/fusion_rules.h"
#include "trainer/predictors/kernels/latency_learner.h"
#include "trainer/trees/tree_ensemble.h"

namespace tenshot::trainer::kernels {

/// A kernel whose latency was measured.
struct KernelSample {
  std::string kernel;                       ///< nasbench::kernel_type
  nasbench::OperatorSpecification leading;  ///< its leading operator (nasbench::leading_operator)
  double latency_ms = 0;                    ///< positive
};

/// A kernel of a network.
struct NetworkKernel {
  std::string kernel;
  nasbench::OperatorSpecification leading;
};

/// The kernels that a runtime with these rules executes of a network; reshapes, which move no number, are left out.
std::vector<NetworkKernel> kernels_of(const nasbench::Network& network, const nasbench::FusionRules& rules);

/// How much an operator computes and moves: multiply-adds and elements.
double work_of(const nasbench::OperatorSpecification& operation);

/// The forest of one type of kernel: it predicts the logarithm of the latency from the leading operator's features.
struct KernelForest {
  std::string category;     ///< operation_category() of the leading operators
  std::size_t width = 0;    ///< features
  double largest_work = 0;  ///< work_of() of the kernels it learned from: beyond, the forest extrapolates
  TreeEnsemble trees;
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
};

/// Trains what predicts one type of kernel.
using TrainLearner = std::function<std::unique_ptr<LatencyLearner>(const LatencyRows& rows)>;

/// The latency of a network as what a call costs and the sum over its kernels (Zhang et al., MobiSys 2021, §5.3), one
/// learner for each type of kernel.
class KernelModel {
 public:
  /// Predicts each type by a forest of 100 trees. Throws InputError where there are no samples, a latency is not
  /// positive, or the program has no XGBoost.
  KernelModel(const std::vector<KernelSample>& samples, double call_ms, std::uint64_t seed);
  /// Predicts each type by what `train` makes of its rows, which cannot be kept in a file. Throws as the other does.
  KernelModel(const std::vector<KernelSample>& samples, double call_ms, const TrainLearner& train);
  /// From a file's content. Throws FormatError where a forest's width is not that of its category's features.
  KernelModel(std::map<std::string, KernelForest> forests, double call_ms, double ms_per_element);

  KernelPrediction kernel(const NetworkKernel& kernel) const;
  double network_ms(const std::vector<NetworkKernel>& kernels) const;

  double call_ms() const { return call_ms_; }
  double ms_per_element() const { return ms_per_element_; }
  /// The forests by type; empty where others than forests were trained.
  const std::map<std::string, KernelForest>& forests() const { return forests_; }

 private:
  struct Type {
    std::string category;
    std::shared_ptr<const LatencyLearner> learner;
    std::size_t samples = 0;
  };
  void learn_what_moving_costs(const std::vector<KernelSample>& samples);
  void add(const std::string& type, KernelForest forest, std::size_t samples);

  double call_ms_ = 0, ms_per_element_ = 0;
  std::map<std::string, KernelForest> forests_;
  std::map<std::string, Type> types_;
};

}  // namespace tenshot::trainer::kernels
