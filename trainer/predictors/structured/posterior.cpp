#include "trainer/predictors/structured/posterior.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <bitset>
#include <cmath>
#include <limits>

#include "nasbench/support/error.h"
#include "trainer/core/adaptation.h"
#include "trainer/predictors/posterior/mixture.h"
#include "trainer/predictors/structured/entry_clusters.h"
#include "trainer/predictors/structured/entry_priors.h"
#include "trainer/predictors/structured/hypotheses.h"
#include "trainer/predictors/structured/many_measurements.h"

namespace tenshot::trainer::structured {
namespace {

constexpr std::size_t most_exact = 40;          ///< measurements that every hypothesis sees all of
constexpr double described_floor_share = 0.02;  ///< of the median latency that a descriptor lets expect

void add_component(const StructureProblem& problem, const CostPriors& priors, const HypothesisFit& candidate,
                   double weight, StructuredPosterior& posterior) {
  const CostGaussian& prior = priors.at(candidate.structure, candidate.entry);
  const FeatureRows rows = candidate.rows.size() > 0 ? candidate.rows : rows_at(problem.table, candidate.structure, {});
  const Eigen::MatrixXd covariance = prior_covariance_ms2(prior, candidate.scale_ms, candidate.closeness);
  const LatencySolution& solution = candidate.solution;
  const FeatureRows sloped = solution.slopes.asDiagonal() * rows;
  const Eigen::MatrixXd system = solution.log_covariance(sloped * covariance * sloped.transpose(), problem.measured);
  const Eigen::MatrixXd inverse = system.llt().solve(Eigen::MatrixXd::Identity(system.rows(), system.cols()));
  const Eigen::MatrixXd gain = covariance * rows.transpose() * solution.slopes.asDiagonal();

  Component component;
  component.structure = candidate.structure;
  component.entry = candidate.entry;
  component.noise = deviation_of(candidate.level, problem.options);
  component.weight = weight;
  component.costs_ms = posterior_costs(prior, candidate, rows);
  component.path_costs_ms = path_costs(component.costs_ms, candidate.scale_ms);
  component.covariance_ms2 = covariance - gain * inverse * gain.transpose();
  posterior.components.push_back(std::move(component));

  posterior.residual_weights += weight * solution.residual_weights;
  posterior.residual_variance += weight * solution.residual_variance;
  posterior.residual_reduction += weight * solution.residual_variance * solution.residual_variance * inverse;
}

/// What a descriptor says alone: every structure, its costs.
StructuredPosterior as_described(const StructuredLibrary& library, const StructuredPosteriorOptions& options,
                                 const DescribedDevice& described) {
  StructuredPosterior posterior;
  posterior.model = library.model;
  posterior.calibration = library.calibration;
  posterior.floor_ms = described_floor_share * described.median_ms;
  const auto& structures = library.model->structures();
  for (std::size_t s = 0; s < structures.size(); ++s) {
    if (!considers(options, structures[s])) continue;
    const CostGaussian prior = described_prior(described, s, options);
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

}  // namespace

double likeness(const std::uint64_t* a, const std::uint64_t* b, std::size_t words, double scale) {
  std::size_t distance = 0;
  for (std::size_t w = 0; w < words; ++w) distance += std::bitset<64>(a[w] ^ b[w]).count();
  return std::exp(-static_cast<double>(distance) / scale);
}

bool considers(const StructuredPosteriorOptions& options, const nasbench::Structure& structure) {
  return std::find(options.left_out.begin(), options.left_out.end(), structure.name) == options.left_out.end();
}

AdaptationSet without_removed(const nasbench::SearchSpace& space, const AdaptationSet& set) {
  const std::size_t count = set.architectures.size();
  std::vector<bool> connected(count);
  double fastest_ms = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < count; ++i) {
    connected[i] = space.connected(set.architectures[i]);
    if (connected[i]) fastest_ms = std::min(fastest_ms, set.latency_ms[i]);
  }
  if (!std::isfinite(fastest_ms)) return set;
  std::vector<std::size_t> rest;
  for (std::size_t i = 0; i < count; ++i) {
    if (connected[i] || set.latency_ms[i] >= floor_share * fastest_ms) rest.push_back(i);
  }
  return part_of(set, rest);
}

StructuredPosterior adapt_exactly(const StructuredLibrary& library, const CostPriors& priors, const AdaptationSet& set,
                                  const StructuredPosteriorOptions& options) {
  const StructureProblem problem = make_problem(library, set, options);
  const std::vector<HypothesisFit> candidates = fitted_candidates(problem, priors, options.kept);
  if (candidates.empty()) {
    throw InputError("no combination of costs and structure explains these latencies: are they really milliseconds?");
  }

  StructuredPosterior posterior;
  posterior.model = library.model;
  posterior.floor_ms = problem.measured.floor_ms;
  posterior.calibration = library.calibration;
  posterior.anchors = problem.table.signatures;
  const auto n = static_cast<Eigen::Index>(problem.table.size);
  posterior.residual_weights = Eigen::VectorXd::Zero(n);
  posterior.residual_reduction = Eigen::MatrixXd::Zero(n, n);
  const std::vector<double> weights = weights_of(candidates, &HypothesisFit::log_evidence);
  for (std::size_t c = 0; c < candidates.size(); ++c) {
    add_component(problem, priors, candidates[c], weights[c], posterior);
  }
  return posterior;
}

StructuredPosterior adapt(const StructuredLibrary& library, const AdaptationSet& measured,
                          const StructuredPosteriorOptions& options, const DescribedDevice* described) {
  if (described != nullptr && measured.architectures.empty()) return as_described(library, options, *described);
  require_latencies(measured.architectures.size(), measured.latency_ms, "architecture");
  const AdaptationSet set = without_removed(library.model->space(), measured);
  const auto adapt_to = [&](const StructuredLibrary& entries, const CostPriors& priors) {
    if (set.architectures.size() > most_exact) return adapt_to_many(entries, priors, set, options);
    return adapt_exactly(entries, priors, set, options);
  };
  if (library.cluster_of.empty()) return adapt_to(library, CostPriors(library, options, described));
  const Eigen::MatrixXd spread = library_covariance(library);
  const NearestEntries nearest = nearest_entries(library, set, options, spread);
  const std::size_t count = nearest.entry_of.size();
  StructuredPosterior posterior =
      adapt_to(nearest.library, CostPriors(nearest.library, options, described, spread, library.entries.size()));
  for (Component& component : posterior.components) {
    component.entry = component.entry < count ? nearest.entry_of[component.entry] : library.entries.size();
  }
  return posterior;
}

}  // namespace tenshot::trainer::structured
