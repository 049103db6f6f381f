#include <map>
#include <set>
#include <tuple>

#include "nasbench/support/numbers_below.h"
#include "nasbench/support/random.h"
#include "sampling/architectures/information.h"
#include "trainer/core/adaptation.h"
#include "trainer/predictors/posterior/mixture.h"
#include "trainer/predictors/structured/hypotheses.h"
#include "trainer/predictors/structured/structured_planning.h"

namespace tenshot::trainer::structured {
namespace {

constexpr std::size_t most_judged = 32;   ///< measurements, chosen by information, on which all hypotheses are judged
constexpr std::size_t most_anchors = 64;  ///< measurements through which the residual process is seen
constexpr std::size_t growth = 8;         ///< how many times more of them each further selection of hypotheses sees
constexpr std::size_t offered = 400;      ///< measurements among which the judged ones are chosen
constexpr std::size_t fits_judged = 400;  ///< of all noises, that enter the first selection
constexpr double judging_gap = 15;        ///< of log evidence: what is less probable than the best leaves
constexpr std::size_t fits_widened = 16;  ///< hypotheses that leave it
constexpr std::size_t fits_refined = 12;  ///< that enter a further selection
constexpr std::size_t fits_alike = 2;     ///< of one structure, and later of one noise, from other entries
constexpr int path_rounds = 2;

constexpr double start_spread = 0.05;       ///< of log latency about the costs that a solution starts from
constexpr double least_unexplained = 1e-6;  ///< below it, an anchor would repeat what the others say

double log_determinant(const Eigen::LLT<Eigen::MatrixXd>& factor) {
  return 2 * factor.matrixLLT().diagonal().array().log().sum();
}

AdaptationSet first_of(const AdaptationSet& set, std::size_t count) {
  return part_of(set, numbers_below(std::min(count, set.architectures.size())));
}

/// Those of the first measurements that tell most before anything is known, on which hypotheses are judged.
AdaptationSet most_informative(const StructuredLibrary& library, const StructuredPosteriorOptions& options,
                               const AdaptationSet& set) {
  const AdaptationSet among = first_of(set, offered);
  const std::vector<std::size_t> candidates = connected_of(among.architectures, library.model->space());
  if (candidates.size() <= most_judged) return first_of(among, most_judged);
  const auto covariance = prior_covariance(library, compacted(library.model->table(among.architectures)), options);
  Rng rng(1);  // draws nothing where all candidates are considered
  sampling::InformationOptions information;
  information.random_half = false;
  return part_of(among, sampling::choose_informative(covariance, candidates, most_judged, rng, information));
}

/// Each hypothesis at the noise at which the judged measurements are most probable.
std::vector<SparseFit> judged_hypotheses(const StructureProblem& problem, const CostPriors& priors) {
  std::set<std::tuple<std::size_t, std::size_t, double>> taken;
  std::vector<SparseFit> fits;
  for (const HypothesisFit& candidate : fitted_candidates(problem, priors, fits_judged)) {
    if (!taken.insert({candidate.structure, candidate.entry, candidate.closeness}).second) continue;
    fits.push_back({candidate, posterior_costs(priors.at(candidate.structure, candidate.entry), candidate)});
  }
  return fits;
}

/// The best fits whose evidence is within the gap of the best, few of one kind.
template <class KindOf>
std::vector<SparseFit> best_of(std::vector<SparseFit> fits, std::size_t most, const KindOf& kind_of) {
  keep_best(fits, &SparseFit::log_evidence);
  std::map<decltype(kind_of(SparseFit())), std::size_t> alike;
  std::vector<SparseFit> best;
  for (SparseFit& fit : fits) {
    if (best.size() == most || fit.log_evidence < fits.front().log_evidence - judging_gap) break;
    if (alike[kind_of(fit)]++ < fits_alike) best.push_back(std::move(fit));
  }
  return best;
}

void solve(const SparseProblem& problem, const CostPriors& priors, SparseFit& fit) {
  const int rounds = problem.library.model->structures()[fit.structure].alternatives > 1 ? path_rounds : 1;
  for (int round = 0; round < rounds; ++round) solve_sparse(problem, priors.at(fit.structure, fit.entry), fit);
  fit.log_evidence += priors.log_odds(fit.entry);
}

/// Every hypothesis that was judged well, at every noise that its structure may have.
std::vector<SparseFit> widened(const SparseProblem& problem, const CostPriors& priors,
                               const std::vector<SparseFit>& hypotheses) {
  std::map<std::size_t, std::vector<NoiseLevel>> levels;  // by structure
  std::vector<SparseFit> fits;
  for (const SparseFit& start : hypotheses) {
    const auto [of_structure, is_first] = levels.try_emplace(start.structure, noise_levels(problem.options));
    std::vector<SparseFit> own(of_structure->second.size(), start);
    double best = -std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < own.size(); ++i) {
      own[i].level = of_structure->second[i];
      solve(problem, priors, own[i]);
      best = std::max(best, own[i].log_evidence);
    }
    if (is_first) {
      of_structure->second.clear();
      for (const SparseFit& fit : own) {
        if (fit.log_evidence >= best - judging_gap) of_structure->second.push_back(fit.level);
      }
    }
    fits.insert(fits.end(), own.begin(), own.end());
  }
  return fits;
}

StructuredPosterior mixture_of(const SparseProblem& problem, std::vector<SparseFit> fits) {
  keep_best(fits, &SparseFit::log_evidence, problem.options.kept);
  std::vector<std::uint64_t> seen_through = problem.anchors;
  if (seen_through.empty()) seen_through = {problem.table.signatures[0]};  // no process: one that weighs nothing
  StructuredPosterior posterior =
      without_components(problem.library, predicted_floor * problem.measured.floor_ms, std::move(seen_through));
  const std::vector<double> weights = weights_of(fits, &SparseFit::log_evidence);
  for (std::size_t f = 0; f < fits.size(); ++f) {
    const SparseFit& fit = fits[f];
    const Eigen::Index features = fit.costs_ms.size(), anchors = fit.anchor_weights.size();
    const Eigen::MatrixXd covariance = fit.precision.selfadjointView<Eigen::Lower>().llt().solve(
        Eigen::MatrixXd::Identity(features + anchors, features + anchors));
    posterior.components.push_back({fit.structure, fit.entry, deviation_of(fit.level, problem.options), weights[f],
                                    fit.costs_ms, path_costs(fit.costs_ms, fit.scale_ms),
                                    covariance.topLeftCorner(features, features)});
    if (anchors == 0) continue;
    const double residual_variance = std::pow(problem.options.residual_share * fit.level.noise, 2);
    const Eigen::MatrixXd prior =
        residual_variance * problem.anchor_kernel.llt().solve(Eigen::MatrixXd::Identity(anchors, anchors));
    posterior.residual_weights += weights[f] * fit.anchor_weights;
    posterior.residual_variance += weights[f] * residual_variance;
    posterior.residual_reduction += weights[f] * (prior - covariance.bottomRightCorner(anchors, anchors));
  }
  return posterior;
}

}  // namespace

SparseProblem make_sparse_problem(const StructuredLibrary& library, const AdaptationSet& set,
                                  const StructuredPosteriorOptions& options, std::size_t anchors) {
  SparseProblem problem = {{library, options, library.model->table(set.architectures),
                            latency_problem(set.latency_ms, set.whole_milliseconds)}};
  const std::vector<std::uint64_t>& signatures = problem.table.signatures;
  const auto n = static_cast<Eigen::Index>(signatures.size());
  const Eigen::Index most = options.residual_share > 0 ? std::min(n, static_cast<Eigen::Index>(anchors)) : 0;
  const double scale = library.model->signature_scale();
  problem.unexplained = Eigen::VectorXd::Ones(n);
  problem.near.resize(n, most);
  Eigen::MatrixXd factor(n, most);
  Eigen::Index built = 0;
  for (; built < most; ++built) {
    Eigen::Index pivot = 0;
    const double variance = problem.unexplained.maxCoeff(&pivot);
    if (variance < least_unexplained) break;
    for (Eigen::Index i = 0; i < n; ++i) problem.near(i, built) = likeness(signatures[i], signatures[pivot], scale);
    factor.col(built) = problem.near.col(built);
    factor.col(built) -= factor.leftCols(built) * factor.row(pivot).head(built).transpose();
    factor.col(built) /= std::sqrt(variance);
    problem.unexplained -= factor.col(built).cwiseAbs2();
    problem.unexplained[pivot] = 0;
    problem.anchors.push_back(signatures[pivot]);
  }
  problem.unexplained = problem.unexplained.cwiseMax(0);
  problem.near.conservativeResize(Eigen::NoChange, built);
  problem.anchor_kernel = kernel_matrix(problem.anchors, scale);
  if (built > 0) problem.log_determinant = log_determinant(problem.anchor_kernel.llt());
  return problem;
}

void solve_sparse(const SparseProblem& problem, const CostGaussian& prior, SparseFit& fit) {
  const LatencyProblem& measured = problem.measured;
  const Eigen::Index n = measured.log_latency.size(), features = prior.mean.size(),
                     anchors = problem.anchor_kernel.rows();
  const FeatureRows rows = rows_at(problem.table, fit.structure, path_costs(fit.costs_ms, fit.scale_ms));
  const Eigen::VectorXd relative = (rows * prior.mean).cwiseMax(smallest_relative);
  fit.scale_ms = scale_of(relative, measured.log_latency);
  const Eigen::VectorXd expected_ms = fit.scale_ms * relative;
  const double residual_variance = std::pow(problem.options.residual_share * fit.level.noise, 2);
  const Eigen::LLT<Eigen::MatrixXd> prior_factor(prior_covariance_ms2(prior, fit.scale_ms, fit.closeness));
  Eigen::MatrixXd prior_precision = Eigen::MatrixXd::Zero(features + anchors, features + anchors);
  prior_precision.topLeftCorner(features, features) = prior_factor.solve(Eigen::MatrixXd::Identity(features, features));
  double log_determinant_prior = log_determinant(prior_factor);
  if (anchors > 0) {
    prior_precision.bottomRightCorner(anchors, anchors) = problem.anchor_kernel / residual_variance;
    log_determinant_prior += static_cast<double>(anchors) * std::log(residual_variance) - problem.log_determinant;
  }
  MeasurementErrors errors(problem.options, own_variance(measured, expected_ms, fit.level), fit.level.slow_step);
  const Eigen::VectorXd independent = residual_variance * problem.unexplained;
  Eigen::VectorXd latency = (rows * fit.costs_ms).cwiseMax(measured.floor_ms), target, weights, step;
  Eigen::MatrixXd design(n, features + anchors);
  errors.distrust(measured.log_latency - latency.array().log().matrix(), start_spread);
  for (int i = 0; i < problem.options.newton_steps; ++i) {
    if (i > 0) errors.weigh();
    latency = latency.cwiseMax(measured.floor_ms);
    const Eigen::VectorXd slopes = latency.cwiseInverse();
    target = measured.log_latency - errors.shift - latency.array().log().matrix() -
             slopes.cwiseProduct(expected_ms - latency);
    const Eigen::VectorXd deviation = (errors.variance + independent).cwiseSqrt().cwiseInverse();
    design.leftCols(features) = slopes.cwiseProduct(deviation).asDiagonal() * rows;
    design.rightCols(anchors) = deviation.asDiagonal() * problem.near;
    fit.precision = prior_precision;
    fit.precision.selfadjointView<Eigen::Lower>().rankUpdate(design.transpose());
    const Eigen::VectorXd scaled = target.cwiseProduct(deviation);
    step = fit.precision.selfadjointView<Eigen::Lower>().llt().solve(design.transpose() * scaled);
    weights = (scaled - design * step).cwiseProduct(deviation);
    latency = expected_ms + rows * step.head(features);
    errors.error = errors.shift + errors.variance.cwiseProduct(weights);
  }
  fit.costs_ms = fit.scale_ms * prior.mean + step.head(features);
  fit.anchor_weights = step.tail(anchors);
  // The evidence is that of latency_solver.h, by the determinant lemma.
  double log_noise = 0;
  for (Eigen::Index i = 0; i < n; ++i) log_noise += std::log(errors.variance[i] + independent[i]);
  fit.log_evidence = errors.corrected(0) -
                     0.5 * (target.dot(weights) + log_determinant(fit.precision.selfadjointView<Eigen::Lower>().llt()) +
                            log_determinant_prior + log_noise + static_cast<double>(n) * std::log(2 * M_PI));
}

StructuredPosterior adapt_to_many(const StructuredLibrary& library, const CostPriors& priors, const AdaptationSet& set,
                                  const StructuredPosteriorOptions& options) {
  const std::size_t count = set.architectures.size();
  std::vector<std::size_t> order = numbers_below(count);  // shuffled, alike for every order that the set comes in
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return set.architectures[a] < set.architectures[b]; });
  Rng(1).shuffle(order);
  const AdaptationSet all = part_of(set, order);
  std::vector<SparseFit> fits =
      judged_hypotheses(make_problem(library, most_informative(library, options, all), options), priors);
  for (std::size_t seen = most_judged;;) {
    const bool is_first = seen == most_judged;
    seen = 2 * seen * growth >= count ? count : seen * growth;
    const SparseProblem problem = make_sparse_problem(library, first_of(all, seen), options, most_anchors);
    if (is_first) {
      const auto structure_of = [](const SparseFit& fit) { return fit.structure; };
      fits = widened(problem, priors, best_of(std::move(fits), fits_widened, structure_of));
    } else {
      const auto structure_and_noise = [](const SparseFit& fit) {
        return std::tuple(fit.structure, fit.level.noise, fit.level.slow_step);
      };
      fits = best_of(std::move(fits), fits_refined, structure_and_noise);
      for (SparseFit& fit : fits) solve(problem, priors, fit);
    }
    keep_best(fits, &SparseFit::log_evidence);
    if (seen == count || fits.empty()) return mixture_of(problem, std::move(fits));
  }
}

}  // namespace tenshot::trainer::structured
