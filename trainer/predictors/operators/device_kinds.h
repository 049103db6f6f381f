#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tenshot::trainer::operators {

// What device-runtimes of a kind take is a log-normal over the costs of the features, learned from all of them at once
// by expectation-maximisation. A kind has its own mean and covariance, drawn towards those of all device-runtimes:
// costs of GPUs say little of a processor, and dozens of settings of one board say little more than one.

/// What is said of the devices of a pool beside their latencies; [devices] each.
struct DeviceLabels {
  std::vector<std::string> kind;   ///< equal for device-runtimes of one kind, such as a runtime on GPUs
  std::vector<std::string> board;  ///< equal for settings of one board
};

/// Features in units that are comparable: a cost of one measure (bytes, …) is about as large in each group.
struct FeatureScale {
  std::vector<std::size_t> measure;  ///< [features]
  Eigen::VectorXd log_unit;          ///< [features]: log of a feature's unit in units usual for its measure
};

/// A device-runtime as its kind explains it.
struct KindMember {
  std::size_t device = 0;
  double weight = 1;           ///< less for settings of one board than for as many boards
  double typical = 1;          ///< less for a device that is unlike the others of its kind
  Eigen::VectorXd log_costs;   ///< [features]: of the ms that the usual unit takes
  Eigen::MatrixXd covariance;  ///< [features, features]: of what its networks leave open
  Eigen::VectorXd residual;    ///< [networks]: its log residual at x is similarity(x, networks) · residual
};

/// What the kind of those is called whose runtime has too few members.
constexpr std::string_view kind_of_other_runtimes = "other runtimes";

/// A kind of device-runtimes, before anything of a new one is measured.
struct DeviceKind {
  std::string name;
  Eigen::VectorXd log_costs;        ///< [features]: mean
  Eigen::MatrixXd covariance;       ///< [features, features]
  double log_rms = 0;               ///< as CostLibrary::log_rms, of a usual member; 0: unknown
  double error_scale = 1;           ///< how many times as large as others' standardised errors its devices' are
  Eigen::VectorXd residual;         ///< [networks]: mean of the members'
  Eigen::MatrixXd residual_factor;  ///< [networks, r]: their covariance is factor · factorᵀ
  std::vector<KindMember> members;  ///< empty where the kind was read from a file
};

/// The measured networks under one kind of devices.
struct KindView {
  const DeviceKind* kind = nullptr;
  Eigen::MatrixXd features;         ///< [n, features], in usual units
  Eigen::VectorXd residual;         ///< [n]: prior mean of the log residuals
  Eigen::MatrixXd residual_factor;  ///< [n, r]
};

struct KindOptions {
  double variance = 0.5;        ///< of a log cost of its own, before any device is known
  double noise = 0.07;          ///< σ of log latency about a device's costs, as some networks would show it
  double error_freedom = 4;     ///< ν of the Student distribution of networks about these costs
  double measure_variance = 1;  ///< of what costs of one measure share, before any device is known
  double prior_devices = 6;     ///< what these two count as, in devices
  double kind_devices = 4;      ///< what all device-runtimes count as, in devices, where a kind's are few
  double measure_devices = 2;   ///< what costs of one measure count as in the mean of a cost that few inform
  double setting_power = 0.7;   ///< n settings of a board and kind count as n^(1 − setting_power) boards
  std::size_t fewest = 3;       ///< device-runtimes that are a kind of their own
  /// A kind has a cluster of device-runtimes that are alike for each of so many device-runtimes, and at most
  /// most_clusters of them; each is a kind of the same name. A new one is often like some of its kind only. 0: none.
  std::size_t cluster_devices = 0, most_clusters = 5;
  int rounds = 8;  ///< of expectation-maximisation
  /// ν of a Student distribution of devices about their kind (Lange, Little and Taylor, 1989): smaller counts a device
  /// that is unlike the others less. 0: all count alike.
  double device_freedom = 0;
  /// What a kind's costs miss of a network's log latency alike on all its devices. 0: each device errs for itself.
  double network_variance = 0.1;
};

/// Those of `networks` that a device measured. `latency_ms` is that of each network, NaN where it was not measured.
std::vector<Eigen::Index> measured_of(const std::vector<Eigen::Index>& networks, const Eigen::VectorXd& latency_ms);

/// The mean of the members' residuals, and a factor of their covariance; both drawn to zero where members are few.
void set_residuals(DeviceKind& kind);

/// Keeps of the residuals' covariance its twelve leading directions.
void keep_leading_residuals(DeviceKind& kind);

/// All device-runtimes together as the first kind, then those of `labels` that have enough, and under the same name
/// clusters of theirs. `features` are [networks, features], `latency_ms` [devices, networks], NaN where unmeasured.
std::vector<DeviceKind> fit_kinds(const Eigen::MatrixXd& features, const FeatureScale& scale,
                                  const Eigen::MatrixXd& latency_ms, const DeviceLabels& labels,
                                  const KindOptions& options = {});

/// Makes `differences` [devices, devices] of log latency profiles large between kinds that have enough device-runtimes,
/// however their profiles look: most costs of a board that measured eighteen networks are open, and widen others'.
void set_kinds_apart(const DeviceLabels& labels, const KindOptions& options, Eigen::MatrixXd& differences);

/// The kinds of some of the devices, numbered anew in this order; none where the kinds come from a file.
std::vector<DeviceKind> kinds_of_devices(const std::vector<DeviceKind>& kinds, const std::vector<std::size_t>& devices,
                                         const FeatureScale& scale, const KindOptions& options = {});

}  // namespace tenshot::trainer::operators
