#include "trainer/predictors/operators/cost_planning.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "trainer/predictors/posterior/latency_solver.h"

namespace tenshot::trainer::operators {
namespace {

using Eigen::Index;
using sampling::CovarianceBlock;
using sampling::LatencyCovariance;

/// Columns that a covariance has at most, about: of a large pool, the entries that represent it are considered.
constexpr Index column_budget = 2048;
constexpr Index least_entries = 4;
constexpr Index most_entries = 32;

CovarianceBlock block_of(const Eigen::MatrixXf& factor) {
  CovarianceBlock block;
  block.columns = static_cast<std::size_t>(factor.cols());
  block.factor.resize(static_cast<std::size_t>(factor.size()));
  Eigen::Map<Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(block.factor.data(), factor.rows(),
                                                                                    factor.cols()) = factor;
  return block;
}

/// The spread of hypotheses' log latencies, [networks, hypotheses]: each minus their mean, times the root of its
/// weight.
CovarianceBlock between(Eigen::MatrixXd log_latency, const Eigen::VectorXd& weights) {
  log_latency.colwise() -= (log_latency * weights).eval();
  return block_of((log_latency * weights.cwiseSqrt().asDiagonal()).cast<float>());
}

/// A pool's entry, and the probability that the next device is like it.
struct Represented {
  Index entry = 0;
  double share = 0;
};

std::vector<Represented> evenly_spaced(Index entries, Index most) {
  std::vector<Represented> chosen;
  for (Index i = 0; i < most; ++i) {
    chosen.push_back({most == 1 ? entries - 1 : i * (entries - 1) / (most - 1), 1 / static_cast<double>(most)});
  }
  return chosen;
}

/// All entries by their weights where there are few, else `most` draws at even steps of the cumulated weights.
std::vector<Represented> by_weight(const Eigen::VectorXd& weights, Index most) {
  std::vector<Represented> entries;
  if (weights.size() <= most) {
    for (Index e = 0; e < weights.size(); ++e) entries.push_back({e, weights[e]});
    return entries;
  }
  const double step = 1 / static_cast<double>(most);
  double next = 0.5 * step, cumulated = 0;
  for (Index e = 0; e < weights.size(); ++e) {
    cumulated += weights[e];
    double share = 0;
    for (; next < cumulated; next += step) share += step;
    if (share > 0) entries.push_back({e, share});
  }
  return entries;
}

/// Devices that are alike count as one where networks are compared with each other. In a space the plan of three or ten
/// was a little worse for it on Once-for-all's table: there every entry counts alike.
std::vector<Represented> represented(const CostLibrary& library, Index most) {
  return library.places.compared() ? by_weight(representation(library), most)
                                   : evenly_spaced(library.costs.rows(), most);
}

/// Before anything is measured a device is one of all kinds: costs vary as theirs do, and networks' residuals too.
/// `near` says how alike the networks are to the pool's.
LatencyCovariance covariance_of_kind(const CostLibrary& library, const DeviceKind& kind,
                                     const Eigen::MatrixXd& features, const Eigen::MatrixXd& near) {
  const Eigen::VectorXd unit = (kind.log_costs + library.scale.log_unit).array().exp();
  const Eigen::MatrixXd terms = features * unit.asDiagonal();
  const Eigen::VectorXd latency = terms.rowwise().sum().cwiseMax(smallest_relative);
  const Eigen::MatrixXd slopes = latency.cwiseInverse().asDiagonal() * terms;
  LatencyCovariance covariance;
  covariance.size = static_cast<std::size_t>(features.rows());
  covariance.blocks.push_back(block_of((slopes * Eigen::MatrixXd(kind.covariance.llt().matrixL())).cast<float>()));
  if (kind.residual_factor.cols() > 0) {  // devices may have nothing in common
    covariance.blocks.push_back(block_of((near * kind.residual_factor).cast<float>()));
  }
  return covariance;
}

/// That of the runtime that is said; of all devices together where nothing is said, or too few have it.
const DeviceKind& kind_of(const std::vector<DeviceKind>& kinds, const SaidRuntime& said) {
  const auto found =
      std::find_if(kinds.begin(), kinds.end(), [&](const DeviceKind& kind) { return kind.name == said.name; });
  return found == kinds.end() ? kinds.front() : *found;
}

/// Networks that many boards measured vary as they did there.
LatencyCovariance covariance_of_group(const NetworkGroup& group, const std::vector<Index>& places) {
  const Eigen::MatrixXd root = group.kinds.front().covariance.llt().matrixL();
  LatencyCovariance covariance;
  covariance.size = places.size();
  covariance.blocks.push_back(block_of(root(places, Eigen::all).cast<float>()));
  return covariance;
}

/// Before anything is measured a device is like one of the library's entries. `near` is as above.
LatencyCovariance covariance_of_entries(const CostLibrary& library, const Eigen::MatrixXd& features,
                                        const Eigen::MatrixXd& near, const PosteriorOptions& options) {
  const std::vector<CostPrior> priors = cost_priors(library, options);
  const auto entries = static_cast<Index>(priors.size());
  const Index columns = entries + library.costs.cols() + 1;
  const Index considered =
      std::min({entries, most_entries, std::max(least_entries, column_budget / std::max<Index>(columns, 1))});
  const Eigen::MatrixXd weights = nearness(library);
  Eigen::MatrixXd offsets = Eigen::MatrixXd::Zero(features.rows(), entries);
  if (library.places.compared()) offsets = near * library.known_weights;
  const std::vector<Represented> chosen = represented(library, considered);
  const auto count = static_cast<Index>(chosen.size());
  LatencyCovariance covariance;
  covariance.size = static_cast<std::size_t>(features.rows());
  Eigen::MatrixXd log_latency(features.rows(), count);
  Eigen::VectorXd shares(count);
  for (Index i = 0; i < count; ++i) {
    const auto [e, share] = chosen[static_cast<std::size_t>(i)];
    const Eigen::MatrixXd rows = library.rows_for(static_cast<std::size_t>(e), features);
    const Eigen::MatrixXd of_entries = rows * library.costs.transpose();
    const Eigen::VectorXd latency = of_entries.col(e).cwiseMax(smallest_relative);
    const Eigen::VectorXd slope = std::sqrt(share) * latency.cwiseInverse();
    const Eigen::VectorXd typical = of_entries * weights.row(e).transpose();
    Eigen::MatrixXf factor(features.rows(), columns);
    factor.leftCols(entries) = (options.library_share * slope.asDiagonal() * (of_entries.colwise() - typical) *
                                weights.row(e).cwiseSqrt().asDiagonal())
                                   .cast<float>();
    const Eigen::VectorXd deviation = priors[static_cast<std::size_t>(e)].variance.cwiseSqrt();
    factor.middleCols(entries, rows.cols()) = (slope.asDiagonal() * rows * deviation.asDiagonal()).cast<float>();
    factor.col(columns - 1) = slope.cwiseProduct(latency).cast<float>();
    covariance.blocks.push_back(block_of(factor));
    log_latency.col(i) = latency.array().log() + offsets.col(e).array();
    shares[i] = share;
  }
  log_latency.rowwise() -= log_latency.colwise().mean().eval();
  covariance.blocks.push_back(between(log_latency, shares));
  return covariance;
}

}  // namespace

PlanningView prior_view(const CostLibrary& library, const Eigen::MatrixXd& features, const PosteriorOptions& options,
                        const SaidRuntime& said) {
  constexpr double of_group = 0.02, of_space = 0.06, of_unlike_networks = 0.1, tolerance = 0.2, of_profiled = 0.03;
  Eigen::MatrixXd near;
  if (library.places.compared()) near = similarity(library.places.of(features), library.known);
  for (const NetworkGroup& group : library.groups) {
    const auto places = options.group_share > 0 ? places_in(group, near) : std::nullopt;
    if (places) return {covariance_of_group(group, *places), {of_group}};
  }
  if (!library.kinds.empty()) {
    const Eigen::MatrixXd shared = features.leftCols(library.costs.cols());
    PlanningView view{covariance_of_kind(library, kind_of(library.kinds, said), shared, near),
                      {of_unlike_networks, tolerance}};
    view.profiled_noise = of_profiled;
    return view;
  }
  return {covariance_of_entries(library, features, near, options),
          {library.places.compared() ? of_unlike_networks : of_space}};
}

LatencyCovariance posterior_covariance(const CostPosterior& posterior, const Eigen::MatrixXd& features) {
  const auto components = static_cast<Index>(posterior.components.size());
  Eigen::MatrixXd log_latency = posterior.log_latency(features * posterior.all_costs_ms());
  Eigen::VectorXd weights(components);
  for (Index c = 0; c < components; ++c) {
    weights[c] = std::sqrt(posterior.components[static_cast<std::size_t>(c)].weight);
  }
  weights /= weights.sum();
  const Eigen::VectorXd slope = (-(log_latency * weights)).array().exp();
  LatencyCovariance covariance;
  covariance.size = static_cast<std::size_t>(features.rows());
  covariance.blocks.push_back(block_of((slope.asDiagonal() * (features * posterior.spread_ms)).cast<float>()));
  if (posterior.rest_ms2.maxCoeff() > 0) {
    const Eigen::VectorXd deviation = posterior.rest_ms2.cwiseSqrt();
    covariance.blocks.push_back(block_of((slope.asDiagonal() * features * deviation.asDiagonal()).cast<float>()));
  }
  covariance.blocks.push_back(between(std::move(log_latency), weights));
  return covariance;
}

}  // namespace tenshot::trainer::operators
