#include "trainer/predictors/operators/cost_library.h"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>

#include "nasbench/support/error.h"
#include "nasbench/support/median.h"
#include "nasbench/support/numbers_below.h"
#include "nasbench/support/random.h"
#include "trainer/core/nnls.h"
#include "trainer/predictors/library/library.h"
#include "trainer/predictors/operators/cost_imputation.h"
#include "trainer/predictors/posterior/latency_solver.h"

namespace tenshot::trainer::operators {
namespace {

using Eigen::Index;

constexpr double student_freedom = 4;
constexpr double smallest_noise = 0.02;
constexpr double least_log_rms = 1e-4;

struct Measured {
  std::vector<Index> networks;
  Eigen::MatrixXd features;
  Eigen::VectorXd relative;  ///< latency / median
  double median_ms = 0;
};

Measured measured_by(const PoolNumbers& pool, Index device) {
  Measured measured;
  measured.networks = measured_of(numbers_below<Index>(pool.latency_ms.cols()), pool.latency_ms.row(device));
  if (measured.networks.empty()) throw InputError("device " + std::to_string(device) + " of the pool has no latency");
  measured.features = pool.features(measured.networks, Eigen::all);
  measured.relative = pool.latency_ms(device, measured.networks).transpose();
  measured.median_ms = median({measured.relative.begin(), measured.relative.end()});
  measured.relative /= measured.median_ms;
  return measured;
}

Eigen::ArrayXd log_residuals(const Measured& measured, const Eigen::VectorXd& costs) {
  return measured.relative.array().log() - (measured.features * costs).array().max(smallest_relative).log();
}

/// Which networks each subset has, the same for every device; no subset: all of them at once.
using Subsets = std::vector<std::vector<bool>>;

Subsets draw_subsets(Index networks, const LibraryOptions& options) {
  constexpr std::uint64_t seed = 1;
  Subsets subsets;
  for (std::size_t s = 0; s < options.subsets; ++s) {
    Rng rng(seed, s);
    subsets.emplace_back();
    for (Index n = 0; n < networks; ++n) subsets.back().push_back(rng.uniform() < options.subset_share);
  }
  return subsets;
}

/// The most that each cost can be: no part of a network takes longer than it. Networks that hardly count say nothing.
Eigen::VectorXd largest_costs(const Eigen::MatrixXd& relative, const Eigen::VectorXd& weights) {
  constexpr double enough = 0.5;
  const Eigen::VectorXd counts = (weights.array() >= enough * weights.maxCoeff()).cast<double>();
  return (counts.asDiagonal() * relative).colwise().maxCoeff().transpose().cwiseInverse();
}

/// The mean of fits to subsets of the rows of `relative`, each row weighted. A subset where all operators of a kind
/// have one size could give all their time to one of their costs; the networks left out bound it.
Eigen::VectorXd mean_of_subsets(const Measured& measured, const Eigen::MatrixXd& relative,
                                const Eigen::VectorXd& weights, const Subsets& subsets) {
  Eigen::VectorXd mean = Eigen::VectorXd::Zero(relative.cols());
  const Eigen::VectorXd largest = largest_costs(relative, weights);
  std::size_t fits = 0;
  for (const std::vector<bool>& subset : subsets) {
    std::vector<Index> rows;
    for (std::size_t i = 0; i < measured.networks.size(); ++i) {
      if (subset[measured.networks[i]]) rows.push_back(i);
    }
    if (rows.empty()) continue;
    const Eigen::VectorXd chosen = weights(rows);
    mean += bounded_least_squares(chosen.asDiagonal() * relative(rows, Eigen::all), chosen, largest);
    ++fits;
  }
  return fits > 0 ? Eigen::VectorXd(mean / static_cast<double>(fits))
                  : tall_non_negative_least_squares(weights.asDiagonal() * relative, weights);
}

/// The weights of a device's networks: those that its costs explain badly count less.
Eigen::VectorXd robust_weights(const Measured& measured, const Eigen::VectorXd& costs) {
  const Eigen::ArrayXd residual = log_residuals(measured, costs);
  const Eigen::ArrayXd size = residual.abs();
  const double noise = std::max(1.4826 * median({size.begin(), size.end()}), smallest_noise);
  return ((student_freedom + 1) / (student_freedom + (residual / noise).square())).sqrt();
}

Eigen::VectorXd operator_costs(const Measured& measured, Index operator_features, int robust_rounds,
                               const Subsets& subsets) {
  const Eigen::MatrixXd relative =
      measured.relative.cwiseInverse().asDiagonal() * measured.features.leftCols(operator_features);
  Eigen::VectorXd weights = Eigen::VectorXd::Ones(measured.relative.size());
  Eigen::VectorXd costs = Eigen::VectorXd::Zero(measured.features.cols());
  for (int round = 0;; ++round) {
    costs.head(operator_features) = tall_non_negative_least_squares(weights.asDiagonal() * relative, weights);
    if (round == robust_rounds) break;
    weights = robust_weights(measured, costs);
  }
  if (!subsets.empty()) costs.head(operator_features) = mean_of_subsets(measured, relative, weights, subsets);
  return costs;
}

/// min ‖W (A x − 1)‖² + pull² ‖(x − typical) / (typical + floor)‖² over x ≥ 0; A: features over latencies, W: weights.
Eigen::VectorXd drawn_towards(const Eigen::VectorXd& typical, const Measured& measured, const Eigen::VectorXd& weights,
                              const LibraryOptions& options) {
  const Index networks = measured.features.rows(), features = measured.features.cols();
  const Eigen::VectorXd pull = options.typical_pull * (typical.array() + options.typical_floor).inverse();
  Eigen::MatrixXd a(networks + features, features);
  a << weights.cwiseQuotient(measured.relative).asDiagonal() * measured.features, Eigen::MatrixXd(pull.asDiagonal());
  Eigen::VectorXd b(networks + features);
  b << weights, pull.cwiseProduct(typical);
  return non_negative_least_squares(a, b);
}

/// The costs of all devices, each drawn towards their mean, which follows them.
void draw_together(const std::vector<Measured>& measured, const LibraryOptions& options, Eigen::MatrixXd& costs) {
  for (int round = 0; round < options.typical_rounds; ++round) {
    const Eigen::VectorXd typical = costs.colwise().mean();
    for (std::size_t d = 0; d < measured.size(); ++d) {
      costs.row(d) = drawn_towards(typical, measured[d], robust_weights(measured[d], costs.row(d)), options);
    }
  }
}

void impute_unseen(const PoolNumbers& pool, Eigen::MatrixXd& costs) {
  const CostEvidence evidence = cost_evidence(pool, {});
  const Eigen::MatrixXd fitted = costs;
  for (Index d = 0; d < costs.rows(); ++d) costs.row(d) = with_unseen(evidence, {}, fitted, d);
}

void add_decision_costs(const Measured& measured, Index operator_features, double penalty, Eigen::VectorXd& costs) {
  const Index decisions = costs.size() - operator_features;
  if (decisions == 0) return;
  const Eigen::VectorXd inverse = measured.relative.cwiseInverse();
  const Eigen::MatrixXd relative = inverse.asDiagonal() * measured.features.rightCols(decisions);
  const Eigen::VectorXd left = Eigen::VectorXd::Ones(inverse.size()) - inverse.cwiseProduct(measured.features * costs);
  Eigen::MatrixXd gram = relative.transpose() * relative;
  gram.diagonal().array() += penalty;
  costs.tail(decisions) = gram.llt().solve(relative.transpose() * left);
}

/// What the columns have in common: their leading principal directions, as many as hold at most `kept_share` of the
/// squares. The first is one of them unless it holds nearly all of the squares.
Eigen::MatrixXd common_directions(const Eigen::MatrixXd& columns, double kept_share) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(columns.transpose() * columns);
  const Eigen::VectorXd& squares = eigen.eigenvalues();  // ascending
  constexpr double nearly_all = 0.95;
  double kept = 0;
  Index rank = 0;
  for (; rank < squares.size(); ++rank) {
    kept += squares[squares.size() - 1 - rank];
    if (kept > (rank == 0 ? nearly_all : kept_share) * squares.sum()) break;
  }
  return eigen.eigenvectors().rightCols(rank);
}

/// What devices' weights have in common: all of `weights`, [networks, devices], along their common directions.
Eigen::MatrixXd common_part(Eigen::MatrixXd weights, double kept_share) {
  const Eigen::RowVectorXd length = weights.colwise().norm().cwiseMax(1e-12);  // each device counts alike
  weights *= length.cwiseInverse().asDiagonal();
  const Eigen::MatrixXd common = common_directions(weights, kept_share);
  return weights * common * common.transpose() * length.asDiagonal();
}

/// Sets DeviceKind::log_rms: the geometric mean over the members, of which single ones fit very badly.
void set_usual_residuals(CostLibrary& library) {
  for (DeviceKind& kind : library.kinds) {
    double weights = 0, sum = 0;
    for (const KindMember& member : kind.members) {
      weights += member.weight;
      sum += member.weight * std::log(std::max(library.log_rms[member.device], least_log_rms));
    }
    if (weights > 0) kind.log_rms = std::exp(sum / weights);
  }
}

}  // namespace

Eigen::MatrixXd profile_differences(const Eigen::MatrixXd& features, const Eigen::MatrixXd& costs) {
  constexpr Index enough = 400;
  const Index networks = features.rows(), step = std::max<Index>(1, networks / enough);
  const Index used = (networks + step - 1) / step;
  Eigen::MatrixXd profiles(costs.rows(), used);
  for (Index u = 0; u < used; ++u) {
    profiles.col(u) = (costs * features.row(u * step).transpose()).array().max(smallest_relative).log();
  }
  profiles.colwise() -= profiles.rowwise().mean().eval();
  Eigen::MatrixXd differences(costs.rows(), costs.rows());
  for (Index a = 0; a < costs.rows(); ++a) {
    for (Index b = 0; b < costs.rows(); ++b) {
      differences(a, b) = (profiles.row(a) - profiles.row(b)).squaredNorm() / static_cast<double>(used);
    }
  }
  return differences;
}

Eigen::VectorXd residual_weights(const PoolNumbers& pool, Index device, const Eigen::VectorXd& costs,
                                 const Eigen::MatrixXd& kernel, double noise) {
  const Measured measured = measured_by(pool, device);
  Eigen::MatrixXd system = kernel(measured.networks, measured.networks);
  system.diagonal().array() += noise;
  const Eigen::VectorXd solved = system.llt().solve(log_residuals(measured, costs).matrix());
  Eigen::VectorXd weights = Eigen::VectorXd::Zero(kernel.rows());
  weights(measured.networks) = solved;
  return weights;
}

Eigen::MatrixXd size_ranges(const PoolNumbers& pool, const Eigen::MatrixXd& places) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const Eigen::ArrayXd sizes = places.rightCols<1>();
  Eigen::MatrixXd ranges(pool.latency_ms.rows(), 2);
  for (Index d = 0; d < ranges.rows(); ++d) {
    const auto measured = pool.latency_ms.row(d).transpose().array().isFinite();
    ranges.row(d) << measured.select(sizes, infinity).minCoeff(), measured.select(sizes, -infinity).maxCoeff();
  }
  return ranges;
}

void keep_common_residuals(CostLibrary& library) {
  if (!library.places.compared() || library.known_weights.size() == 0) return;
  constexpr std::size_t many = 24;  // what fewer have in common would tell much of what each measured
  constexpr double of_many = 0.8, of_all = 0.5;
  const Eigen::MatrixXd weights = library.known_weights;
  library.known_weights = common_part(weights, of_all);
  for (std::size_t k = 0; k < library.kinds.size(); ++k) {
    DeviceKind& kind = library.kinds[k];
    const bool has_many = k > 0 && kind.members.size() >= many;
    if (has_many) {
      std::vector<std::size_t> devices;
      for (const KindMember& member : kind.members) devices.push_back(member.device);
      library.known_weights(Eigen::all, devices) = common_part(weights(Eigen::all, devices), of_many);
    }
    kind.members.clear();
    const double kept_share = has_many ? of_many : of_all;
    kind.residual_factor = (kind.residual_factor * common_directions(kind.residual_factor, kept_share)).eval();
  }
}

Eigen::MatrixXd NetworkPlaces::of(const Eigen::MatrixXd& features) const {
  const Index shared = typical_costs.size();
  Eigen::MatrixXd places(features.rows(), shared + 1);
  for (Index i = 0; i < features.rows(); ++i) {
    const Eigen::VectorXd costs = features.row(i).head(shared).transpose().cwiseProduct(typical_costs).cwiseMax(0);
    const double total = std::max(costs.sum(), 1e-12);
    places.row(i).head(shared) = (costs / total).cwiseSqrt() / length;
    places(i, shared) = std::log(total) / scale;
  }
  return places;
}

Eigen::MatrixXd NetworkPlaces::features_at(const Eigen::MatrixXd& places) const {
  const Index shared = typical_costs.size();
  const Eigen::ArrayXd total = (scale * places.col(shared).array()).exp();
  const Eigen::MatrixXd costs = (length * places.leftCols(shared)).array().square().colwise() * total;
  const Eigen::VectorXd per_cost = (typical_costs.array() > 0).select(typical_costs.cwiseInverse(), 0);
  return costs * per_cost.asDiagonal();
}

Eigen::MatrixXd similarity(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
  Eigen::MatrixXd squared = -2 * a * b.transpose();
  squared.colwise() += a.rowwise().squaredNorm();
  squared.rowwise() += b.rowwise().squaredNorm().transpose();
  return (-squared.array().max(0).sqrt()).exp();
}

CostLibrary fit_library(const PoolNumbers& pool, const LibraryOptions& options) {
  const Index devices = pool.latency_ms.rows(), features = pool.features.cols();
  const Index operator_features = pool.operator_features;
  CostLibrary library;
  library.operator_features = pool.operator_features;
  library.costs.resize(devices, features);
  library.median_ms.resize(devices);
  library.log_rms.resize(devices);
  const bool compared =
      operator_features == features && pool.features.rows() <= static_cast<Index>(options.most_similar);
  const Subsets subsets = compared ? draw_subsets(pool.features.rows(), options) : Subsets{};
  std::vector<Measured> measured;
  for (Index d = 0; d < devices; ++d) {
    measured.push_back(measured_by(pool, d));
    Eigen::VectorXd costs = operator_costs(measured.back(), operator_features, options.robust_rounds, subsets);
    add_decision_costs(measured.back(), operator_features, options.decision_penalty, costs);
    library.costs.row(d) = costs;
    library.median_ms[d] = measured.back().median_ms;
  }
  if (compared && options.typical_pull > 0) draw_together(measured, options, library.costs);
  if (compared && options.typical_pull == 0) impute_unseen(pool, library.costs);
  if (compared && !pool.scale.measure.empty()) {
    library.scale = pool.scale;
    library.kinds = fit_kinds(pool.features, pool.scale, pool.latency_ms, pool.labels, options.kinds);
    draw_to_others(pool, library);
    confine_large_bytes(pool, library);
  }
  for (Index d = 0; d < devices; ++d) {
    library.log_rms[d] = std::sqrt(log_residuals(measured[d], library.costs.row(d)).square().mean());
  }
  library.differences = profile_differences(pool.features, library.costs);
  if (!compared) return library;
  set_kinds_apart(pool.labels, options.kinds, library.differences);
  // What costs nobody anything costs a trifle of the median latency: a network's place tells all its features.
  const Eigen::ArrayXd largest = pool.features.colwise().maxCoeff();
  const Eigen::ArrayXd trifle = (largest > 0).select(1e-6 / largest, 0);
  library.places = options.places;
  library.places.typical_costs = library.costs.colwise().mean().transpose().cwiseMax(trifle.matrix());
  library.known = library.places.of(pool.features);
  library.sizes = size_ranges(pool, library.known);
  const Eigen::MatrixXd kernel = similarity(library.known, library.known);
  library.known_weights.resize(pool.features.rows(), devices);
  for (Index d = 0; d < devices; ++d) {
    library.known_weights.col(d) = residual_weights(pool, d, library.costs.row(d), kernel, library.places.noise);
  }
  if (pool.scale.measure.empty()) return library;
  library.groups = fit_groups(pool.latency_ms, pool.labels, options.groups);
  for (DeviceKind& kind : library.kinds) {
    for (KindMember& member : kind.members) {
      const Eigen::VectorXd costs =
          (member.log_costs + pool.scale.log_unit).array().exp() / library.median_ms[member.device];
      member.residual = residual_weights(pool, member.device, costs, kernel, library.places.noise);
    }
    set_residuals(kind);
    keep_leading_residuals(kind);
  }
  set_usual_residuals(library);
  return library;
}

std::vector<Index> devices_with(const PoolNumbers& pool, const std::vector<Index>& networks) {
  std::vector<Index> devices;
  for (Index d = 0; d < pool.latency_ms.rows(); ++d) {
    if (pool.latency_ms(d, networks).array().isFinite().any()) devices.push_back(d);
  }
  return devices;
}

PoolNumbers selection_of(const PoolNumbers& pool, const std::vector<Index>& networks,
                         const std::vector<Index>& devices) {
  PoolNumbers part{pool.features(networks, Eigen::all), pool.operator_features, pool.latency_ms(devices, networks)};
  part.scale = pool.scale;
  part.groups = pool.groups;
  if (pool.labels.kind.empty()) return part;
  for (const Index device : devices) {
    part.labels.kind.push_back(pool.labels.kind[device]);
    part.labels.board.push_back(pool.labels.board[device]);
  }
  return part;
}

CostLibrary with_devices(const CostLibrary& library, const std::vector<std::size_t>& devices) {
  CostLibrary part = library;
  part.known_costs.resize(0, 0);
  part.costs = library.costs(devices, Eigen::all);
  part.median_ms = library.median_ms(devices);
  part.log_rms = library.log_rms(devices);
  part.error_scale.resize(part.costs.rows());
  part.differences = library.differences(devices, devices);
  if (library.places.compared()) part.known_weights = library.known_weights(Eigen::all, devices);
  if (library.sizes.rows() > 0) part.sizes = library.sizes(devices, Eigen::all);
  if (library.device_growth.size() > 0) part.device_growth = library.device_growth(devices);
  part.kinds = kinds_of_devices(library.kinds, devices, library.scale);
  part.groups = groups_of_devices(library.groups, devices);
  set_usual_residuals(part);
  part.block.clear();
  part.unmeasured.clear();
  for (const std::size_t device : devices) {
    part.error_scale[part.block.size()] = library.error_scale_of(device);
    part.block.push_back(library.block_of(device));
  }
  return part;
}

Eigen::VectorXd representation(const CostLibrary& library) {
  const double about_alike = 2 * library.alike;
  const Eigen::MatrixXd closeness = (library.differences.array() / (-2 * about_alike * about_alike)).exp();
  const Eigen::VectorXd weights = closeness.rowwise().sum().cwiseInverse();
  return weights / weights.sum();
}

Eigen::MatrixXd nearness(const CostLibrary& library) {
  Eigen::MatrixXd weights = (library.differences.array() / (-2 * library.alike * library.alike)).exp();
  for (Index i = 0; i < weights.rows(); ++i) weights.row(i) /= weights.row(i).sum();
  return weights;
}

}  // namespace tenshot::trainer::operators
