#include "trainer/predictors/structured/hypotheses.h"

#include <map>
#include <tuple>

#include "nasbench/support/median.h"
#include "trainer/predictors/posterior/mixture.h"

namespace tenshot::trainer::structured {
namespace {

constexpr int path_rounds = 2;
constexpr double screening_gap = 20;  ///< of log evidence

}  // namespace

Eigen::MatrixXd library_covariance(const StructuredLibrary& library) {
  const std::size_t count = library.entries.size();
  Eigen::MatrixXd costs(count, library.features());
  for (std::size_t e = 0; e < count; ++e) costs.row(e) = cost_prior(library, e, {}, {}).mean;
  const Eigen::MatrixXd centred = costs.rowwise() - costs.colwise().mean();
  return centred.transpose() * centred / static_cast<double>(std::max<std::size_t>(count - 1, 1));
}

CostGaussian cost_prior(const StructuredLibrary& library, std::size_t entry, const Eigen::MatrixXd& library_covariance,
                        const StructuredPosteriorOptions& options) {
  const auto& features = library.model->features();
  const LibraryEntry& device = library.entries[entry];
  const std::vector<bool>& uses = library.model->structures()[device.structure].uses;
  const bool is_generic = std::isnan(device.log_rms);
  CostGaussian prior;
  prior.mean = device.costs;
  for (std::size_t f = 0; f < features.size(); ++f) {
    if (!uses[f] && !is_generic && features[f].spread) prior.mean[f] = features[f].typical_cost;
  }
  if (library_covariance.size() == 0) return prior;
  prior.covariance = options.library_share * options.library_share * library_covariance;
  const double spread = options.cost_spread * device.costs.cwiseAbs().mean() + options.cost_spread_floor;
  for (std::size_t f = 0; f < features.size(); ++f) {
    prior.covariance(f, f) += std::pow(features[f].spread.value_or(spread), 2);
  }
  return prior;
}

CostGaussian described_prior(const DescribedDevice& described, std::size_t structure,
                             const StructuredPosteriorOptions& options) {
  CostGaussian prior = described.priors[structure];
  prior.covariance.diagonal().array() += std::pow(options.described_spread, 2);
  return prior;
}

CostPriors::CostPriors(const StructuredLibrary& library, const StructuredPosteriorOptions& options,
                       const DescribedDevice* described)
    : CostPriors(library, options, described, library_covariance(library), library.entries.size()) {}

CostPriors::CostPriors(const StructuredLibrary& library, const StructuredPosteriorOptions& options,
                       const DescribedDevice* described, const Eigen::MatrixXd& spread, std::size_t entries_of_all) {
  for (std::size_t e = 0; e < library.entries.size(); ++e) {
    of_library_.push_back(cost_prior(library, e, spread, options));
  }
  if (described == nullptr) return;
  for (std::size_t s = 0; s < described->priors.size(); ++s) {
    described_.push_back(described_prior(*described, s, options));
  }
  const double odds = options.described_share / (1 - options.described_share);
  log_odds_described_ = std::log(odds * static_cast<double>(entries_of_all));
}

Eigen::MatrixXd kernel_matrix(const std::uint64_t* signatures, std::size_t count, std::size_t words, double scale) {
  const auto n = static_cast<Eigen::Index>(count);
  Eigen::MatrixXd kernel(n, n);
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index j = 0; j < n; ++j) {
      kernel(i, j) = likeness(signatures + i * words, signatures + j * words, words, scale);
    }
  }
  return kernel;
}

StructureProblem make_problem(const StructuredLibrary& library, const AdaptationSet& set,
                              const StructuredPosteriorOptions& options) {
  StructureProblem problem = {library, options, library.model->table(set.architectures),
                              latency_problem(set.latency_ms, set.whole_milliseconds)};
  problem.measured.kernel = kernel_matrix(problem.table.signatures.data(), problem.table.size,
                                          problem.table.signature_words, library.model->signature_scale());
  return problem;
}

Eigen::VectorXd relative_latency(const FeatureRows& rows, const CostGaussian& costs) {
  return (rows * costs.mean).cwiseMax(smallest_relative);
}

LatencyPrior latency_prior(const StructureProblem& problem, const FeatureRows& rows, const CostGaussian& costs,
                           double closeness) {
  const Eigen::VectorXd relative = relative_latency(rows, costs);
  return trainer::latency_prior(relative, scale_of(relative, problem.measured.log_latency),
                                rows * costs.covariance * rows.transpose(), closeness);
}

Eigen::MatrixXd prior_covariance_ms2(const CostGaussian& prior, double scale_ms, double closeness) {
  const double variance_ms2 = scale_ms * scale_ms;
  return variance_ms2 * (closeness * closeness * prior.covariance + prior.mean * prior.mean.transpose());
}

Eigen::VectorXd posterior_costs(const CostGaussian& prior, const HypothesisFit& candidate, const FeatureRows& rows) {
  return candidate.scale_ms * prior.mean + prior_covariance_ms2(prior, candidate.scale_ms, candidate.closeness) *
                                               (rows.transpose() * candidate.solution.pull);
}

double deviation_of(const NoiseLevel& level, const StructuredPosteriorOptions& options) {
  return std::sqrt(level.noise * level.noise + options.slow_share * level.slow_step * level.slow_step);
}

std::vector<NoiseLevel> noise_levels(const StructuredPosteriorOptions& options) {
  std::vector<NoiseLevel> levels;
  for (const double noise : options.noises) {
    for (const double step : options.slow_steps) {
      if (step == 0 || noise <= options.largest_slow_noise) levels.push_back({noise, step});
    }
  }
  return levels;
}

namespace {

void solve(const LatencyPrior& prior, const CostPriors& priors, LatencySolver& solver, HypothesisFit& candidate) {
  candidate.scale_ms = prior.scale_ms;
  candidate.solution = solver.solve(prior, candidate.level);
  candidate.log_evidence = candidate.solution.log_evidence + priors.log_odds(candidate.entry);
}

/// Fits `candidate` at each of `levels` from one entry, and adds the results to `fitted`.
void fit_levels(const StructureProblem& problem, const CostPriors& priors, const HypothesisFit& candidate,
                const FeatureRows& rows, const std::vector<NoiseLevel>& levels, LatencySolver& solver,
                std::vector<HypothesisFit>& fitted) {
  const LatencyPrior prior =
      latency_prior(problem, rows, priors.at(candidate.structure, candidate.entry), candidate.closeness);
  for (const NoiseLevel& level : levels) {
    HypothesisFit at_level = candidate;
    at_level.level = level;
    solve(prior, priors, solver, at_level);
    fitted.push_back(std::move(at_level));
  }
}

/// The noise at which all hypotheses are looked at first: large enough that none is lost for a single measurement.
NoiseLevel screening_level(const StructuredPosteriorOptions& options) { return {upper_median(options.noises), 0}; }

/// Every structure with costs from every entry, as near to it as each closeness says, at one noise; without those that
/// are so improbable there that no other noise would make up for it.
std::vector<HypothesisFit> screened(const StructureProblem& problem, const CostPriors& priors, LatencySolver& solver) {
  const auto& structures = problem.library.model->structures();
  std::vector<HypothesisFit> candidates;
  for (std::size_t s = 0; s < structures.size(); ++s) {
    if (!considers(problem.options, structures[s])) continue;
    const bool fixed_rows = structures[s].alternatives == 1;
    FeatureRows rows;
    if (fixed_rows) rows = rows_at(problem.table, s, {});
    for (std::size_t entry = 0; entry < priors.entries(); ++entry) {
      if (!fixed_rows) rows = rows_at(problem.table, s, path_costs(priors.at(s, entry).mean));
      for (const double closeness : problem.options.closeness) {
        const HypothesisFit candidate{{s, entry, {}, closeness}, fixed_rows ? FeatureRows() : rows, {}};
        fit_levels(problem, priors, candidate, rows, {screening_level(problem.options)}, solver, candidates);
      }
    }
  }
  double best = -std::numeric_limits<double>::infinity();
  for (const HypothesisFit& candidate : candidates) best = std::max(best, candidate.log_evidence);  // NaN is no best
  candidates.erase(
      std::remove_if(candidates.begin(), candidates.end(),
                     [&](const HypothesisFit& candidate) { return !(candidate.log_evidence >= best - screening_gap); }),
      candidates.end());
  return candidates;
}

/// The screened candidates at every noise.
std::vector<HypothesisFit> fit_candidates(const StructureProblem& problem, const CostPriors& priors,
                                          const std::vector<HypothesisFit>& screened, LatencySolver& solver) {
  const NoiseLevel known = screening_level(problem.options);
  std::vector<NoiseLevel> others;
  bool uses_known = false;
  for (const NoiseLevel& level : noise_levels(problem.options)) {
    const bool is_known = level.noise == known.noise && level.slow_step == known.slow_step;
    uses_known |= is_known;
    if (!is_known) others.push_back(level);
  }
  std::vector<HypothesisFit> candidates;
  if (uses_known) candidates = screened;
  for (const HypothesisFit& candidate : screened) {
    const FeatureRows rows =
        candidate.rows.size() > 0 ? candidate.rows : rows_at(problem.table, candidate.structure, {});
    fit_levels(problem, priors, candidate, rows, others, solver, candidates);
  }
  return candidates;
}

/// Keeps the best entries per noise of each cost-dependent structure, and lets each find its own slowest paths; the
/// candidates of other structures stay as they are.
std::vector<HypothesisFit> refit_paths(const StructureProblem& problem, const CostPriors& priors,
                                       std::vector<HypothesisFit> candidates, LatencySolver& solver) {
  keep_best(candidates, &HypothesisFit::log_evidence);
  std::map<std::tuple<std::size_t, double, double>, std::size_t> taken;  // by structure and noise
  std::vector<HypothesisFit> refitted;
  for (HypothesisFit& candidate : candidates) {
    if (candidate.rows.size() > 0) {
      std::size_t& count = taken[{candidate.structure, candidate.level.noise, candidate.level.slow_step}];
      if (count == problem.options.path_entries) continue;
      ++count;
      const CostGaussian& costs = priors.at(candidate.structure, candidate.entry);
      for (int round = 0; round < path_rounds; ++round) {
        const Eigen::VectorXd current = posterior_costs(costs, candidate, candidate.rows) / candidate.scale_ms;
        candidate.rows = rows_at(problem.table, candidate.structure, path_costs(current));
        solve(latency_prior(problem, candidate.rows, costs, candidate.closeness), priors, solver, candidate);
      }
    }
    refitted.push_back(std::move(candidate));
  }
  return refitted;
}

}  // namespace

std::vector<HypothesisFit> fitted_candidates(const StructureProblem& problem, const CostPriors& priors,
                                             std::size_t kept) {
  LatencySolver solver(problem.measured, problem.options);
  std::vector<HypothesisFit> candidates =
      refit_paths(problem, priors, fit_candidates(problem, priors, screened(problem, priors, solver), solver), solver);
  keep_best(candidates, &HypothesisFit::log_evidence, kept);
  return candidates;
}

}  // namespace tenshot::trainer::structured
