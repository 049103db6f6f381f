#include "trainer/predictors/operators/cost_planning.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "nasbench/support/numbers_below.h"
#include "trainer/predictors/operators/pool_costs.h"
#include "trainer/predictors/posterior/latency_solver.h"

namespace tenshot::trainer::operators {
namespace {

using Eigen::Index;
using sampling::LatencyCovariance;

/// Columns that a covariance has at most, about: of a large pool, the entries that represent it are considered.
constexpr Index column_budget = 2048;
constexpr Index least_entries = 4;
constexpr Index most_entries = 32;

sampling::CovarianceBlock block_of(const Eigen::MatrixXf& factor) {
  sampling::CovarianceBlock block;
  block.columns = static_cast<std::size_t>(factor.cols());
  block.factor.resize(static_cast<std::size_t>(factor.size()));
  Eigen::Map<Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(block.factor.data(), factor.rows(),
                                                                                    factor.cols()) = factor;
  return block;
}

/// The spread of hypotheses' log latencies, [networks, hypotheses]: each less their mean, times the root of its weight.
sampling::CovarianceBlock between(Eigen::MatrixXd log_latency, const Eigen::VectorXd& weights) {
  log_latency.colwise() -= (log_latency * weights).eval();
  return block_of((log_latency * weights.cwiseSqrt().asDiagonal()).cast<float>());
}

/// The entries that stand for a library, `most` of them at most, and the probability that the next device is like each:
/// all by their weights where there are few, else draws at even steps of the cumulated weights, as devices that are
/// alike count as one where networks are compared with each other. In a space the plan of three or ten was a little
/// worse for it on Once-for-all's table: there every entry counts alike, and evenly spaced ones are taken.
std::map<Index, double> represented(const CostLibrary& library, Index most) {
  const Index entries = library.costs.rows();
  const double step = 1 / static_cast<double>(most);
  std::map<Index, double> shares;
  if (!library.places.compared()) {
    for (Index i = 0; i < most; ++i) shares[most == 1 ? entries - 1 : i * (entries - 1) / (most - 1)] = step;
    return shares;
  }
  const Eigen::VectorXd weights = representation(library);
  double next = 0.5 * step, cumulated = 0;
  for (Index e = 0; e < entries; ++e) {
    if (entries <= most) {
      shares[e] = weights[e];
      continue;
    }
    cumulated += weights[e];
    for (; next < cumulated; next += step) shares[e] += step;
  }
  return shares;
}

/// Before anything is measured a device is one of all kinds: costs vary as theirs do, and networks' residuals too.
/// `near` says how alike the networks are to the pool's.
LatencyCovariance covariance_of_kind(const CostLibrary& library, const DeviceKind& kind,
                                     const Eigen::MatrixXd& features, const Eigen::MatrixXd& near) {
  const Eigen::VectorXd unit = (kind.log_costs + library.scale.log_unit).array().exp();
  const Eigen::MatrixXd terms = features * unit.asDiagonal();
  const Eigen::VectorXd latency = terms.rowwise().sum().cwiseMax(smallest_relative);
  const Eigen::MatrixXd slopes = latency.cwiseInverse().asDiagonal() * terms;
  LatencyCovariance covariance{static_cast<std::size_t>(features.rows()),
                               {block_of((slopes * Eigen::MatrixXd(kind.covariance.llt().matrixL())).cast<float>())}};
  if (kind.residual_factor.cols() > 0) {  // devices may have nothing in common
    covariance.blocks.push_back(block_of((near * kind.residual_factor).cast<float>()));
  }
  return covariance;
}

/// Before anything is measured a device is like one of the library's entries. `near` is as above.
LatencyCovariance covariance_of_entries(const CostLibrary& library, const Eigen::MatrixXd& features,
                                        const Eigen::MatrixXd& near, const PosteriorOptions& options) {
  const Index entries = library.costs.rows(), columns = entries + library.costs.cols() + 1;
  const Index considered =
      std::min({entries, most_entries, std::max(least_entries, column_budget / std::max<Index>(columns, 1))});
  const Eigen::MatrixXd weights = nearness(library);
  Eigen::MatrixXd offsets = Eigen::MatrixXd::Zero(features.rows(), entries);
  if (library.places.compared()) offsets = near * library.known_weights;
  const std::map<Index, double> chosen = represented(library, considered);
  LatencyCovariance covariance{static_cast<std::size_t>(features.rows()), {}};
  Eigen::MatrixXd log_latency(features.rows(), chosen.size());
  Eigen::VectorXd shares(chosen.size());
  Index i = 0;
  for (const auto& [e, share] : chosen) {
    const Eigen::MatrixXd rows = library.rows_for(e, features);
    const Eigen::MatrixXd of_entries = rows * library.costs.transpose();
    const Eigen::VectorXd latency = of_entries.col(e).cwiseMax(smallest_relative);
    const Eigen::VectorXd slope = std::sqrt(share) * latency.cwiseInverse();
    const Eigen::VectorXd typical = of_entries * weights.row(e).transpose();
    Eigen::MatrixXf factor(features.rows(), columns);
    factor.leftCols(entries) = (options.library_share * slope.asDiagonal() * (of_entries.colwise() - typical) *
                                weights.row(e).cwiseSqrt().asDiagonal())
                                   .cast<float>();
    const Eigen::VectorXd deviation = cost_prior(library, weights, e, options).variance.cwiseSqrt();
    factor.middleCols(entries, rows.cols()) = (slope.asDiagonal() * rows * deviation.asDiagonal()).cast<float>();
    factor.col(columns - 1) = slope.cwiseProduct(latency).cast<float>();
    covariance.blocks.push_back(block_of(factor));
    log_latency.col(i) = latency.array().log() + offsets.col(e).array();
    shares[i++] = share;
  }
  log_latency.rowwise() -= log_latency.colwise().mean().eval();
  covariance.blocks.push_back(between(log_latency, shares));
  return covariance;
}

class CostsPrior final : public PlanningPrior {
 public:
  CostsPrior(const datasets::Pool& pool, FeatureMap map, CostLibrary library, PosteriorOptions options)
      : pool_(pool), map_(std::move(map)), library_(std::move(library)), options_(std::move(options)) {}

  PlanningView view(const std::vector<Architecture>& candidates, const AdaptationSet& measured) const override {
    const Eigen::MatrixXd features = feature_table(map_, *pool_.space, candidates).rows();
    const SaidRuntime said = said_runtime(pool_, measured.runtime, numbers_below(library_.devices()));
    if (measured.architectures.empty()) return prior_view(library_, features, options_, said);
    AdaptationFeatures set = adaptation_features(map_, *pool_.space, measured);
    set.said = said;
    const CostPosterior known = adapt(library_, set, options_);
    return {posterior_covariance(known, features), {std::sqrt(known.noise_variance())}};
  }

  std::vector<std::vector<double>> predict_pool(const std::vector<Architecture>& architectures) const override {
    return latencies_of_pool(map_, library_, *pool_.space, architectures);
  }

 private:
  const datasets::Pool& pool_;
  FeatureMap map_;
  CostLibrary library_;
  PosteriorOptions options_;
};

}  // namespace

PlanningView prior_view(const CostLibrary& library, const Eigen::MatrixXd& features, const PosteriorOptions& options,
                        const SaidRuntime& said) {
  constexpr double of_group = 0.02, of_space = 0.06, of_unlike_networks = 0.1, tolerance = 0.2, of_profiled = 0.03;
  Eigen::MatrixXd near;
  if (library.places.compared()) near = similarity(library.places.of(features), library.known);
  for (const NetworkGroup& group : library.groups) {
    const auto places = options.group_share > 0 ? places_in(group, near) : std::nullopt;
    if (!places) continue;
    const Eigen::MatrixXd root = group.kinds.front().covariance.llt().matrixL();
    return {{places->size(), {block_of(root(*places, Eigen::all).cast<float>())}}, {of_group}};
  }
  if (!library.kinds.empty()) {
    const Eigen::MatrixXd shared = features.leftCols(library.costs.cols());
    auto kind = std::find_if(library.kinds.begin(), library.kinds.end(),
                             [&](const DeviceKind& one) { return one.name == said.name; });
    if (kind == library.kinds.end()) kind = library.kinds.begin();  // nothing is said, or too few have it
    PlanningView view{covariance_of_kind(library, *kind, shared, near), {of_unlike_networks, tolerance}};
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
  for (Index c = 0; c < components; ++c) weights[c] = std::sqrt(posterior.components[c].weight);
  weights /= weights.sum();
  const Eigen::VectorXd slope = (-(log_latency * weights)).array().exp();
  LatencyCovariance covariance{static_cast<std::size_t>(features.rows()),
                               {block_of((slope.asDiagonal() * (features * posterior.spread_ms)).cast<float>())}};
  if (posterior.rest_ms2.maxCoeff() > 0) {
    const Eigen::VectorXd deviation = posterior.rest_ms2.cwiseSqrt();
    covariance.blocks.push_back(block_of((slope.asDiagonal() * features * deviation.asDiagonal()).cast<float>()));
  }
  covariance.blocks.push_back(between(std::move(log_latency), weights));
  return covariance;
}

std::shared_ptr<const PlanningPrior> planning_prior(const datasets::Pool& pool, const FeatureMap& map,
                                                    const CostLibrary& library, const PosteriorOptions& options) {
  return std::make_shared<CostsPrior>(pool, map, library, options);
}

std::shared_ptr<const PlanningPrior> planning_prior(const datasets::Pool& pool) {
  FittedPool fitted = fit_pool(pool, {});
  return std::make_shared<CostsPrior>(pool, std::move(fitted.map), std::move(fitted.library), PosteriorOptions{});
}

}  // namespace tenshot::trainer::operators
