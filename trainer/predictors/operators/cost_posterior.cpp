#include "trainer/predictors/operators/cost_posterior.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <string>
#include <utility>

#include "nasbench/support/error.h"
#include "nasbench/support/median.h"
#include "nasbench/support/numbers.h"
#include "trainer/predictors/operators/latency_solver.h"

namespace tenshot::trainer::operators {
namespace {

using Eigen::Index;

using structured::smallest_relative;
constexpr double floor_share = 0.3;  ///< of the smallest measured latency: no prediction is below it
constexpr Index spread_rank = 64;

/// The measured networks under one entry: its prior, what it says of them, and how the device's scale follows.
struct EntryView {
  const CostPrior* prior = nullptr;
  Index begin = 0;             ///< of the features' block that its costs are of
  Eigen::MatrixXd rows;        ///< features, times what alike networks of the pool say beside costs
  Eigen::VectorXd latency;     ///< in units of the median
  Eigen::MatrixXd covariance;  ///< of the latencies, at closeness 1
  double scale_ms = 0;
};

struct Hypothesis {
  std::size_t entry = 0;
  double closeness = 0;
  double noise = 0;
  LatencySolution solution;
};

void check(const AdaptationFeatures& set) {
  if (set.latency_ms.empty()) throw InputError("no measured network: expected at least one");
  if (set.features.rows() != static_cast<Index>(set.latency_ms.size())) {
    throw InputError(std::to_string(set.features.rows()) + " networks with " + std::to_string(set.latency_ms.size()) +
                     " latencies: expected as many");
  }
  for (const double latency : set.latency_ms) {
    if (std::isfinite(latency) && latency > 0) continue;
    throw InputError("measured latency " + shortest(latency) + " ms: expected a finite, positive number");
  }
}

double median_of(const Eigen::ArrayXd& values) { return median({values.data(), values.data() + values.size()}); }

/// `features` are those of the entry's block.
EntryView view_of(const CostPrior& prior, Index begin, const Eigen::MatrixXd& features,
                  const Eigen::VectorXd& log_offset, const Eigen::VectorXd& log_latency) {
  EntryView view;
  view.prior = &prior;
  view.begin = begin;
  view.rows = log_offset.array().exp().matrix().asDiagonal() * features;
  view.latency = (view.rows * prior.mean).cwiseMax(smallest_relative);
  const Eigen::MatrixXd rooted = view.rows * prior.root.transpose();
  view.covariance = rooted * rooted.transpose() + view.rows * prior.variance.asDiagonal() * view.rows.transpose();
  view.scale_ms = std::exp(median_of(log_latency.array() - view.latency.array().log()));
  return view;
}

/// The device's scale is as uncertain as its size.
LatencyPrior latency_prior(const EntryView& view, double closeness) {
  LatencyPrior prior;
  prior.mean = view.scale_ms * view.latency;
  prior.covariance = std::pow(closeness * view.scale_ms, 2) * view.covariance + prior.mean * prior.mean.transpose();
  return prior;
}

std::vector<Hypothesis> hypotheses_of(const LatencyProblem& problem, const std::vector<EntryView>& views,
                                      const PosteriorOptions& options) {
  LatencySolver solver(problem, options);
  std::vector<Hypothesis> hypotheses;
  for (std::size_t entry = 0; entry < views.size(); ++entry) {
    for (const double closeness : options.closeness) {
      const LatencyPrior prior = latency_prior(views[entry], closeness);
      for (const double noise : options.noises) {
        hypotheses.push_back({entry, closeness, noise, solver.solve(prior, noise)});
        if (!std::isfinite(hypotheses.back().solution.log_evidence)) hypotheses.pop_back();
      }
    }
  }
  if (hypotheses.empty()) {
    throw InputError("no costs of the pool's devices explain these latencies: are they really milliseconds?");
  }
  std::stable_sort(hypotheses.begin(), hypotheses.end(), [](const Hypothesis& a, const Hypothesis& b) {
    return a.solution.log_evidence > b.solution.log_evidence;
  });
  if (hypotheses.size() > options.kept) hypotheses.resize(options.kept);
  return hypotheses;
}

std::vector<double> weights_of(const std::vector<Hypothesis>& hypotheses, double power) {
  std::vector<double> weights;
  double total = 0;
  for (const Hypothesis& h : hypotheses) {
    weights.push_back(std::exp(power * (h.solution.log_evidence - hypotheses[0].solution.log_evidence)));
    total += weights.back();
  }
  for (double& weight : weights) weight /= total;
  return weights;
}

Eigen::VectorXd posterior_costs(const EntryView& view, const Hypothesis& hypothesis) {
  const CostPrior& prior = *view.prior;
  const double variance_ms2 = view.scale_ms * view.scale_ms;
  return view.scale_ms * prior.mean +
         variance_ms2 *
             (std::pow(hypothesis.closeness, 2) * prior.times(view.rows.transpose() * hypothesis.solution.pull) +
              prior.mean * view.latency.dot(hypothesis.solution.pull));
}

/// How the measurements shrink the costs' covariance under one hypothesis: reduction · reductionᵀ, [features, n].
Eigen::MatrixXd reduction_of(const EntryView& view, const Hypothesis& hypothesis, const LatencyProblem& problem,
                             double residual_share) {
  const CostPrior& prior = *view.prior;
  const LatencySolution& solution = hypothesis.solution;
  const LatencyPrior latencies = latency_prior(view, hypothesis.closeness);
  Eigen::MatrixXd system = latencies.covariance.cwiseProduct(solution.slopes * solution.slopes.transpose()) +
                           std::pow(residual_share * hypothesis.noise, 2) * problem.kernel;
  system.diagonal() += solution.noise_variance;
  const Eigen::MatrixXd sloped = view.rows.transpose() * solution.slopes.asDiagonal();  // [features, n]
  const Eigen::MatrixXd near = prior.root.transpose() * (prior.root * sloped) + prior.variance.asDiagonal() * sloped;
  const double variance_ms2 = view.scale_ms * view.scale_ms;
  const Eigen::MatrixXd gain = variance_ms2 * (std::pow(hypothesis.closeness, 2) * near +
                                               prior.mean * view.latency.cwiseProduct(solution.slopes).transpose());
  return system.llt().matrixL().solve(gain.transpose()).transpose();
}

/// Sum over the hypotheses on the costs of one block of the costs' posterior covariance, weighted, ms².
Eigen::MatrixXd covariance_of_block(Index begin, const std::vector<EntryView>& views,
                                    const std::vector<Hypothesis>& hypotheses, const std::vector<double>& weights,
                                    const LatencyProblem& problem, double residual_share) {
  const Index features = views.front().prior->mean.size();
  Eigen::MatrixXd covariance = Eigen::MatrixXd::Zero(features, features);
  std::vector<double> closeness_ms2(views.size(), 0), scale_ms2(views.size(), 0);
  for (std::size_t h = 0; h < hypotheses.size(); ++h) {
    const std::size_t entry = hypotheses[h].entry;
    if (views[entry].begin != begin) continue;
    const double variance_ms2 = std::pow(views[entry].scale_ms, 2);
    closeness_ms2[entry] += weights[h] * variance_ms2 * std::pow(hypotheses[h].closeness, 2);
    scale_ms2[entry] += weights[h] * variance_ms2;
    const Eigen::MatrixXd reduction = reduction_of(views[entry], hypotheses[h], problem, residual_share);
    covariance.selfadjointView<Eigen::Lower>().rankUpdate(reduction, -weights[h]);
  }
  for (std::size_t e = 0; e < views.size(); ++e) {
    if (scale_ms2[e] == 0) continue;
    const CostPrior& prior = *views[e].prior;
    covariance.selfadjointView<Eigen::Lower>().rankUpdate(prior.root.transpose(), closeness_ms2[e]);
    covariance.diagonal() += closeness_ms2[e] * prior.variance;
    covariance.selfadjointView<Eigen::Lower>().rankUpdate(prior.mean, scale_ms2[e]);
  }
  return covariance.selfadjointView<Eigen::Lower>();
}

/// Adds the covariance of the costs of one block to spread and rest.
void add_spread(Index begin, const Eigen::MatrixXd& covariance, Index operator_features, CostPosterior& posterior) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(covariance);
  const Index features = covariance.rows(), rank = std::min(features, spread_rank), before = posterior.spread_ms.cols();
  const Eigen::MatrixXd spread =
      eigen.eigenvectors().rightCols(rank) * eigen.eigenvalues().tail(rank).cwiseMax(0).cwiseSqrt().asDiagonal();
  posterior.spread_ms.conservativeResize(Eigen::NoChange, before + rank);
  posterior.spread_ms.rightCols(rank).setZero();
  posterior.spread_ms.block(begin, before, features, rank) = spread;
  const Index decisions = features - operator_features;
  posterior.rest_ms2.segment(begin + operator_features, decisions) =
      (covariance.diagonal() - spread.rowwise().squaredNorm()).cwiseMax(0).tail(decisions);
}

void set_anchors(const CostLibrary& library, const std::vector<Hypothesis>& hypotheses,
                 const std::vector<double>& weights, const Eigen::MatrixXd& measured, CostPosterior& posterior) {
  posterior.places = library.places;
  if (!library.places.compared()) return;
  const Index known = library.known.rows();
  posterior.anchors.resize(known + measured.rows(), library.known.cols());
  posterior.anchors << library.known, measured;
  posterior.anchor_weights = Eigen::VectorXd::Zero(posterior.anchors.rows());
  posterior.residual_variance = library.residual_variance;
  for (std::size_t h = 0; h < hypotheses.size(); ++h) {
    posterior.anchor_weights.head(known) +=
        weights[h] * library.known_weights.col(static_cast<Index>(hypotheses[h].entry));
    posterior.anchor_weights.tail(measured.rows()) += weights[h] * hypotheses[h].solution.residual_weights;
  }
}

}  // namespace

double CostPosterior::noise_variance() const {
  double variance = 0;
  for (const CostComponent& component : components) variance += component.weight * std::pow(component.noise, 2);
  return variance;
}

CostPosterior adapt(const CostLibrary& library, const AdaptationFeatures& set, const PosteriorOptions& options) {
  check(set);
  const auto n = static_cast<Index>(set.latency_ms.size());
  const Eigen::Map<const Eigen::VectorXd> latency(set.latency_ms.data(), n);
  LatencyProblem problem;
  problem.log_latency = latency.array().log();
  problem.clock_variance_ms2 = set.whole_milliseconds ? 1.0 / 12 : 0;
  problem.floor_ms = floor_share * latency.minCoeff();
  problem.kernel = Eigen::MatrixXd::Zero(n, n);
  Eigen::MatrixXd measured, offsets = Eigen::MatrixXd::Zero(n, static_cast<Index>(library.devices()));
  if (library.places.compared()) {
    measured = library.places.of(set.features);
    problem.kernel = similarity(measured, measured);
    offsets = similarity(measured, library.known) * library.known_weights;
  }
  const std::vector<CostPrior> priors = cost_priors(library, options);
  std::vector<EntryView> views;
  for (std::size_t e = 0; e < priors.size(); ++e) {
    views.push_back(view_of(priors[e], library.begin_of(e), library.rows_for(e, set.features),
                            offsets.col(static_cast<Index>(e)), problem.log_latency));
  }
  const std::vector<Hypothesis> hypotheses = hypotheses_of(problem, views, options);
  const std::vector<double> weights = weights_of(hypotheses, options.evidence_power);

  CostPosterior posterior;
  posterior.floor_ms = problem.floor_ms;
  std::set<Index> blocks;
  for (std::size_t h = 0; h < hypotheses.size(); ++h) {
    const Hypothesis& hypothesis = hypotheses[h];
    const EntryView& view = views[hypothesis.entry];
    Eigen::VectorXd costs_ms = Eigen::VectorXd::Zero(set.features.cols());
    costs_ms.segment(view.begin, library.costs.cols()) = posterior_costs(view, hypothesis);
    posterior.components.push_back({hypothesis.entry, hypothesis.noise, weights[h], std::move(costs_ms)});
    blocks.insert(view.begin);
  }
  posterior.spread_ms.resize(set.features.cols(), 0);
  posterior.rest_ms2 = Eigen::VectorXd::Zero(set.features.cols());
  for (const Index begin : blocks) {
    add_spread(begin, covariance_of_block(begin, views, hypotheses, weights, problem, options.residual_share),
               static_cast<Index>(library.operator_features), posterior);
  }
  set_anchors(library, hypotheses, weights, measured, posterior);
  return posterior;
}

LogLatency predict(const CostPosterior& posterior, const FeatureTable& table) {
  const auto components = static_cast<Index>(posterior.components.size()), rank = posterior.spread_ms.cols();
  Eigen::MatrixXd projection(posterior.spread_ms.rows(), components + rank + 1);
  Eigen::VectorXd weights(components);
  for (Index c = 0; c < components; ++c) {
    projection.col(c) = posterior.components[static_cast<std::size_t>(c)].costs_ms;
    weights[c] = posterior.components[static_cast<std::size_t>(c)].weight;
  }
  projection.middleCols(components, rank) = posterior.spread_ms;
  projection.col(components + rank) = posterior.rest_ms2;
  const Eigen::MatrixXd projected = table.times(projection);
  const Eigen::ArrayXXd log_latency = projected.leftCols(components).array().max(posterior.floor_ms).log();

  LogLatency result;
  result.mean = log_latency.matrix() * weights;
  const Eigen::ArrayXd between =
      ((log_latency.square().matrix() * weights).array() - result.mean.array().square()).max(0);
  const Eigen::ArrayXd cost_variance_ms2 = projected.middleCols(components, rank).rowwise().squaredNorm().array() +
                                           projected.col(components + rank).array().max(0);
  Eigen::ArrayXd variance = between + cost_variance_ms2 / (2 * result.mean.array()).exp() + posterior.noise_variance();
  if (posterior.places.compared()) {
    const Eigen::MatrixXd near = similarity(posterior.places.of(table.rows()), posterior.anchors);
    result.mean += near * posterior.anchor_weights;
    result.novelty = 1 - near.rowwise().maxCoeff().array().square() / (1 + posterior.places.noise);
    variance += posterior.residual_variance * result.novelty.array();
  }
  result.deviation = variance.sqrt();
  return result;
}

void drop_unused_blocks(FeatureMap& map, CostPosterior& posterior) {
  const auto width = static_cast<Index>(map.operator_features());
  std::vector<Index> kept(map.shared_features());
  std::iota(kept.begin(), kept.end(), Index{0});
  std::vector<OperatorTimes> learned;
  for (std::size_t l = 0; l < map.learned.size(); ++l) {
    const auto begin = static_cast<Index>(map.block_begin(l + 1));
    const bool used = std::any_of(posterior.components.begin(), posterior.components.end(), [&](const auto& component) {
      return !component.costs_ms.segment(begin, width).isZero(0);
    });
    if (!used) continue;
    for (Index f = 0; f < width; ++f) kept.push_back(begin + f);
    learned.push_back(std::move(map.learned[l]));
  }
  map.learned = std::move(learned);
  for (CostComponent& component : posterior.components) component.costs_ms = component.costs_ms(kept).eval();
  posterior.spread_ms = posterior.spread_ms(kept, Eigen::all).eval();
  posterior.rest_ms2 = posterior.rest_ms2(kept).eval();
}

}  // namespace tenshot::trainer::operators
