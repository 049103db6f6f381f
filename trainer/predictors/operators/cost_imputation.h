#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "trainer/predictors/operators/cost_library.h"

namespace tenshot::trainer::operators {

/// How costs of operators that a device's networks lack are taken from others (experiments/search/unseen_groups.sh).
struct ImputationOptions {
  double evidence_power = 2;     ///< larger trusts fewer devices, those that measured operators of the most sizes
  double other_runtimes = 1e-9;  ///< what devices of another runtime weigh; smaller asks them only where no other knows
};

/// What the devices of a pool can tell each other of costs.
struct CostEvidence {
  Eigen::MatrixXd seen;  ///< 1 where a network of the device has the feature, [devices, features]
  /// How much a device tells of what the operators of a feature's group cost, [devices, features]. Operators that are
  /// all of one size do not tell a fixed cost from one of bytes or of arithmetic. So this is the sum over the device's
  /// networks of the squared difference of the operators' log size from their mean, to a power.
  Eigen::MatrixXd weight;
  std::vector<std::string> runtime;  ///< [devices]; empty: all count as one
};

CostEvidence cost_evidence(const PoolNumbers& pool, const ImputationOptions& options);

/// The costs of a device, [features], with those of features that none of its networks has, zero by its fit: the mean
/// of what they cost on devices that know them, relative to what both know. `fitted` is [devices, features].
Eigen::RowVectorXd with_unseen(const CostEvidence& evidence, const ImputationOptions& options,
                               const Eigen::MatrixXd& fitted, Eigen::Index device);

/// Makes the costs of each device of one of the library's kinds the mean of those that its own networks say and those
/// that they say together with all other devices. Its own count more from a hundred networks on. Of devices with fewer
/// than thirty these are CostLibrary::known_costs alone: drawn together they would promise a new device too much.
void draw_to_others(const PoolNumbers& pool, CostLibrary& library);

/// Takes the costs of tensors that an allocator does not keep (large_bytes_feature()) from the devices and kinds of
/// runtimes that never measured one: they are a runtime's own, and no other one tells them.
void confine_large_bytes(const PoolNumbers& pool, CostLibrary& library);

}  // namespace tenshot::trainer::operators
