#include "trainer/predictors/operators/network_groups.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

namespace tenshot::trainer::operators {
namespace {

using Eigen::Index;

constexpr std::size_t fewest_boards = 8, fewest_networks = 8, most_networks = 128;
constexpr std::size_t fewest_devices = 4;  ///< of a group that measured a network of it
/// Similarity of a network to itself, at least: places come from files as floats, and distances of theirs are roots.
constexpr double same_network = 0.99;

/// The scale of networks in the place of features: without a unit and, relative to a usual device, all of one measure.
FeatureScale scale_of(std::size_t networks) {
  return {std::vector<std::size_t>(networks, 0), Eigen::VectorXd::Zero(static_cast<Index>(networks))};
}

/// The log of what each network takes on a usual device, [networks], up to what all share.
Eigen::RowVectorXd usual_log_latency(const Eigen::ArrayXXd& latency_ms) {
  const Eigen::ArrayXXd known = latency_ms.isFinite().cast<double>();
  const Eigen::ArrayXXd log_latency = (known > 0).select(latency_ms.log(), 0);
  const Eigen::ArrayXd speed = log_latency.rowwise().sum() / known.rowwise().sum();
  return (log_latency - known.colwise() * speed).colwise().sum() / known.colwise().sum();
}

/// Devices that share at least half of the networks of the one that has fewer, in groups.
std::vector<std::vector<std::size_t>> devices_together(const Eigen::MatrixXd& latency_ms) {
  const Eigen::MatrixXd known = latency_ms.array().isFinite().cast<double>();
  const Eigen::MatrixXd shared = known * known.transpose();
  std::vector<std::vector<std::size_t>> groups;
  std::vector<bool> taken(static_cast<std::size_t>(known.rows()), false);
  for (Index first = 0; first < known.rows(); ++first) {
    if (taken[static_cast<std::size_t>(first)]) continue;
    taken[static_cast<std::size_t>(first)] = true;
    std::vector<std::size_t> group = {static_cast<std::size_t>(first)};
    for (std::size_t at = 0; at < group.size(); ++at) {
      const auto a = static_cast<Index>(group[at]);
      for (Index b = 0; b < known.rows(); ++b) {
        if (taken[static_cast<std::size_t>(b)] || 2 * shared(a, b) < std::min(shared(a, a), shared(b, b))) continue;
        taken[static_cast<std::size_t>(b)] = true;
        group.push_back(static_cast<std::size_t>(b));
      }
    }
    std::sort(group.begin(), group.end());
    groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace

std::vector<NetworkGroup> fit_groups(const Eigen::MatrixXd& latency_ms, const DeviceLabels& labels,
                                     const KindOptions& options) {
  std::vector<NetworkGroup> groups;
  for (std::vector<std::size_t>& devices : devices_together(latency_ms)) {
    NetworkGroup group;
    const Eigen::MatrixXd of_devices = latency_ms(devices, Eigen::all);
    for (Index n = 0; n < latency_ms.cols(); ++n) {
      const auto count = static_cast<std::size_t>(of_devices.col(n).array().isFinite().count());
      if (count >= fewest_devices) group.networks.push_back(n);
    }
    if (group.networks.size() < fewest_networks || group.networks.size() > most_networks) continue;
    const auto has_none = [&](std::size_t device) {
      return !latency_ms(static_cast<Index>(device), group.networks).array().isFinite().any();
    };
    devices.erase(std::remove_if(devices.begin(), devices.end(), has_none), devices.end());
    DeviceLabels own;
    for (const std::size_t device : devices) {
      own.kind.push_back(labels.kind[device]);
      own.board.push_back(labels.board[device]);
    }
    if (std::set<std::string>(own.board.begin(), own.board.end()).size() < fewest_boards) continue;
    const auto networks = static_cast<Index>(group.networks.size());
    const Eigen::MatrixXd of_group = latency_ms(devices, group.networks);
    const Eigen::RowVectorXd usual = usual_log_latency(of_group);
    group.kinds = fit_kinds(Eigen::MatrixXd::Identity(networks, networks), scale_of(group.networks.size()),
                            (of_group.array().rowwise() / usual.array().exp()).matrix(), own, options);
    for (DeviceKind& kind : group.kinds) {
      kind.log_costs += usual.transpose();
      for (KindMember& member : kind.members) {
        member.device = devices[member.device];
        member.log_costs += usual.transpose();
      }
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

std::vector<NetworkGroup> groups_of_devices(const std::vector<NetworkGroup>& groups,
                                            const std::vector<std::size_t>& devices) {
  std::vector<NetworkGroup> part;
  for (const NetworkGroup& group : groups) {
    NetworkGroup own{group.networks,
                     kinds_of_devices(group.kinds, devices, scale_of(group.networks.size()), group_options())};
    if (!own.kinds.empty()) part.push_back(std::move(own));
  }
  return part;
}

std::optional<std::vector<Index>> places_in(const NetworkGroup& group, const Eigen::MatrixXd& near) {
  std::vector<Index> places;
  for (Index row = 0; row < near.rows(); ++row) {
    const auto found = std::max_element(group.networks.begin(), group.networks.end(),
                                        [&](Index a, Index b) { return near(row, a) < near(row, b); });
    if (near(row, *found) < same_network) return std::nullopt;
    places.push_back(found - group.networks.begin());
  }
  return places;
}

KindView view_of(const DeviceKind& kind, const std::vector<Index>& places) {
  const auto n = static_cast<Index>(places.size());
  KindView view{&kind, Eigen::MatrixXd::Zero(n, kind.log_costs.size()), Eigen::VectorXd::Zero(n),
                Eigen::MatrixXd::Zero(n, 0)};
  for (Index i = 0; i < n; ++i) view.features(i, places[static_cast<std::size_t>(i)]) = 1;
  return view;
}

}  // namespace tenshot::trainer::operators
