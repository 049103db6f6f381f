#include "trainer/predictors/structured/hypotheses.h"

#include <map>
#include <tuple>

#include "nasbench/support/median.h"
#include "trainer/predictors/posterior/mixture.h"

namespace tenshot::trainer::structured {

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

Eigen::MatrixXd kernel_matrix(const std::vector<std::uint64_t>& signatures, double scale) {
  const auto n = static_cast<Eigen::Index>(signatures.size());
  Eigen::MatrixXd kernel(n, n);
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index j = 0; j < n; ++j) kernel(i, j) = likeness(signatures[i], signatures[j], scale);
  }
  return kernel;
}

StructureProblem make_problem(const StructuredLibrary& library, const AdaptationSet& set,
                              const StructuredPosteriorOptions& options) {
  StructureProblem problem = {library, options, library.model->table(set.architectures),
                              latency_problem(set.latency_ms, set.whole_milliseconds)};
  problem.measured.kernel = kernel_matrix(problem.table.signatures, library.model->signature_scale());
  return problem;
}

Eigen::MatrixXd prior_covariance_ms2(const CostGaussian& prior, double scale_ms, double closeness) {
  const double variance_ms2 = scale_ms * scale_ms;
  return variance_ms2 * (closeness * closeness * prior.covariance + prior.mean * prior.mean.transpose());
}

Eigen::VectorXd posterior_costs(const CostGaussian& prior, const HypothesisFit& candidate) {
  return candidate.scale_ms * prior.mean + prior_covariance_ms2(prior, candidate.scale_ms, candidate.closeness) *
                                               (candidate.rows->transpose() * candidate.solution.pull);
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

constexpr int path_rounds = 2;
constexpr double screening_gap = 20;  ///< of log evidence

std::vector<HypothesisFit> fit_levels(const StructureProblem& problem, const CostPriors& priors,
                                      const HypothesisFit& candidate, const std::vector<NoiseLevel>& levels) {
  const CostGaussian& costs = priors.at(candidate.structure, candidate.entry);
  const FeatureRows& rows = *candidate.rows;
  const Eigen::VectorXd relative = (rows * costs.mean).cwiseMax(smallest_relative);
  const LatencyPrior prior = latency_prior(relative, scale_of(relative, problem.measured.log_latency),
                                           rows * costs.covariance * rows.transpose(), candidate.closeness);
  std::vector<HypothesisFit> fitted;
  fitted.reserve(levels.size());
  for (const NoiseLevel& level : levels) {
    HypothesisFit& fit = fitted.emplace_back(candidate);
    fit.scale_ms = prior.scale_ms;
    fit.level = level;
    fit.solution = solve(problem.measured, prior, level, problem.options);
    fit.log_evidence = fit.solution.log_evidence + priors.log_odds(fit.entry);
  }
  return fitted;
}

/// The noise at which all hypotheses are looked at first: large enough that none is lost for a single measurement.
NoiseLevel screening_level(const StructuredPosteriorOptions& options) { return {upper_median(options.noises), 0}; }

/// Every structure with costs from every entry, as near to it as each closeness says, at one noise; without those that
/// are so improbable there that no other noise would make up for it.
std::vector<HypothesisFit> screened(const StructureProblem& problem, const CostPriors& priors) {
  std::vector<HypothesisFit> candidates;
  for (const std::size_t s : considered_structures(*problem.library.model, problem.options)) {
    std::shared_ptr<const FeatureRows> rows;
    for (std::size_t entry = 0; entry < priors.entries(); ++entry) {
      if (entry == 0 || problem.table.structures[s].alternatives > 1) {
        rows = std::make_shared<FeatureRows>(rows_at(problem.table, s, path_costs(priors.at(s, entry).mean)));
      }
      for (const double closeness : problem.options.closeness) {
        const HypothesisFit candidate{{s, entry, {}, closeness}, rows, {}};
        candidates.push_back(
            std::move(fit_levels(problem, priors, candidate, {screening_level(problem.options)}).front()));
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

/// Keeps the best entries per noise of structures whose slowest paths depend on costs, and finds each its own paths.
std::vector<HypothesisFit> refit_paths(const StructureProblem& problem, const CostPriors& priors,
                                       std::vector<HypothesisFit> candidates) {
  keep_best(candidates, &HypothesisFit::log_evidence);
  std::map<std::tuple<std::size_t, double, double>, std::size_t> taken;  // by structure and noise
  std::vector<HypothesisFit> refitted;
  for (HypothesisFit& candidate : candidates) {
    if (problem.table.structures[candidate.structure].alternatives > 1) {
      const NoiseLevel level = candidate.level;
      if (taken[{candidate.structure, level.noise, level.slow_step}]++ >= problem.options.path_entries) continue;
      const CostGaussian& prior = priors.at(candidate.structure, candidate.entry);
      for (int round = 0; round < path_rounds; ++round) {
        const Eigen::VectorXd costs = posterior_costs(prior, candidate) / candidate.scale_ms;
        candidate.rows = std::make_shared<FeatureRows>(rows_at(problem.table, candidate.structure, path_costs(costs)));
        candidate = std::move(fit_levels(problem, priors, candidate, {level}).front());
      }
    }
    refitted.push_back(std::move(candidate));
  }
  return refitted;
}

}  // namespace

std::vector<HypothesisFit> fitted_candidates(const StructureProblem& problem, const CostPriors& priors,
                                             std::size_t kept) {
  const NoiseLevel known = screening_level(problem.options);
  std::vector<NoiseLevel> others = noise_levels(problem.options);
  const auto end = std::remove_if(others.begin(), others.end(), [&](const NoiseLevel& level) {
    return level.noise == known.noise && level.slow_step == known.slow_step;
  });
  const std::vector<HypothesisFit> at_known = screened(problem, priors);
  std::vector<HypothesisFit> candidates;
  if (end != others.end()) candidates = at_known;
  others.erase(end, others.end());
  for (const HypothesisFit& candidate : at_known) {
    for (HypothesisFit& fit : fit_levels(problem, priors, candidate, others)) candidates.push_back(std::move(fit));
  }
  candidates = refit_paths(problem, priors, std::move(candidates));
  keep_best(candidates, &HypothesisFit::log_evidence, kept);
  return candidates;
}

}  // namespace tenshot::trainer::structured
