#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <string>
#include <vector>

#include "trainer/predictors/operators/device_kinds.h"
#include "trainer/predictors/operators/network_groups.h"

namespace tenshot::trainer::operators {

/// Networks of a pool as numbers, so that nothing here depends on a search space.
struct PoolNumbers {
  Eigen::MatrixXd features;           ///< [networks, features]
  std::size_t operator_features = 0;  ///< the first ones: no cost of theirs is below zero
  Eigen::MatrixXd latency_ms;         ///< [devices, networks]; NaN where it was not measured
  FeatureScale scale = {};            ///< of the operators' features; empty: no kinds of devices are learned
  DeviceLabels labels = {};           ///< of the devices; as `scale`
  /// [features]: those of one number measure the same operators, and the first counts these. Empty: each is alone.
  std::vector<std::size_t> groups = {};
};

/// Where networks stand among each other: roots of the shares that the shared features have of a typical latency,
/// divided by the kernel's length, and the typical log latency, divided by its scale; [networks, features + 1].
struct NetworkPlaces {
  Eigen::VectorXd typical_costs;  ///< [features]; empty: networks are not compared
  double length = 0.4;            ///< of the kernel, over the shares of latency that features have
  double scale = 1;               ///< of the kernel, over log latency
  double noise = 0.3;             ///< variance of what is a network's own, against what alike ones share

  bool compared() const { return typical_costs.size() > 0; }
  Eigen::MatrixXd of(const Eigen::MatrixXd& features) const;
  /// The inverse of `of`; zero for features that no device of the pool has a cost of.
  Eigen::MatrixXd features_at(const Eigen::MatrixXd& places) const;
};

struct LibraryOptions {
  /// How strongly the cost of a decision is drawn towards what its operators say, against relative errors of networks.
  double decision_penalty = 3;
  int robust_rounds = 2;  ///< in which networks that a device's costs explain badly count less
  /// Where a pool has few networks, a device's costs are the mean of fits to this many random subsets of them (Breiman,
  /// 1996): costs that only a few networks determine are drawn towards zero. More subsets cost time and vary less.
  std::size_t subsets = 20;
  double subset_share = 0.6;  ///< of the networks in each subset; smaller draws more towards zero
  /// How strongly the costs of a device are then drawn towards the mean over the devices, where networks are compared:
  /// the weight of a cost's difference from that mean, relative to it, against the relative error of one network. 0:
  /// not at all. Larger trusts a device's own networks less.
  double typical_pull = 0;
  double typical_floor = 0.01;  ///< added to the mean, in units of the median latency: no cost is held at zero
  int typical_rounds = 4;       ///< in which means and costs follow each other; more change little and take longer
  /// Residuals of alike networks are shared up to this many networks; a larger pool determines its costs.
  std::size_t most_similar = 700;
  NetworkPlaces places = {};  ///< of the library, which gives them typical_costs
  KindOptions kinds = {};
  KindOptions groups = group_options();  ///< of NetworkGroup
};

/// exp(−distance) for each pair of rows, [a.rows(), b.rows()].
Eigen::MatrixXd similarity(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b);

/// The variance of log latency of networks that are far costlier than the costliest that is known, and far cheaper than
/// the cheapest. Nearer ones have a share of it.
struct ReachVariance {
  double above = 0;
  double below = 0;

  /// The variance of a network that has this share (LogLatency::reach).
  double at(double reach) const { return reach > 0 ? above * reach : -below * reach; }
};

/// The share of what other devices say in costs that are drawn to theirs (draw_to_others), at most.
constexpr double most_drawn = 0.5;

/// What the devices of a pool cost, and how they vary together.
struct CostLibrary {
  Eigen::MatrixXd costs;  ///< [devices, features], in units of the device's median latency
  std::size_t operator_features = 0;
  /// What predicts known devices that measured too few networks for their own costs to do it: these, drawn to others'
  /// by most_drawn. Zeros for the other devices; empty: for all.
  Eigen::MatrixXd known_costs;
  Eigen::VectorXd median_ms;  ///< [devices]
  Eigen::VectorXd log_rms;    ///< [devices]: root mean square of log(measured / fitted)
  /// Mean square difference of the devices' log latency profiles, [devices, devices]; large between DeviceLabels::kind.
  Eigen::MatrixXd differences;
  /// Root mean square difference of two devices' log latency profiles at which they still count as alike.
  double alike = 0.15;
  /// Which block of the features each device's costs belong to (FeatureMap); empty: all to the shared one.
  std::vector<std::size_t> block;

  /// The names of the groups (operator_groups.h) that each device's networks lack and others of the pool have, whose
  /// costs are those of other devices; empty where nobody said so.
  std::vector<std::vector<std::string>> unmeasured;

  NetworkPlaces places;
  Eigen::MatrixXd known;          ///< places of the pool's networks, [networks, features + 1]; empty: not compared
  Eigen::MatrixXd known_weights;  ///< [networks, devices]: a device's log residual at x is similarity(x, known) · them
  /// The smallest and the largest place of size among the networks that each device measured, [devices, 2], or empty.
  Eigen::MatrixXd sizes;
  /// The growth of the knowledge by which each network and each device came, 0: by none; empty: it never grew.
  Eigen::VectorXd network_growth, device_growth;
  /// The variance of log latency of networks unlike all known ones, in squares of log_rms; calibration finds it.
  double residual_factor = 1;
  /// The share of its expected variance that log latency has of networks that are known, beside networks unlike them.
  double known_share = 1;
  /// [devices]: DeviceKind::error_scale of the entries' kinds; 1 of entries behind its end.
  Eigen::VectorXd error_scale;
  ReachVariance reach_variance;

  FeatureScale scale;                ///< of the kinds' features
  std::vector<DeviceKind> kinds;     ///< all device-runtimes first; empty: only entries explain a device
  std::vector<NetworkGroup> groups;  ///< of networks that many boards measured

  std::size_t devices() const { return static_cast<std::size_t>(costs.rows()); }
  /// The mean over the devices of the variance of log latency of networks unlike all that are known.
  double residual_variance() const { return residual_factor * log_rms.array().square().mean(); }
  /// The same for a device like an entry, or of a kind: how well costs explained networks there.
  double residual_variance_of(std::size_t entry) const {
    const double rms = entry < devices() ? log_rms[entry] : kinds[entry - devices()].log_rms;
    return rms > 0 ? residual_factor * rms * rms : residual_variance();
  }
  /// Whether an entry's own pool has a network of `known`; kinds are of the pool that grew.
  bool knows(std::size_t entry, Eigen::Index network) const {
    const auto at = static_cast<Eigen::Index>(entry);
    const double own = at < device_growth.size() ? device_growth[at] : 0;
    return network_growth.size() == 0 || network_growth[network] == own;
  }
  double error_scale_of(std::size_t entry) const {
    if (entry >= devices()) return kinds[entry - devices()].error_scale;
    const auto at = static_cast<Eigen::Index>(entry);
    return at < error_scale.size() ? error_scale[at] : 1;
  }
  std::size_t block_of(std::size_t device) const { return block.empty() ? 0 : block[device]; }
  /// Where the block of a device begins among the features.
  Eigen::Index begin_of(std::size_t device) const {
    const std::size_t own = block_of(device);
    return own == 0 ? 0 : costs.cols() + (own - 1) * operator_features;
  }
  /// The features that a device's costs are of, [networks, costs.cols()], among all of a FeatureTable.
  Eigen::MatrixXd rows_for(std::size_t device, const Eigen::MatrixXd& features) const {
    return features.middleCols(begin_of(device), costs.cols());
  }
};

/// The devices that measured any of these networks, by number.
std::vector<Eigen::Index> devices_with(const PoolNumbers& pool, const std::vector<Eigen::Index>& networks);

/// Some networks of a pool on some of its devices, in this order.
PoolNumbers selection_of(const PoolNumbers& pool, const std::vector<Eigen::Index>& networks,
                         const std::vector<Eigen::Index>& devices);

/// Costs of every device: non-negative least squares on the relative error (Li et al., 2023, Eq. 1) for what operators
/// cost, with weights that lower what is far off; then in a layered space what each decision adds, by ridge regression
/// on what is left. Throws InputError when a device has no latency.
CostLibrary fit_library(const PoolNumbers& pool, const LibraryOptions& options = {});

/// Mean square difference of the devices' fitted log latencies over networks, each relative to its mean, [devices,
/// devices]; of many networks some hundreds count. `features` are [networks, features], `costs` [devices, features].
Eigen::MatrixXd profile_differences(const Eigen::MatrixXd& features, const Eigen::MatrixXd& costs);

/// What is left of a device's log latencies beside its costs, as a Gaussian process over the networks that it measured:
/// its weights, zero elsewhere, [networks]. `kernel` says how alike the pool's networks are.
Eigen::VectorXd residual_weights(const PoolNumbers& pool, Eigen::Index device, const Eigen::VectorXd& costs,
                                 const Eigen::MatrixXd& kernel, double noise);

/// CostLibrary::sizes of a pool whose networks have these places.
Eigen::MatrixXd size_ranges(const PoolNumbers& pool, const Eigen::MatrixXd& places);

/// Keeps of the devices' residuals what devices have in common: their leading principal components, or the first alone.
/// Those of a kind that has many device-runtimes are of its own, as many as hold at most four fifths of the squares;
/// those of others are of all and hold half. With all residuals, every latency of the pool could be computed from it.
void keep_common_residuals(CostLibrary& library);

/// The library of some of its devices, as a prior: without known_costs.
CostLibrary with_devices(const CostLibrary& library, const std::vector<std::size_t>& devices);

/// How much each device stands for when the next one is imagined: one over the number of devices about like it, itself
/// included; sums to 1. Sixty settings of phones' processors count for little more than one, and a single GPU for one.
Eigen::VectorXd representation(const CostLibrary& library);

/// The weights that devices have in what is said of devices like each: exp(−difference / 2 alike²), rows sum to 1.
Eigen::MatrixXd nearness(const CostLibrary& library);

}  // namespace tenshot::trainer::operators
