#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <optional>
#include <vector>

#include "trainer/predictors/operators/device_kinds.h"

namespace tenshot::trainer::operators {

/// Networks that many boards measured, and how their latencies vary together over these boards: of them the next board
/// needs no costs of operators. Kinds of device-runtimes are those of DeviceKind, whose features are the networks here.
struct NetworkGroup {
  std::vector<Eigen::Index> networks;  ///< by number among the pool's
  std::vector<DeviceKind> kinds;       ///< log_costs are log latencies in ms, [networks]
};

/// A group's devices that are unlike the others count less: latencies are known better than costs are. Networks differ
/// from each other by themselves, so that little is noise and nothing a gross error.
inline KindOptions group_options() {
  KindOptions options;
  options.variance = 0.02;
  options.prior_devices = 2;
  options.cluster_devices = 16;
  options.noise = 0.03;
  options.error_freedom = 1e9;  // Gaussian
  options.device_freedom = 4;
  options.fewest = 8;            // a mean of fewer would say what single device-runtimes measured
  options.network_variance = 0;  // a network is a cost of its own here
  options.setting_power = 0;     // threads of a board change which networks are slow as much as another board does
  return options;
}

/// The groups of networks that enough boards measured together. `latency_ms` is [devices, networks], NaN: not measured.
std::vector<NetworkGroup> fit_groups(const Eigen::MatrixXd& latency_ms, const DeviceLabels& labels,
                                     const KindOptions& options = group_options());

/// The groups as some of the devices measured them, numbered anew in this order; none where they come from a file.
std::vector<NetworkGroup> groups_of_devices(const std::vector<NetworkGroup>& groups,
                                            const std::vector<std::size_t>& devices);

/// Where each row of `near` (similarities to the pool's networks) stands in a group; nothing where one is not in it.
std::optional<std::vector<Eigen::Index>> places_in(const NetworkGroup& group, const Eigen::MatrixXd& near);

/// The measured networks, `places` of the group's, under one of its kinds.
KindView view_of(const DeviceKind& kind, const std::vector<Eigen::Index>& places);

}  // namespace tenshot::trainer::operators
