#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "datasets/operators/kernel_table.h"
#include "datasets/pool/pool.h"
#include "nasbench/graph/operator_specification.h"
#include "nasbench/spaces/search_space.h"
#include "trainer/predictors/operators/operator_groups.h"
#include "trainer/trees/tree_ensemble.h"

namespace tenshot::trainer::operators {

/// How the operators of a group are timed on a device.
enum class GroupTimes : std::uint8_t {
  unknown,   ///< no network that was learned from has one
  learned,   ///< from those that were measured
  elsewhere  ///< networks have them and none has a time of its own: it is in those of the operators around them
};

/// What operators take on a device-runtime of the pool, learned from those that were measured inside its networks.
/// Costs are linear in measures of an operator (operator_groups.h); an operator that is narrow, large or of another
/// kernel than most takes another multiple of its linear costs, and trees say which.
struct OperatorTimes {
  std::string device;  ///< its id
  /// log(ms + least_operator_ms) from tree_features(). Where there is a `unit_ms`, how far that is above the logarithm
  /// of the same of its linear costs, which are one more feature, the last.
  TreeEnsemble trees;
  double unit_ms = 0;       ///< ms in the unit of the costs where trees start from linear costs; 0 where they do not
  double per_ms = 0;        ///< what a network takes is base + Σ over its timed operators of per_ms · ms +
  double per_operator = 0;  ///< per_operator, in units of the device's median latency
  double base = 0;
  std::vector<GroupTimes> groups;  ///< [timed_group_count()]
  Eigen::VectorXd costs;           ///< the library's costs of the device, [features]

  /// How many times its linear costs an operator may take, and at least one over it. Operators of one group and size
  /// differ more than tenfold, such as a ReLU and a hard swish of integers. 10 in files of earlier versions.
  double most_efficiency = 1000;

  /// The largest linear costs of a group's timed operators, [timed_group_count()]: what costs more takes as much longer
  /// than trees say, which do not grow. Empty where trees start from linear costs, and in files of earlier versions.
  std::vector<double> most_linear;

  /// The logarithm of an operator's linear costs, in ms, and least_operator_ms. There is a `unit_ms`.
  double log_linear(const Eigen::VectorXd& features) const;
  /// What the operator takes by the trees, ms, where `features` are its features of one block.
  double operator_ms(const nasbench::OperatorSpecification& operation, const Eigen::VectorXd& features) const;
  /// What the features of an operator are to be multiplied with, so that their costs say what it was learned to take. 1
  /// where its group is unknown, and 0 where it has no time of its own.
  double efficiency(const nasbench::OperatorSpecification& operation, const Eigen::VectorXd& features) const;
  /// Fits per_ms, per_operator and base to networks: `ms` has what each of a network's timed operators takes by the
  /// trees, `relative` are the networks' latencies in units of the device's median.
  void fit_networks(const std::vector<std::vector<double>>& ms, const Eigen::VectorXd& relative);
};

/// The groups of operators that are timed alike: those of operator_groups.h, and pads, which stand there beside
/// concatenations and which few runtimes execute on their own.
constexpr std::size_t timed_group_count() { return operator_group_count() + 1; }
std::string timed_group_name(std::size_t group);

/// The number of an operator's group among these; timed_group_count() for one that moves no number.
std::size_t timed_group(const nasbench::OperatorSpecification& operation);
using datasets::operator_key;

constexpr double least_operator_ms = 1e-3;  ///< a clock tells no smaller times apart
constexpr std::size_t tree_feature_count() { return 12; }
/// The operator's group and function, window, stride, channels, positions, arithmetic and bytes, as trees see them.
std::vector<float> tree_features(const nasbench::OperatorSpecification& operation);
/// Trees as OperatorTimes has them, of `depth` each; `rows` has operators' features. Deeper ones follow noise too.
TreeEnsemble operator_trees(const std::vector<float>& rows, const std::vector<double>& log_ms, int depth = 5);

using OperatorFeatures = std::function<Eigen::VectorXd(const nasbench::OperatorSpecification&)>;

/// The operators of a pool's networks, and which of them were measured on which device.
class OperatorMeasurements {
 public:
  /// Networks as latency_matrix() orders them.
  OperatorMeasurements(const datasets::Pool& pool, const std::vector<nasbench::Architecture>& networks);

  /// Whether operators of any device were measured, and this program can learn from them (has_xgboost()).
  bool any() const;
  /// What operators take on a device, learned from those of the networks that `known` numbers and the device measured.
  /// `latency_ms` has the device's latency of each network, NaN where it has none; `costs` are its linear costs, in
  /// units of `median_ms`, and `features` those of an operator. Learns nothing, and has no trees, from fewer than three
  /// networks or twenty operators.
  OperatorTimes learn(std::size_t device, const std::vector<Eigen::Index>& known, const Eigen::VectorXd& latency_ms,
                      double median_ms, const Eigen::VectorXd& costs, const OperatorFeatures& features) const;

 private:
  struct Timed {
    std::uint32_t operation = 0;
    double latency_ms = 0;
    std::int32_t network = -1;  ///< −1: a median over all that have it
  };

  std::vector<std::string> devices_;
  std::vector<nasbench::OperatorSpecification> operators_;
  std::vector<std::vector<std::uint32_t>> operators_of_;  ///< of each network, by number in `operators_`
  std::vector<std::vector<Timed>> timed_;                 ///< of each device
};

}  // namespace tenshot::trainer::operators
