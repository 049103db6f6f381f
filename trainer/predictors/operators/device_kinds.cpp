#include "trainer/predictors/operators/device_kinds.h"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

#include "nasbench/support/median.h"
#include "nasbench/support/numbers_below.h"
#include "trainer/predictors/posterior/clusters.h"

namespace tenshot::trainer::operators {

namespace {

using Eigen::Index;

constexpr double usual_noise_count = 8;  ///< networks that KindOptions::noise counts as
constexpr double least_noise = 0.01;
constexpr double scale_variance = 4;  ///< of a device's log speed, before any was seen

struct Measured {
  std::vector<Index> networks;  ///< [n], by number
  Eigen::MatrixXd features;     ///< [n, features], in usual units
  Eigen::VectorXd log_latency;  ///< [n]
};

Eigen::VectorXd log_latency_of(const Eigen::MatrixXd& features, const Eigen::VectorXd& log_costs) {
  return (features * log_costs.array().exp().matrix()).array().max(1e-300).log();
}

/// The covariance that log costs have before anything is learned: each its own part, and one for each measure.
Eigen::MatrixXd basic_covariance(const FeatureScale& scale, const KindOptions& options) {
  const std::size_t features = scale.measure.size();
  Eigen::MatrixXd covariance = options.variance * Eigen::MatrixXd::Identity(features, features);
  for (std::size_t a = 0; a < features; ++a) {
    for (std::size_t b = 0; b < features; ++b) {
      if (scale.measure[a] == scale.measure[b]) covariance(a, b) += options.measure_variance;
    }
  }
  return covariance;
}

/// The most probable log costs of a device by Gauss–Newton under errors of that freedom, from where `member` stands,
/// and their covariance by Laplace's approximation. `precision` is the inverse of the prior's covariance.
void fit(const Measured& measured, double noise_variance, double error_freedom, const DeviceKind& prior,
         const Eigen::MatrixXd& precision, int steps, KindMember& member) {
  const Index features = precision.rows();
  Eigen::MatrixXd system;
  Eigen::LLT<Eigen::MatrixXd> factor;
  for (int step = 0; step <= steps; ++step) {
    const Eigen::MatrixXd terms = measured.features * member.log_costs.array().exp().matrix().asDiagonal();
    const Eigen::VectorXd latency = terms.rowwise().sum();
    const Eigen::MatrixXd slopes = latency.cwiseInverse().asDiagonal() * terms;
    const Eigen::VectorXd error = measured.log_latency - latency.array().log().matrix();
    const Eigen::VectorXd weight =
        (error_freedom + 1) / (error_freedom + error.array().square() / noise_variance) / noise_variance;
    system = precision;
    system.selfadjointView<Eigen::Lower>().rankUpdate((weight.cwiseSqrt().asDiagonal() * slopes).transpose());
    factor.compute(system);
    if (step == steps) break;
    const Eigen::VectorXd gradient =
        slopes.transpose() * weight.cwiseProduct(error) - precision * (member.log_costs - prior.log_costs);
    const Eigen::VectorXd move = factor.solve(gradient);
    const double largest = move.cwiseAbs().maxCoeff();
    constexpr double longest_move = 2, settled = 1e-3;
    member.log_costs += move * std::min(1.0, longest_move / std::max(largest, 1e-9));
    if (largest < settled) step = steps - 1;
  }
  member.covariance = factor.solve(Eigen::MatrixXd::Identity(features, features));
}

double noise_variance_of(const Measured& measured, const KindMember& member, double usual_noise) {
  const Eigen::VectorXd error = (measured.log_latency - log_latency_of(measured.features, member.log_costs)).cwiseAbs();
  const double noise = std::max(1.4826 * median({error.data(), error.data() + error.size()}), least_noise);
  const auto count = static_cast<double>(error.size());
  return (usual_noise_count * usual_noise * usual_noise + count * noise * noise) / (usual_noise_count + count);
}

/// Where few devices inform a cost, its mean is that of its measure's other costs.
void draw_to_measures(const Eigen::VectorXd& informed, const FeatureScale& scale, double count, Eigen::VectorXd& mean) {
  std::map<std::size_t, std::pair<double, double>> sums;  // of informed · mean, and of informed
  for (Index f = 0; f < mean.size(); ++f) {
    auto& [sum, total] = sums[scale.measure[f]];
    sum += informed[f] * mean[f];
    total += informed[f];
  }
  for (Index f = 0; f < mean.size(); ++f) {
    const auto& [sum, total] = sums[scale.measure[f]];
    if (total > 1e-6) mean[f] = (informed[f] * mean[f] + count * sum / total) / (informed[f] + count);
  }
}

double total_weight(const std::vector<KindMember>& members) {
  double total = 0;
  for (const KindMember& member : members) total += member.weight;
  return total;
}

/// The weight of a device under a Student distribution, by how far its log latencies are from what the prior expects of
/// them: at the most probable costs the two squares sum to the squared Mahalanobis distance.
double typical_weight(const Measured& measured, const KindMember& member, double noise_variance,
                      const DeviceKind& prior, const Eigen::MatrixXd& precision, double freedom) {
  if (freedom == 0) return 1;
  const Eigen::VectorXd difference = member.log_costs - prior.log_costs;
  const double distance =
      difference.dot(precision * difference) +
      (measured.log_latency - log_latency_of(measured.features, member.log_costs)).squaredNorm() / noise_variance;
  return (freedom + static_cast<double>(measured.log_latency.size())) / (freedom + distance);
}

/// Sets the kind's mean and covariance to those of its members' log costs, under a prior that counts as some devices.
void estimate(const Eigen::MatrixXd& basic, const DeviceKind* all, const FeatureScale& scale,
              const KindOptions& options, DeviceKind& kind) {
  const double total = total_weight(kind.members);
  const double prior_devices = all != nullptr ? options.kind_devices : options.prior_devices;
  Eigen::VectorXd mean = Eigen::VectorXd::Zero(basic.rows());
  Eigen::MatrixXd covariance = Eigen::MatrixXd::Zero(basic.rows(), basic.cols());
  double typical = 0;
  for (const KindMember& member : kind.members) {
    typical += member.weight * member.typical;
    mean += member.weight * member.typical * member.log_costs;
    covariance += member.weight * member.covariance;
  }
  const Eigen::VectorXd open = covariance.diagonal() / total;
  mean /= typical;
  if (all != nullptr) {
    mean = (total * mean + all->log_costs) / (total + 1);
  } else {
    const Eigen::VectorXd informed = total * (1 - open.array() / kind.covariance.diagonal().array()).max(0);
    draw_to_measures(informed, scale, options.measure_devices, mean);
  }
  for (const KindMember& member : kind.members) {
    const Eigen::VectorXd difference = member.log_costs - mean;
    covariance.selfadjointView<Eigen::Lower>().rankUpdate(difference, member.weight * member.typical);
  }
  kind.log_costs = mean;
  kind.covariance = covariance.selfadjointView<Eigen::Lower>();
  kind.covariance += prior_devices * (all != nullptr ? all->covariance : basic);
  kind.covariance /= total + prior_devices;
}

/// What the members' costs miss of each network alike, as log latency, [networks]. Of these costs, dozens of boards
/// that measured the same dozen networks tell no more than a dozen measurements whose errors have this variance: the
/// costs are one Gauss–Newton step from the members' mean, under those of all devices, and the errors are what is left.
Eigen::VectorXd shared_errors(const std::vector<Measured>& measured, const std::vector<KindMember>& members,
                              const DeviceKind& all, const KindOptions& options, Index networks) {
  constexpr double nobody = 1e-9;  // the weight of a network that no member measured
  Eigen::VectorXd weight = Eigen::VectorXd::Constant(networks, nobody), error = Eigen::VectorXd::Zero(networks);
  Eigen::VectorXd mean = Eigen::VectorXd::Zero(all.log_costs.size());
  Eigen::MatrixXd slopes = Eigen::MatrixXd::Zero(networks, all.log_costs.size());
  double total = 0;
  for (const KindMember& member : members) {
    const Measured& own = measured[member.device];
    const double of_member = member.weight * member.typical;
    const Eigen::MatrixXd terms = own.features * member.log_costs.array().exp().matrix().asDiagonal();
    const Eigen::VectorXd latency = terms.rowwise().sum();
    mean += of_member * member.log_costs;
    total += of_member;
    weight(own.networks).array() += of_member;
    error(own.networks) += of_member * (own.log_latency - latency.array().log().matrix());
    slopes(own.networks, Eigen::all) += of_member * latency.cwiseInverse().asDiagonal() * terms;
  }
  slopes.array().colwise() /= weight.array();
  const Eigen::VectorXd left = error.cwiseQuotient(weight) - slopes * (all.log_costs - mean / total);
  Eigen::MatrixXd system = slopes * all.covariance * slopes.transpose();
  system.diagonal().array() += options.network_variance + options.noise * options.noise / weight.array();
  return options.network_variance * system.llt().solve(left);
}

/// Expectation-maximisation over the members.
void maximise(const std::vector<Measured>& measured, const Eigen::MatrixXd& basic, const DeviceKind* all,
              const FeatureScale& scale, const KindOptions& options, Index networks, DeviceKind& kind) {
  const Index features = basic.rows();
  if (all != nullptr) {
    kind.log_costs = all->log_costs;
    kind.covariance = all->covariance;
  } else {
    double sum = 0, count = 0;
    for (const KindMember& member : kind.members) {
      sum += measured[member.device].log_latency.sum();
      count += static_cast<double>(measured[member.device].log_latency.size());
    }
    kind.log_costs = Eigen::VectorXd::Constant(features, sum / count - std::log(static_cast<double>(features)));
    kind.covariance = basic + scale_variance * Eigen::MatrixXd::Ones(features, features);
  }
  std::vector<double> noise_variance(kind.members.size(), 2 * options.noise * options.noise);
  Eigen::VectorXd shared = Eigen::VectorXd::Zero(networks);
  for (int round = 0; round < options.rounds; ++round) {
    const Eigen::MatrixXd precision = kind.covariance.llt().solve(Eigen::MatrixXd::Identity(features, features));
    for (std::size_t m = 0; m < kind.members.size(); ++m) {
      KindMember& member = kind.members[m];
      Measured of_device = measured[member.device];
      of_device.log_latency -= shared(of_device.networks);
      if (round == 0) {
        member.log_costs = kind.log_costs;
        member.log_costs.array() += (of_device.log_latency - log_latency_of(of_device.features, kind.log_costs)).mean();
      }
      constexpr int first_steps = 12, later_steps = 4;
      fit(of_device, noise_variance[m], options.error_freedom, kind, precision, round == 0 ? first_steps : later_steps,
          member);
      noise_variance[m] = noise_variance_of(of_device, member, options.noise);
      member.typical = typical_weight(of_device, member, noise_variance[m], kind, precision, options.device_freedom);
    }
    if (all != nullptr && options.network_variance > 0) {
      shared = shared_errors(measured, kind.members, *all, options, networks);
    }
    estimate(basic, all, scale, options, kind);
  }
}

std::vector<KindMember> members_of(const std::vector<std::size_t>& devices, const DeviceLabels& labels,
                                   const KindOptions& options) {
  std::map<std::pair<std::string, std::string>, int> settings;
  for (const std::size_t d : devices) ++settings[{labels.kind[d], labels.board[d]}];
  std::vector<KindMember> members;
  for (const std::size_t d : devices) {
    KindMember member;
    member.device = d;
    member.weight = std::pow(settings[{labels.kind[d], labels.board[d]}], -options.setting_power);
    members.push_back(std::move(member));
  }
  return members;
}

/// Those of a kind's devices that are alike, where they are enough; `all` has every device in its order.
std::vector<std::vector<std::size_t>> clusters_of(const std::vector<std::size_t>& devices, const DeviceKind& all,
                                                  const KindOptions& options) {
  const std::size_t count = options.cluster_devices == 0 ? 1 : devices.size() / options.cluster_devices;
  if (count < 2) return {};
  Eigen::MatrixXd profiles(all.log_costs.size(), devices.size());
  for (std::size_t i = 0; i < devices.size(); ++i) profiles.col(i) = all.members[devices[i]].log_costs;
  profiles.rowwise() -= profiles.colwise().mean().eval();
  const std::size_t most = std::min(count, options.most_clusters);
  const std::vector<std::uint32_t> cluster_of = alike_columns(profiles, most);
  std::vector<std::vector<std::size_t>> clusters(most);
  for (std::size_t i = 0; i < devices.size(); ++i) clusters[cluster_of[i]].push_back(devices[i]);
  const auto few = [&](const std::vector<std::size_t>& cluster) { return cluster.size() < options.fewest; };
  clusters.erase(std::remove_if(clusters.begin(), clusters.end(), few), clusters.end());
  return clusters;
}

}  // namespace

std::vector<Index> measured_of(const std::vector<Index>& networks, const Eigen::VectorXd& latency_ms) {
  std::vector<Index> measured;
  std::copy_if(networks.begin(), networks.end(), std::back_inserter(measured),
               [&](Index n) { return std::isfinite(latency_ms[n]); });
  return measured;
}

void set_residuals(DeviceKind& kind) {
  constexpr double prior_devices = 2;
  const Index networks = kind.members.front().residual.size();
  const double total = total_weight(kind.members) + prior_devices;
  kind.residual = Eigen::VectorXd::Zero(networks);
  for (const KindMember& member : kind.members) {
    kind.residual += member.weight * member.typical / total * member.residual;
  }
  kind.residual_factor.resize(networks, kind.members.size());
  for (std::size_t m = 0; m < kind.members.size(); ++m) {
    const KindMember& member = kind.members[m];
    const Eigen::VectorXd known = (member.residual.array() != 0).cast<double>();
    kind.residual_factor.col(m) =
        std::sqrt(member.weight * member.typical / total) * (member.residual - known.cwiseProduct(kind.residual));
  }
}

void keep_leading_residuals(DeviceKind& kind) {
  constexpr Index kept = 12;
  Eigen::MatrixXd& factor = kind.residual_factor;
  if (factor.cols() <= kept) return;
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(factor.transpose() * factor);
  factor = (factor * eigen.eigenvectors().rightCols(kept)).eval();
}

std::vector<DeviceKind> fit_kinds(const Eigen::MatrixXd& features, const FeatureScale& scale,
                                  const Eigen::MatrixXd& latency_ms, const DeviceLabels& labels,
                                  const KindOptions& options) {
  const auto devices = static_cast<std::size_t>(latency_ms.rows());
  if (devices < options.fewest) return {};
  const Eigen::MatrixXd usual = features * scale.log_unit.array().exp().matrix().asDiagonal();
  std::vector<Measured> measured(devices);
  std::map<std::string, std::vector<std::size_t>> by_kind;
  for (std::size_t d = 0; d < devices; ++d) {
    by_kind[labels.kind[d]].push_back(d);
    measured[d].networks = measured_of(numbers_below<Index>(latency_ms.cols()), latency_ms.row(d));
    measured[d].features = usual(measured[d].networks, Eigen::all);
    measured[d].log_latency = latency_ms.row(d)(measured[d].networks).array().log().transpose();
  }
  const Eigen::MatrixXd basic = basic_covariance(scale, options);
  std::vector<DeviceKind> kinds;
  const auto learn = [&](const std::string& name, const std::vector<std::size_t>& own) {
    DeviceKind kind;
    kind.name = name;
    kind.members = members_of(own, labels, options);
    maximise(measured, basic, kinds.empty() ? nullptr : &kinds.front(), scale, options, features.rows(), kind);
    kinds.push_back(std::move(kind));
  };
  learn("all device-runtimes", numbers_below(devices));
  std::vector<std::size_t> others;  // of kinds that have too few
  for (const auto& [name, own] : by_kind) {
    if (own.size() < options.fewest) {
      others.insert(others.end(), own.begin(), own.end());
      continue;
    }
    if (own.size() < devices) learn(name, own);
    for (const std::vector<std::size_t>& cluster : clusters_of(own, kinds.front(), options)) learn(name, cluster);
  }
  std::sort(others.begin(), others.end());
  if (others.size() >= options.fewest && others.size() < devices) learn(std::string(kind_of_other_runtimes), others);
  return kinds;
}

void set_kinds_apart(const DeviceLabels& labels, const KindOptions& options, Eigen::MatrixXd& differences) {
  constexpr double apart = 10;  // nothing is left of a weight, and none is too small for a normal number
  std::map<std::string, std::size_t> count;
  for (const std::string& kind : labels.kind) ++count[kind];
  const auto learned = [&](const std::string& kind) { return count.at(kind) < options.fewest ? std::string() : kind; };
  for (std::size_t a = 0; a < labels.kind.size(); ++a) {
    for (std::size_t b = 0; b < labels.kind.size(); ++b) {
      if (learned(labels.kind[a]) != learned(labels.kind[b])) differences(a, b) = apart;
    }
  }
}

std::vector<DeviceKind> kinds_of_devices(const std::vector<DeviceKind>& kinds, const std::vector<std::size_t>& devices,
                                         const FeatureScale& scale, const KindOptions& options) {
  if (kinds.empty() || kinds.front().members.empty()) return {};
  const Eigen::MatrixXd basic = basic_covariance(scale, options);
  std::map<std::size_t, std::size_t> place;
  for (std::size_t i = 0; i < devices.size(); ++i) place.emplace(devices[i], i);
  std::vector<DeviceKind> part;
  for (const DeviceKind& kind : kinds) {
    DeviceKind own;
    own.name = kind.name;
    own.log_costs = kind.log_costs;
    own.covariance = kind.covariance;
    for (const KindMember& member : kind.members) {
      const auto found = place.find(member.device);
      if (found == place.end()) continue;
      own.members.push_back(member);
      own.members.back().device = found->second;
    }
    if (own.members.size() < options.fewest) continue;
    estimate(basic, part.empty() ? nullptr : &part.front(), scale, options, own);
    set_residuals(own);
    part.push_back(std::move(own));
  }
  return part;
}

}  // namespace tenshot::trainer::operators
