#include "trainer/predictors/operators/cost_posterior.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "nasbench/support/error.h"
#include "nasbench/support/numbers_below.h"
#include "trainer/core/adaptation.h"
#include "trainer/predictors/operators/kind_solver.h"
#include "trainer/predictors/posterior/error_calibration.h"
#include "trainer/predictors/posterior/latency_solver.h"
#include "trainer/predictors/posterior/mixture.h"

namespace tenshot::trainer::operators {
namespace {

using Eigen::Index;

constexpr double least_share = 0.1;   ///< of what devices like it cost: no network costs less
constexpr double least_floor = 1e-4;  ///< of the smallest measured latency: no prediction is below it
constexpr Index spread_rank = 64;
constexpr std::size_t most_screened = 40;  ///< measurements that tell which entries are considered

/// The measured networks under one entry: its prior, what it says of them, and how the device's scale follows.
struct EntryView {
  CostPrior prior;
  Index begin = 0;             ///< of the features' block that its costs are of
  Eigen::MatrixXd rows;        ///< features, times what alike networks of the pool say beside costs
  Eigen::VectorXd latency;     ///< in units of the median
  Eigen::MatrixXd covariance;  ///< of the latencies, at closeness 1
  double scale_ms = 0;
};

struct Hypothesis {
  std::size_t entry = 0;  ///< those behind the library's are its kinds
  double closeness = 0;
  double noise = 0;
  LatencySolution solution;   ///< of an entry
  KindSolution of_kind = {};  ///< of a kind
  double score = 0;           ///< log of its weight, but for what they sum to
  double weight = 0;
  /// Where the measured networks are all of a group of the library: that group, and the log latencies of its networks.
  const NetworkGroup* group = nullptr;
  Eigen::VectorXd log_latency = {};
};

EntryView view_of(CostPrior prior, Index begin, const Eigen::MatrixXd& features, const Eigen::VectorXd& log_offset,
                  const Eigen::VectorXd& log_latency) {
  EntryView view;
  view.begin = begin;
  view.rows = log_offset.array().exp().matrix().asDiagonal() * features;
  view.latency = (view.rows * prior.mean).cwiseMax(smallest_relative);
  const Eigen::MatrixXd rooted = view.rows * prior.root.transpose();
  view.covariance = rooted * rooted.transpose() + view.rows * prior.variance.asDiagonal() * view.rows.transpose();
  view.scale_ms = scale_of(view.latency, log_latency);
  view.prior = std::move(prior);
  return view;
}

/// The log of what an entry of the library weighs before the measurements.
Eigen::VectorXd log_weights_of_entries(const CostLibrary& library, const SaidRuntime& said,
                                       const PosteriorOptions& options) {
  if (library.kinds.empty()) return Eigen::VectorXd::Zero(library.devices());
  const double settings = static_cast<double>(options.closeness.size() * options.noises.size());
  Eigen::VectorXd weights = (1 - options.kind_share) / settings * representation(library);
  for (Index e = 0; !said.name.empty() && e < weights.size(); ++e) {
    if (!said.of_entry[e]) weights[e] *= options.other_runtimes;
  }
  return weights.array().log();
}

/// What a kind weighs beside the others: less where the new device is said to be of another.
double weight_of(const DeviceKind& kind, const std::vector<DeviceKind>& kinds, const SaidRuntime& said,
                 const PosteriorOptions& options) {
  const auto is_said = [&](const DeviceKind& one) { return one.name == said.name; };
  const bool all = &kind == &kinds.front() || said.name.empty(),
             known = std::any_of(kinds.begin(), kinds.end(), is_said);
  const bool holds_it = known ? is_said(kind) : kind.name == kind_of_other_runtimes;  // few devices are no kind
  return all || holds_it ? 1 : options.other_runtimes;
}

std::vector<Hypothesis> hypotheses_of(const LatencyProblem& problem, const std::vector<EntryView>& views,
                                      const std::vector<KindView>& kinds, const Eigen::MatrixXd& near,
                                      const CostLibrary& library, const AdaptationFeatures& set,
                                      const PosteriorOptions& options) {
  std::vector<Hypothesis> hypotheses;
  const auto consider = [&](Hypothesis hypothesis, double log_weight, double log_evidence) {
    hypothesis.score = log_weight + options.evidence_power * log_evidence;
    hypotheses.push_back(std::move(hypothesis));
  };
  const Eigen::VectorXd log_weights = log_weights_of_entries(library, set.said, options);
  const bool entries = kinds.empty() || options.kind_share < 1;
  for (std::size_t e = 0; entries && e < set.entries.size(); ++e) {
    const std::size_t entry = set.entries[e];
    const EntryView& view = views[entry];
    for (const double closeness : options.closeness) {
      const LatencyPrior prior = latency_prior(view.latency, view.scale_ms, view.covariance, closeness);
      for (const double noise : options.noises) {
        const LatencySolution solution = solve(problem, prior, {noise}, options);
        consider({entry, closeness, noise, solution}, log_weights[entry], solution.log_evidence);
      }
    }
  }
  std::vector<std::vector<KindSolution>> solved(kinds.size());  // [kind][noise]; groups take costs of kinds too
  const auto noises = options.noises.size();
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    const double share = options.kind_share / static_cast<double>(kinds.size() * noises);
    for (const double noise : options.noises) {
      const KindSolution& own = solved[kind].emplace_back(solve(kinds[kind], problem, noise, options));
      if (options.kind_share <= 0) continue;
      consider({views.size() + kind, 1, noise, {}, own},
               std::log(share * weight_of(library.kinds[kind], library.kinds, set.said, options)), own.log_evidence);
    }
  }
  LatencyProblem by_itself = problem;  // a group's networks are costs of their own: nothing is shared beside them
  by_itself.kernel.setZero();
  for (const NetworkGroup& group : library.groups) {
    const auto places = places_in(group, near);
    if (!places || kinds.empty() || options.group_share <= 0) continue;
    const double share = options.group_share / static_cast<double>(group.kinds.size() * noises);
    for (const DeviceKind& of_group : group.kinds) {
      const auto same = [&](const KindView& view) { return view.kind->name == of_group.name; };
      const auto found = std::find_if(kinds.begin(), kinds.end(), same);
      const auto kind = found == kinds.end() ? std::size_t{0} : static_cast<std::size_t>(found - kinds.begin());
      for (std::size_t n = 0; n < noises; ++n) {
        const KindSolution solution = solve(view_of(of_group, *places), by_itself, options.noises[n], options);
        consider({views.size() + kind, 1, options.noises[n], {}, solved[kind][n], 0, 0, &group, solution.log_costs},
                 std::log(share * weight_of(of_group, group.kinds, set.said, options)), solution.log_evidence);
      }
    }
  }
  keep_best(hypotheses, &Hypothesis::score, options.kept);
  if (hypotheses.empty()) {
    throw InputError("no costs of the pool's devices explain these latencies: are they really milliseconds?");
  }
  const std::vector<double> weights = weights_of(hypotheses, &Hypothesis::score);
  for (std::size_t h = 0; h < weights.size(); ++h) hypotheses[h].weight = weights[h];
  return hypotheses;
}

Eigen::VectorXd posterior_costs(const EntryView& view, const Hypothesis& hypothesis) {
  const CostPrior& prior = view.prior;
  const double variance_ms2 = view.scale_ms * view.scale_ms;
  const Eigen::VectorXd pull = view.rows.transpose() * hypothesis.solution.pull;
  const Eigen::VectorXd near = prior.root.transpose() * (prior.root * pull) + prior.variance.cwiseProduct(pull);
  return view.scale_ms * prior.mean + variance_ms2 * (std::pow(hypothesis.closeness, 2) * near +
                                                      prior.mean * view.latency.dot(hypothesis.solution.pull));
}

/// How the measurements shrink the costs' covariance under one hypothesis: reduction · reductionᵀ, [features, n].
Eigen::MatrixXd reduction_of(const EntryView& view, const Hypothesis& hypothesis, const LatencyProblem& problem) {
  const CostPrior& prior = view.prior;
  const LatencySolution& solution = hypothesis.solution;
  const LatencyPrior latencies = latency_prior(view.latency, view.scale_ms, view.covariance, hypothesis.closeness);
  const Eigen::MatrixXd system = solution.log_covariance(
      latencies.covariance.cwiseProduct(solution.slopes * solution.slopes.transpose()), problem);
  const Eigen::MatrixXd sloped = view.rows.transpose() * solution.slopes.asDiagonal();  // [features, n]
  const Eigen::MatrixXd near = prior.root.transpose() * (prior.root * sloped) + prior.variance.asDiagonal() * sloped;
  const double variance_ms2 = view.scale_ms * view.scale_ms;
  const Eigen::MatrixXd gain = variance_ms2 * (std::pow(hypothesis.closeness, 2) * near +
                                               prior.mean * view.latency.cwiseProduct(solution.slopes).transpose());
  return system.llt().matrixL().solve(gain.transpose()).transpose();
}

/// Weighted sum over hypotheses on costs of one block, of so many features, of the costs' posterior covariance, ms².
Eigen::MatrixXd covariance_of_block(Index begin, const std::vector<EntryView>& views,
                                    const std::vector<Hypothesis>& hypotheses, const LatencyProblem& problem,
                                    Index features) {
  Eigen::MatrixXd covariance = Eigen::MatrixXd::Zero(features, features);
  std::vector<double> closeness_ms2(views.size(), 0), scale_ms2(views.size(), 0);
  for (const Hypothesis& hypothesis : hypotheses) {
    const std::size_t entry = hypothesis.entry;
    if (entry >= views.size()) {
      if (begin == 0) covariance += hypothesis.weight * hypothesis.of_kind.covariance;
      continue;
    }
    if (views[entry].begin != begin) continue;
    const double variance_ms2 = std::pow(views[entry].scale_ms, 2);
    closeness_ms2[entry] += hypothesis.weight * variance_ms2 * std::pow(hypothesis.closeness, 2);
    scale_ms2[entry] += hypothesis.weight * variance_ms2;
    const Eigen::MatrixXd reduction = reduction_of(views[entry], hypothesis, problem);
    covariance.selfadjointView<Eigen::Lower>().rankUpdate(reduction, -hypothesis.weight);
  }
  for (std::size_t e = 0; e < views.size(); ++e) {
    if (scale_ms2[e] == 0) continue;
    const CostPrior& prior = views[e].prior;
    covariance.selfadjointView<Eigen::Lower>().rankUpdate(prior.root.transpose(), closeness_ms2[e]);
    covariance.diagonal() += closeness_ms2[e] * prior.variance;
    covariance.selfadjointView<Eigen::Lower>().rankUpdate(prior.mean, scale_ms2[e]);
  }
  return covariance.selfadjointView<Eigen::Lower>();
}

/// What a group's networks take beside the costs, as weights of these networks.
Eigen::VectorXd weights_beside_costs(const CostLibrary& library, const Hypothesis& hypothesis) {
  constexpr double own = 1e-6;  // variance of a network's own, so that two that are nearly equal stay finite
  const Eigen::MatrixXd places = library.known(hypothesis.group->networks, Eigen::all);
  const Eigen::VectorXd costs = (hypothesis.of_kind.log_costs + library.scale.log_unit).array().exp();
  Eigen::MatrixXd kernel = similarity(places, places);
  kernel.diagonal().array() += own;
  const Eigen::VectorXd by_costs = (library.places.features_at(places) * costs).array().max(smallest_relative).log();
  return kernel.llt().solve(hypothesis.log_latency - by_costs);
}

/// The networks of the library that belong to the pools of what the hypotheses are like, for the most part.
std::vector<Index> known_networks(const CostLibrary& library, const std::vector<Hypothesis>& hypotheses) {
  std::vector<Index> known;
  for (Index n = 0; n < library.known.rows(); ++n) {
    double share = 0;
    for (const Hypothesis& one : hypotheses) share += library.knows(one.entry, n) ? one.weight : 0;
    if (share >= 0.5) known.push_back(n);
  }
  return known;
}

void set_anchors(const CostLibrary& library, const std::vector<Hypothesis>& hypotheses,
                 const std::vector<KindView>& kinds, const Eigen::MatrixXd& measured, CostPosterior& posterior) {
  posterior.places = library.places;
  if (!library.places.compared()) return;
  const Index known = library.known.rows();
  posterior.anchors.resize(known + measured.rows(), library.known.cols());
  posterior.anchors << library.known, measured;
  posterior.anchor_weights = Eigen::VectorXd::Zero(posterior.anchors.rows());
  for (const Hypothesis& hypothesis : hypotheses) {
    const double weight = hypothesis.weight;
    posterior.residual_variance += weight * library.residual_variance_of(hypothesis.entry);
    if (hypothesis.entry < library.devices()) {
      posterior.anchor_weights.head(known) += weight * library.known_weights.col(hypothesis.entry);
      posterior.anchor_weights.tail(measured.rows()) += weight * hypothesis.solution.residual_weights;
      continue;
    }
    if (hypothesis.group != nullptr) {
      posterior.anchor_weights(hypothesis.group->networks) += weight * weights_beside_costs(library, hypothesis);
      continue;
    }
    const KindView& view = kinds[hypothesis.entry - library.devices()];
    const DeviceKind& kind = *view.kind;
    posterior.anchor_weights.head(known) +=
        weight *
        (kind.residual + kind.residual_factor * (view.residual_factor.transpose() * hypothesis.of_kind.weights));
    posterior.anchor_weights.tail(measured.rows()) += weight * hypothesis.of_kind.residual_weights;
  }
  if (library.network_growth.size() == 0) return;
  std::vector<Index> kept = known_networks(library, hypotheses);
  for (Index n = 0; n < measured.rows(); ++n) kept.push_back(known + n);
  posterior.anchors = posterior.anchors(kept, Eigen::all).eval();
  posterior.anchor_weights = posterior.anchor_weights(kept).eval();
}

AdaptationFeatures part_of(const AdaptationFeatures& set, const std::vector<std::size_t>& rows) {
  AdaptationFeatures part{set.features(rows, Eigen::all), {}, set.whole_milliseconds, set.said, set.entries};
  for (const std::size_t row : rows) part.latency_ms.push_back(set.latency_ms[row]);
  return part;
}

std::vector<std::size_t> entries_of(const CostPosterior& posterior, const CostLibrary& library) {
  std::set<std::size_t> entries;
  for (const CostComponent& component : posterior.components) entries.insert(component.entry);
  entries.erase(entries.lower_bound(library.devices()), entries.end());  // kinds
  return {entries.begin(), entries.end()};
}

}  // namespace

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

/// The posterior whose components are on these entries of the library, and on its kinds and groups.
static CostPosterior adapt_to_entries(const CostLibrary& library, const AdaptationFeatures& set,
                                      const PosteriorOptions& options) {
  const Index n = set.features.rows();
  LatencyProblem problem = latency_problem(set.latency_ms, set.whole_milliseconds);
  problem.kernel = Eigen::MatrixXd::Zero(n, n);
  Eigen::MatrixXd measured, near, offsets = Eigen::MatrixXd::Zero(n, library.devices());
  if (library.places.compared()) {
    measured = library.places.of(set.features);
    problem.kernel = similarity(measured, measured);
    near = similarity(measured, library.known);
    offsets = near * library.known_weights;
  }
  const Eigen::MatrixXd alike = nearness(library);
  std::vector<EntryView> views(library.devices());
  for (const std::size_t e : set.entries) {
    views[e] = view_of(cost_prior(library, alike, e, options), library.begin_of(e), library.rows_for(e, set.features),
                       offsets.col(e), problem.log_latency);
  }
  const Index shared = library.costs.cols(), operators = library.operator_features;
  std::vector<KindView> kinds;
  for (const DeviceKind& kind : library.kinds) {
    kinds.push_back({&kind, set.features.leftCols(shared) * library.scale.log_unit.array().exp().matrix().asDiagonal(),
                     near * kind.residual, near * kind.residual_factor});
  }
  std::vector<Hypothesis> hypotheses = hypotheses_of(problem, views, kinds, near, library, set, options);

  CostPosterior posterior;
  posterior.floor_ms = least_floor * *std::min_element(set.latency_ms.begin(), set.latency_ms.end());
  posterior.reach_variance = library.reach_variance;
  posterior.known_share = library.known_share;
  posterior.least_costs_ms = Eigen::VectorXd::Zero(set.features.cols());
  std::set<Index> blocks;
  for (Hypothesis& hypothesis : hypotheses) {
    Eigen::VectorXd costs_ms = Eigen::VectorXd::Zero(set.features.cols());
    Eigen::VectorXd typical_ms;  // costs, none below zero: an entry's before the measurements, a kind's after them
    Index begin = 0;
    if (hypothesis.entry >= views.size()) {  // a kind: log costs in usual units become costs in the features'
      typical_ms = (hypothesis.of_kind.log_costs + library.scale.log_unit).array().exp();
      costs_ms.head(shared) = typical_ms;
      hypothesis.of_kind.covariance =
          (typical_ms.asDiagonal() * hypothesis.of_kind.covariance * typical_ms.asDiagonal()).eval();
    } else {
      begin = views[hypothesis.entry].begin;
      typical_ms = views[hypothesis.entry].scale_ms * views[hypothesis.entry].prior.mean;
      costs_ms.segment(begin, shared) = posterior_costs(views[hypothesis.entry], hypothesis);
    }
    posterior.least_costs_ms.segment(begin, operators) += least_share * hypothesis.weight * typical_ms.head(operators);
    posterior.components.push_back({hypothesis.entry, hypothesis.noise, hypothesis.weight, std::move(costs_ms)});
    blocks.insert(begin);
  }
  posterior.spread_ms.resize(set.features.cols(), 0);
  posterior.rest_ms2 = Eigen::VectorXd::Zero(set.features.cols());
  for (const Index begin : blocks) {
    add_spread(begin, covariance_of_block(begin, views, hypotheses, problem, shared), operators, posterior);
  }
  set_anchors(library, hypotheses, kinds, measured, posterior);
  confine_unmeasured(set.features, posterior);
  return posterior;
}

CostPosterior adapt(const CostLibrary& library, const AdaptationFeatures& set, const PosteriorOptions& options) {
  require_latencies(set.features.rows(), set.latency_ms, "network");
  AdaptationFeatures considered = set;
  if (set.entries.empty() && set.latency_ms.size() > most_screened) {
    const AdaptationFeatures some = part_of(set, evenly_spaced(fastest_first(set.latency_ms), most_screened));
    considered.entries = entries_of(adapt(library, some, options), library);
  }
  if (considered.entries.empty()) considered.entries = numbers_below(library.devices());
  return adapt_to_entries(library, considered, options);
}

LogLatency errors_left_out(const CostLibrary& library, const AdaptationFeatures& set, const PosteriorOptions& options) {
  const std::vector<std::size_t> asked = evenly_spaced(fastest_first(set.latency_ms), 15);
  LogLatency errors;
  errors.mean = errors.deviation = Eigen::VectorXd::Zero(asked.size());
  for (std::size_t i = 0; i < asked.size(); ++i) {
    std::vector<std::size_t> rest = numbers_below(set.latency_ms.size());
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(asked[i]));
    const CostPosterior posterior = adapt(library, part_of(set, rest), options);
    const LogLatency expected = predict(posterior, table_of(set.features.row(asked[i])));
    errors.mean[i] = expected.mean[0] - std::log(set.latency_ms[asked[i]]);
    errors.deviation[i] = expected.deviation[0];
  }
  return errors;
}

IntervalCalibration calibration_of_many(const CostLibrary& library, const AdaptationFeatures& set,
                                        const PosteriorOptions& options, const IntervalCalibration& calibration) {
  constexpr Index many = 15;
  if (set.features.rows() < many) return calibration;
  AdaptationFeatures likely = set;
  likely.entries = entries_of(adapt(library, set, options), library);
  const LogLatency errors = errors_left_out(library, likely, options);
  const Eigen::ArrayXd standardised = errors.mean.array() / errors.deviation.array();
  constexpr double share = 0.5;  // the tail of fifteen errors says little
  return widened(calibration, {standardised.data(), standardised.data() + standardised.size()}, share);
}

}  // namespace tenshot::trainer::operators
