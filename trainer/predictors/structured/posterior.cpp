#include "trainer/predictors/structured/posterior.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <bitset>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>

#include "nasbench/support/error.h"
#include "nasbench/support/numbers.h"
#include "trainer/predictors/structured/cost_prior.h"
#include "trainer/predictors/structured/posterior_solver.h"

namespace tenshot::trainer::structured {
namespace {

using nasbench::StructureTable;

constexpr int path_rounds = 2;
constexpr double screening_gap = 20;            ///< of log evidence
constexpr double described_floor_share = 0.02;  ///< of the median latency that a descriptor lets expect
constexpr double floor_share = 0.3;             ///< of the smallest latency: less is taken for nothing

Eigen::MatrixXd kernel_matrix(const StructureTable& table, double scale) {
  const auto n = static_cast<Eigen::Index>(table.size);
  Eigen::MatrixXd kernel(n, n);
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index j = 0; j < n; ++j) {
      kernel(i, j) = likeness(table.signature(i), table.signature(j), table.signature_words, scale);
    }
  }
  return kernel;
}

Problem make_problem(const StructuredLibrary& library, const Evidence& evidence, const PosteriorOptions& options) {
  Problem problem = {library, options, library.model->table(evidence.architectures), {}, 0, {}, 0};
  const Eigen::Map<const Eigen::VectorXd> latency(evidence.latency_ms.data(),
                                                  static_cast<Eigen::Index>(evidence.latency_ms.size()));
  problem.log_latency = latency.array().log();
  const double clock_step_ms = evidence.whole_milliseconds ? 1 : 0;
  problem.clock_variance_ms2 = clock_step_ms * clock_step_ms / 12;
  problem.kernel = kernel_matrix(problem.table, library.model->signature_scale());
  problem.floor_ms = floor_share * latency.minCoeff();
  return problem;
}

FeatureRows rows_at(const StructureTable& table, std::size_t structure, const Eigen::VectorXd& path_costs) {
  const std::size_t alternatives = table.structures[structure].alternatives;
  FeatureRows rows(table.size, table.feature_count);
  for (std::size_t i = 0; i < table.size; ++i) {
    const double* row = table.row(structure, i);
    if (alternatives > 1) row += table.feature_count * slowest_alternative(row, alternatives, path_costs);
    std::copy(row, row + table.feature_count, rows.row(i).data());
  }
  return rows;
}

double median(Eigen::ArrayXd values) {
  const Eigen::Index middle = values.size() / 2;
  std::nth_element(values.data(), values.data() + middle, values.data() + values.size());
  if (values.size() % 2 == 1) return values[middle];
  return 0.5 * (values[middle] + *std::max_element(values.data(), values.data() + middle));
}

/// Latencies of a device of this kind, at the scale the measurements give it; the scale itself is uncertain by its
/// size.
LatencyPrior latency_prior(const Problem& problem, const FeatureRows& rows, const CostPrior& costs, double closeness) {
  LatencyPrior prior;
  prior.mean = rows * costs.mean;
  const double smallest = 0.02;
  prior.mean = prior.mean.cwiseMax(smallest);
  prior.scale_ms = std::exp(median(problem.log_latency.array() - prior.mean.array().log()));
  prior.mean *= prior.scale_ms;
  prior.covariance = std::pow(closeness * prior.scale_ms, 2) * (rows * costs.covariance * rows.transpose());
  prior.covariance += prior.mean * prior.mean.transpose();
  return prior;
}

Eigen::MatrixXd prior_covariance_ms2(const CostPrior& prior, const Candidate& candidate) {
  const double variance_ms2 = candidate.scale_ms * candidate.scale_ms;
  return variance_ms2 *
         (candidate.closeness * candidate.closeness * prior.covariance + prior.mean * prior.mean.transpose());
}

Eigen::VectorXd posterior_costs(const CostPrior& prior, const Candidate& candidate, const FeatureRows& rows) {
  return candidate.scale_ms * prior.mean + prior_covariance_ms2(prior, candidate) * (rows.transpose() * candidate.pull);
}

struct NoiseLevel {
  double noise = 0;
  double slow_step = 0;
};

std::vector<NoiseLevel> noise_levels(const PosteriorOptions& options) {
  std::vector<NoiseLevel> levels;
  for (const double noise : options.noises) {
    for (const double step : options.slow_steps) {
      if (step == 0 || noise <= options.largest_slow_noise) levels.push_back({noise, step});
    }
  }
  return levels;
}

/// Fits `candidate` at each of `levels` from one entry, and adds the results to `fitted`.
void fit_levels(const Problem& problem, const CostPriors& priors, const Candidate& candidate, const FeatureRows& rows,
                const std::vector<NoiseLevel>& levels, LatencySolver& solver, std::vector<Candidate>& fitted) {
  const LatencyPrior prior =
      latency_prior(problem, rows, priors.at(candidate.structure, candidate.entry), candidate.closeness);
  for (const NoiseLevel& level : levels) {
    Candidate at_level = candidate;
    at_level.noise = level.noise;
    at_level.slow_step = level.slow_step;
    solver.solve(prior, at_level);
    at_level.log_evidence += priors.log_odds(candidate.entry);
    fitted.push_back(std::move(at_level));
  }
}

/// The noise at which all hypotheses are looked at first: large enough that none is lost for a single measurement.
NoiseLevel screening_level(const PosteriorOptions& options) {
  std::vector<double> noises = options.noises;
  std::sort(noises.begin(), noises.end());
  return {noises[noises.size() / 2], 0};
}

/// Every structure with costs from every entry, as near to it as each closeness says, at one noise; without those that
/// are so improbable there that no other noise would make up for it.
std::vector<Candidate> screened(const Problem& problem, const CostPriors& priors, LatencySolver& solver) {
  const auto& structures = problem.library.model->structures();
  std::vector<Candidate> candidates;
  for (std::size_t s = 0; s < structures.size(); ++s) {
    if (!considers(problem.options, structures[s])) continue;
    const bool fixed_rows = structures[s].alternatives == 1;
    FeatureRows rows;
    if (fixed_rows) rows = rows_at(problem.table, s, {});
    for (std::size_t entry = 0; entry < priors.entries(); ++entry) {
      if (!fixed_rows) rows = rows_at(problem.table, s, path_costs(priors.at(s, entry).mean));
      for (const double closeness : problem.options.closeness) {
        Candidate candidate;
        candidate.structure = s;
        candidate.entry = entry;
        candidate.closeness = closeness;
        if (!fixed_rows) candidate.rows = rows;
        fit_levels(problem, priors, candidate, rows, {screening_level(problem.options)}, solver, candidates);
      }
    }
  }
  double best = -std::numeric_limits<double>::infinity();
  for (const Candidate& candidate : candidates) best = std::max(best, candidate.log_evidence);  // NaN is no best
  candidates.erase(
      std::remove_if(candidates.begin(), candidates.end(),
                     [&](const Candidate& candidate) { return !(candidate.log_evidence >= best - screening_gap); }),
      candidates.end());
  return candidates;
}

/// The screened candidates at every noise.
std::vector<Candidate> fit_candidates(const Problem& problem, const CostPriors& priors,
                                      const std::vector<Candidate>& screened, LatencySolver& solver) {
  const NoiseLevel known = screening_level(problem.options);
  std::vector<NoiseLevel> others;
  bool uses_known = false;
  for (const NoiseLevel& level : noise_levels(problem.options)) {
    const bool is_known = level.noise == known.noise && level.slow_step == known.slow_step;
    uses_known |= is_known;
    if (!is_known) others.push_back(level);
  }
  std::vector<Candidate> candidates;
  if (uses_known) candidates = screened;
  for (const Candidate& candidate : screened) {
    const FeatureRows rows =
        candidate.rows.size() > 0 ? candidate.rows : rows_at(problem.table, candidate.structure, {});
    fit_levels(problem, priors, candidate, rows, others, solver, candidates);
  }
  return candidates;
}

void sort_by_evidence(std::vector<Candidate>& candidates) {
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.log_evidence > b.log_evidence; });
}

/// Keeps the best entries per noise of each cost-dependent structure, and lets each find its own slowest paths; the
/// candidates of other structures stay as they are.
std::vector<Candidate> refit_paths(const Problem& problem, const CostPriors& priors, std::vector<Candidate> candidates,
                                   LatencySolver& solver) {
  sort_by_evidence(candidates);
  std::map<std::tuple<std::size_t, double, double>, std::size_t> taken;  // by structure and noise
  std::vector<Candidate> refitted;
  for (Candidate& candidate : candidates) {
    if (candidate.rows.size() > 0) {
      std::size_t& count = taken[{candidate.structure, candidate.noise, candidate.slow_step}];
      if (count == problem.options.path_entries) continue;
      ++count;
      const CostPrior& costs = priors.at(candidate.structure, candidate.entry);
      for (int round = 0; round < path_rounds; ++round) {
        const Eigen::VectorXd current = posterior_costs(costs, candidate, candidate.rows) / candidate.scale_ms;
        candidate.rows = rows_at(problem.table, candidate.structure, path_costs(current));
        solver.solve(latency_prior(problem, candidate.rows, costs, candidate.closeness), candidate);
        candidate.log_evidence += priors.log_odds(candidate.entry);
      }
    }
    refitted.push_back(std::move(candidate));
  }
  return refitted;
}

void keep_best(std::vector<Candidate>& candidates, std::size_t kept) {
  const auto is_unusable = [](const Candidate& candidate) { return !std::isfinite(candidate.log_evidence); };
  candidates.erase(std::remove_if(candidates.begin(), candidates.end(), is_unusable), candidates.end());
  sort_by_evidence(candidates);
  if (candidates.size() > kept) candidates.resize(kept);
}

/// (slopes · prior covariance · slopes + residual + noise)⁻¹ over the measurements.
Eigen::MatrixXd inverse_system(const Problem& problem, const Candidate& candidate, const FeatureRows& rows,
                               const Eigen::MatrixXd& prior_covariance) {
  const double residual_scale = problem.options.residual_share * candidate.noise;
  const FeatureRows sloped = candidate.slopes.asDiagonal() * rows;
  Eigen::MatrixXd system =
      sloped * prior_covariance * sloped.transpose() + residual_scale * residual_scale * problem.kernel;
  system.diagonal() += candidate.noise_variance;
  return system.llt().solve(Eigen::MatrixXd::Identity(system.rows(), system.cols()));
}

void add_component(const Problem& problem, const CostPriors& priors, const Candidate& candidate, double weight,
                   StructuredPosterior& posterior) {
  const CostPrior& prior = priors.at(candidate.structure, candidate.entry);
  const FeatureRows rows = candidate.rows.size() > 0 ? candidate.rows : rows_at(problem.table, candidate.structure, {});
  const Eigen::MatrixXd covariance = prior_covariance_ms2(prior, candidate);
  const Eigen::MatrixXd inverse = inverse_system(problem, candidate, rows, covariance);
  const Eigen::MatrixXd gain = covariance * rows.transpose() * candidate.slopes.asDiagonal();

  Component component;
  component.structure = candidate.structure;
  component.entry = candidate.entry;
  component.noise = std::sqrt(candidate.noise * candidate.noise +
                              problem.options.slow_share * candidate.slow_step * candidate.slow_step);
  component.weight = weight;
  component.costs_ms = posterior_costs(prior, candidate, rows);
  component.path_costs_ms = path_costs(component.costs_ms, candidate.scale_ms);
  component.covariance_ms2 = covariance - gain * inverse * gain.transpose();
  posterior.components.push_back(std::move(component));

  const double residual_variance = std::pow(problem.options.residual_share * candidate.noise, 2);
  posterior.residual_weights += weight * candidate.residual_weights;
  posterior.residual_variance += weight * residual_variance;
  posterior.residual_reduction += weight * residual_variance * residual_variance * inverse;
}

/// What a descriptor says alone: every structure, its costs.
StructuredPosterior as_described(const StructuredLibrary& library, const PosteriorOptions& options,
                                 const DescribedDevice& described) {
  StructuredPosterior posterior;
  posterior.model = library.model;
  posterior.calibration = library.calibration;
  posterior.floor_ms = described_floor_share * described.median_ms;
  const auto& structures = library.model->structures();
  for (std::size_t s = 0; s < structures.size(); ++s) {
    if (!considers(options, structures[s])) continue;
    const CostPrior prior = described_prior(described, s, options);
    Component component;
    component.structure = s;
    component.entry = library.entries.size();
    component.noise = described.residual;
    component.costs_ms = described.median_ms * prior.mean;
    component.path_costs_ms = path_costs(component.costs_ms, described.median_ms);
    component.covariance_ms2 =
        std::pow(described.median_ms, 2) *
        (prior.covariance + std::pow(described.scale_deviation, 2) * prior.mean * prior.mean.transpose());
    posterior.components.push_back(std::move(component));
  }
  for (Component& component : posterior.components) {
    component.weight = 1 / static_cast<double>(posterior.components.size());
  }
  return posterior;
}

void check(const Evidence& evidence) {
  if (evidence.architectures.empty()) throw InputError("no measured architecture: expected at least one");
  if (evidence.architectures.size() != evidence.latency_ms.size()) {
    throw InputError(std::to_string(evidence.architectures.size()) + " architectures with " +
                     std::to_string(evidence.latency_ms.size()) + " latencies: expected as many");
  }
  for (const double latency : evidence.latency_ms) {
    if (std::isfinite(latency) && latency > 0) continue;
    throw InputError("measured latency " + shortest(latency) + " ms: expected a finite, positive number");
  }
}

}  // namespace

double likeness(const std::uint64_t* a, const std::uint64_t* b, std::size_t words, double scale) {
  std::size_t distance = 0;
  for (std::size_t w = 0; w < words; ++w) distance += std::bitset<64>(a[w] ^ b[w]).count();
  return std::exp(-static_cast<double>(distance) / scale);
}

bool considers(const PosteriorOptions& options, const nasbench::Structure& structure) {
  return std::find(options.left_out.begin(), options.left_out.end(), structure.name) == options.left_out.end();
}

Evidence without_removed(const nasbench::SearchSpace& space, const Evidence& evidence) {
  const std::size_t count = evidence.architectures.size();
  std::vector<bool> connected(count);
  double fastest_ms = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < count; ++i) {
    connected[i] = space.connected(evidence.architectures[i]);
    if (connected[i]) fastest_ms = std::min(fastest_ms, evidence.latency_ms[i]);
  }
  if (!std::isfinite(fastest_ms)) return evidence;
  Evidence rest;
  rest.whole_milliseconds = evidence.whole_milliseconds;
  for (std::size_t i = 0; i < count; ++i) {
    if (!connected[i] && evidence.latency_ms[i] < floor_share * fastest_ms) continue;
    rest.architectures.push_back(evidence.architectures[i]);
    rest.latency_ms.push_back(evidence.latency_ms[i]);
  }
  return rest;
}

StructuredPosterior adapt(const StructuredLibrary& library, const Evidence& measured, const PosteriorOptions& options,
                          const DescribedDevice* described) {
  if (described != nullptr && measured.architectures.empty()) return as_described(library, options, *described);
  check(measured);
  const Evidence evidence = without_removed(library.model->space(), measured);
  const Problem problem = make_problem(library, evidence, options);
  const CostPriors priors(library, options, described);
  LatencySolver solver(problem);
  std::vector<Candidate> candidates =
      refit_paths(problem, priors, fit_candidates(problem, priors, screened(problem, priors, solver), solver), solver);
  keep_best(candidates, options.kept);
  if (candidates.empty()) {
    throw InputError("no combination of costs and structure explains these latencies: are they really milliseconds?");
  }

  StructuredPosterior posterior;
  posterior.model = library.model;
  posterior.floor_ms = problem.floor_ms;
  posterior.calibration = library.calibration;
  posterior.anchors = problem.table.signatures;
  const auto n = static_cast<Eigen::Index>(problem.table.size);
  posterior.residual_weights = Eigen::VectorXd::Zero(n);
  posterior.residual_reduction = Eigen::MatrixXd::Zero(n, n);
  double total = 0;
  for (const Candidate& candidate : candidates) total += std::exp(candidate.log_evidence - candidates[0].log_evidence);
  for (const Candidate& candidate : candidates) {
    const double weight = std::exp(candidate.log_evidence - candidates[0].log_evidence) / total;
    add_component(problem, priors, candidate, weight, posterior);
  }
  return posterior;
}

}  // namespace tenshot::trainer::structured
