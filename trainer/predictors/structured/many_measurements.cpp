#include "trainer/predictors/structured/many_measurements.h"

#include <map>
#include <set>
#include <tuple>

#include "nasbench/support/error.h"
#include "nasbench/support/numbers_below.h"
#include "nasbench/support/random.h"
#include "sampling/architectures/information.h"
#include "trainer/core/adaptation.h"
#include "trainer/predictors/posterior/mixture.h"
#include "trainer/predictors/structured/sparse_solver.h"
#include "trainer/predictors/structured/structured_planning.h"

namespace tenshot::trainer::structured {
namespace {

constexpr std::size_t offered = 400;      ///< measurements among which the judged ones are chosen
constexpr std::size_t fits_judged = 400;  ///< of all noises, that enter the first selection
constexpr double judging_gap = 15;        ///< of log evidence: what is less probable than the best leaves
constexpr std::size_t fits_widened = 16;  ///< hypotheses that leave it
constexpr std::size_t fits_refined = 12;  ///< that enter a further selection
constexpr std::size_t fits_alike = 2;     ///< of one structure and noise, from other entries
constexpr int path_rounds = 2;

/// The set in an order that is drawn, and does not depend on the order it came in.
AdaptationSet shuffled(const AdaptationSet& set) {
  std::vector<std::size_t> order = numbers_below(set.architectures.size());
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return set.architectures[a] < set.architectures[b]; });
  Rng(1).shuffle(order);
  return part_of(set, order);
}

AdaptationSet first_of(const AdaptationSet& set, std::size_t count) {
  return part_of(set, numbers_below(std::min(count, set.architectures.size())));
}

/// `count` of the first measurements, those that tell most before anything is known.
AdaptationSet most_informative(const StructuredLibrary& library, const StructuredPosteriorOptions& options,
                               const AdaptationSet& set, std::size_t count) {
  const AdaptationSet among = first_of(set, offered);
  std::vector<std::size_t> candidates;
  for (std::size_t i = 0; i < among.architectures.size(); ++i) {
    if (library.model->space().connected(among.architectures[i])) candidates.push_back(i);
  }
  if (candidates.size() <= count) return first_of(among, count);
  const auto covariance = prior_covariance(library, compacted(library.model->table(among.architectures)), options);
  Rng rng(1);  // draws nothing where all candidates are considered
  sampling::InformationOptions information;
  information.random_half = false;
  return part_of(among, sampling::choose_informative(covariance, candidates, count, rng, information));
}

SparseFit fit_of(const HypothesisFit& candidate, const CostPriors& priors, const nasbench::StructureTable& table) {
  const FeatureRows rows = candidate.rows.size() > 0 ? candidate.rows : rows_at(table, candidate.structure, {});
  return {candidate, posterior_costs(priors.at(candidate.structure, candidate.entry), candidate, rows)};
}

/// The hypotheses whose evidence is within the gap of the best at some noise, few of one structure.
std::vector<SparseFit> hypotheses_of(std::vector<SparseFit> fits) {
  keep_best(fits, &SparseFit::log_evidence);
  std::set<std::tuple<std::size_t, std::size_t, double>> taken;
  std::map<std::size_t, std::size_t> alike;
  std::vector<SparseFit> hypotheses;
  for (SparseFit& fit : fits) {
    if (hypotheses.size() == fits_widened || fit.log_evidence < fits.front().log_evidence - judging_gap) break;
    if (!taken.insert({fit.structure, fit.entry, fit.closeness}).second || alike[fit.structure]++ >= fits_alike)
      continue;
    hypotheses.push_back(std::move(fit));
  }
  return hypotheses;
}

/// The best fits whose evidence is within the gap of the best, few of one kind.
std::vector<SparseFit> best_of(std::vector<SparseFit> fits, std::size_t most) {
  keep_best(fits, &SparseFit::log_evidence);
  std::map<std::tuple<std::size_t, double, double>, std::size_t> alike;
  std::vector<SparseFit> best;
  for (SparseFit& fit : fits) {
    if (best.size() == most || fit.log_evidence < fits.front().log_evidence - judging_gap) break;
    if (alike[{fit.structure, fit.level.noise, fit.level.slow_step}]++ >= fits_alike) continue;
    best.push_back(std::move(fit));
  }
  return best;
}

void solve(const SparseProblem& problem, const CostPriors& priors, SparseSolver& solver, SparseFit& fit) {
  const int rounds = problem.library.model->structures()[fit.structure].alternatives > 1 ? path_rounds : 1;
  for (int round = 0; round < rounds; ++round) solver.solve(priors.at(fit.structure, fit.entry), fit);
  fit.log_evidence += priors.log_odds(fit.entry);
}

/// Every hypothesis that was judged well, at every noise that its structure may have.
std::vector<SparseFit> widened(const SparseProblem& problem, const CostPriors& priors,
                               const std::vector<SparseFit>& judged) {
  SparseSolver solver(problem);
  std::map<std::size_t, std::vector<NoiseLevel>> levels;  // by structure
  std::vector<SparseFit> fits;
  for (const SparseFit& start : judged) {
    const bool is_first = levels.count(start.structure) == 0;
    std::vector<SparseFit> own;
    for (const NoiseLevel& level : is_first ? noise_levels(problem.options) : levels[start.structure]) {
      own.push_back(start);
      own.back().level = level;
      solve(problem, priors, solver, own.back());
    }
    if (is_first) {
      double best = own.front().log_evidence;
      for (const SparseFit& fit : own) best = std::max(best, fit.log_evidence);
      for (const SparseFit& fit : own) {
        if (fit.log_evidence >= best - judging_gap) levels[start.structure].push_back(fit.level);
      }
    }
    fits.insert(fits.end(), own.begin(), own.end());
  }
  return fits;
}

void add_component(const SparseProblem& problem, const SparseFit& fit, double weight, StructuredPosterior& posterior) {
  const Eigen::Index features = fit.costs_ms.size();
  const Eigen::Index anchors = fit.anchor_weights.size();
  const Eigen::MatrixXd covariance = fit.precision.selfadjointView<Eigen::Lower>().llt().solve(
      Eigen::MatrixXd::Identity(features + anchors, features + anchors));
  posterior.components.push_back({fit.structure, fit.entry, deviation_of(fit.level, problem.options), weight,
                                  fit.costs_ms, path_costs(fit.costs_ms, fit.scale_ms),
                                  covariance.topLeftCorner(features, features)});
  if (anchors == 0) return;
  const double residual_variance = std::pow(problem.options.residual_share * fit.level.noise, 2);
  const Eigen::MatrixXd prior =
      residual_variance * problem.anchor_kernel.llt().solve(Eigen::MatrixXd::Identity(anchors, anchors));
  posterior.residual_weights += weight * fit.anchor_weights;
  posterior.residual_variance += weight * residual_variance;
  posterior.residual_reduction += weight * (prior - covariance.bottomRightCorner(anchors, anchors));
}

StructuredPosterior mixture_of(const SparseProblem& problem, std::vector<SparseFit> fits) {
  keep_best(fits, &SparseFit::log_evidence, problem.options.kept);
  std::vector<std::uint64_t> anchors = problem.anchors;
  if (anchors.empty()) {  // no process of residuals: one anchor that weighs nothing
    anchors.assign(problem.table.signature(0), problem.table.signature(0) + problem.table.signature_words);
  }
  StructuredPosterior posterior = without_components(problem.library, problem.measured.floor_ms, std::move(anchors));
  const std::vector<double> weights = weights_of(fits, &SparseFit::log_evidence);
  for (std::size_t f = 0; f < fits.size(); ++f) add_component(problem, fits[f], weights[f], posterior);
  return posterior;
}

}  // namespace

StructuredPosterior adapt_to_many(const StructuredLibrary& library, const CostPriors& priors, const AdaptationSet& set,
                                  const StructuredPosteriorOptions& options, const ManyMeasurements& many) {
  const AdaptationSet all = shuffled(set);
  const std::size_t count = all.architectures.size();
  const StructureProblem judging = make_problem(library, most_informative(library, options, all, many.judged), options);
  std::vector<SparseFit> fits;
  for (const HypothesisFit& candidate : fitted_candidates(judging, priors, fits_judged)) {
    fits.push_back(fit_of(candidate, priors, judging.table));
  }
  for (std::size_t seen = many.judged;;) {
    const bool is_first = seen == many.judged;
    seen = 2 * seen * many.growth >= count ? count : seen * many.growth;
    const SparseProblem problem = make_sparse_problem(library, first_of(all, seen), options, many.anchors);
    if (is_first) {
      fits = widened(problem, priors, hypotheses_of(std::move(fits)));
    } else {
      SparseSolver solver(problem);
      fits = best_of(std::move(fits), fits_refined);
      for (SparseFit& fit : fits) solve(problem, priors, solver, fit);
    }
    keep_best(fits, &SparseFit::log_evidence);
    if (fits.empty()) {
      throw InputError("no combination of costs and structure explains these latencies: are they really milliseconds?");
    }
    if (seen == count) return mixture_of(problem, std::move(fits));
  }
}

}  // namespace tenshot::trainer::structured
