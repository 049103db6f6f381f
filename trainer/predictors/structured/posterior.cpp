#include "trainer/predictors/structured/posterior.h"

#include <Eigen/Cholesky>
#include <limits>

#include "nasbench/support/error.h"
#include "trainer/core/adaptation.h"
#include "trainer/predictors/posterior/mixture.h"
#include "trainer/predictors/structured/entry_clusters.h"
#include "trainer/predictors/structured/hypotheses.h"
#include "trainer/predictors/structured/many_measurements.h"

namespace tenshot::trainer::structured {
namespace {

constexpr std::size_t most_exact = 40;          ///< measurements that every hypothesis sees all of
constexpr double described_floor_share = 0.02;  ///< of the median latency that a descriptor lets expect
constexpr double least_noise = 0.005;           ///< of log latency, of a known device
constexpr double least_share = 0.02;            ///< of a known device's scale: no prediction is below it

using Options = StructuredPosteriorOptions;

constexpr double largest_count = 10'000'000, unbounded = 1e300;

const MixtureRanges mixture_ranges = {Allowed(1e-4, unbounded), Allowed(1e-3, unbounded),
                                      Allowed(1, 1e3, Allowed::or_zero), Allowed(1, largest_count)};

const std::vector<DeclaredOption<Options>> own_options = {
    {"cost_spread", &Options::cost_spread, Allowed(0, 1e3),
     "A cost's own standard deviation beside the library's spread, as a share of the mean cost of the entry. Larger "
     "trusts measurements more and the pool less."},
    {"cost_spread_floor", &Options::cost_spread_floor, Allowed(1e-6, 1e3),
     "What is added to that standard deviation, in units of the median latency. Larger trusts measurements more and "
     "the pool less."},
    {"slow_steps", &Options::slow_steps, Allowed(0, unbounded),
     "Many devices measure in two speeds, minutes of one after minutes of the other (clocks, neighbours): by how much "
     "log latency is larger in the slow one, tried in turn; 0 = one speed. Costs are those of the fast, more frequent "
     "one. More of them cost time in proportion."},
    {"slow_share", &Options::slow_share, Allowed(0, 0.5),
     "Share of measurements that are made in the slow speed. Larger suspects it sooner."},
    {"largest_slow_noise", &Options::largest_slow_noise, Allowed(0, 1),
     "σ up to which two speeds can be told apart from noise. Larger takes longer."},
    {"path_entries", &Options::path_entries, Allowed(1, largest_count),
     "Entries refitted for each σ where a structure's slowest path depends on the costs. More cost time and miss "
     "less."},
    {"left_out", &Options::left_out, Allowed(), "Structures that are not considered, for ablations."},
    {"described_share", &Options::described_share, Allowed(1e-6, 1 - 1e-6),
     "Prior probability, where the device has a descriptor, that it is as described and not like one of the library. "
     "Nearer to 1 trusts the descriptor against the measurements for longer."},
    {"described_spread", &Options::described_spread, Allowed(1e-6, 10),
     "Standard deviation of a described cost, in units of the median latency, beside what held-out runtimes show. "
     "Larger trusts measurements more and the descriptor less."},
    {"strange_share", &Options::strange_share, Allowed(0, 1),
     "When planning before any measurement, the probability that the device is like none of the library. Larger plans "
     "for stranger devices and less for those like the pool."},
    {"strange_devices", &Options::strange_devices, Allowed(0, 1000),
     "How many such devices, with costs drawn log-uniform over two decades, speak for all of them. More take longer to "
     "plan with, and a plan depends less on which were drawn; 0: the library alone."},
    {"planning_noise", &Options::planning_noise, Allowed(1e-4, 10),
     "σ of a measurement's log latency that planning before any measurement expects. Larger rests a plan less on "
     "single measurements."},
};

const Declaration<Options> posterior_options(with_mixture_options(mixture_ranges, own_options));

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
  const Eigen::VectorXd costs_ms = posterior_costs(prior, candidate, rows);
  posterior.components.push_back({candidate.structure, candidate.entry, deviation_of(candidate.level, problem.options),
                                  weight, costs_ms, path_costs(costs_ms, candidate.scale_ms),
                                  covariance - gain * inverse * gain.transpose()});
  posterior.residual_weights += weight * solution.residual_weights;
  posterior.residual_variance += weight * solution.residual_variance;
  posterior.residual_reduction += weight * solution.residual_variance * solution.residual_variance * inverse;
}

/// What a descriptor says alone: every structure, its costs.
StructuredPosterior as_described(const StructuredLibrary& library, const StructuredPosteriorOptions& options,
                                 const DescribedDevice& described) {
  StructuredPosterior posterior = without_components(library, described_floor_share * described.median_ms);
  const auto& structures = library.model->structures();
  for (std::size_t s = 0; s < structures.size(); ++s) {
    if (!considers(options, structures[s])) continue;
    const CostGaussian prior = described_prior(described, s, options);
    const Eigen::VectorXd costs_ms = described.median_ms * prior.mean;
    posterior.components.push_back(
        {s, library.entries.size(), described.residual, 0, costs_ms, path_costs(costs_ms, described.median_ms),
         std::pow(described.median_ms, 2) *
             (prior.covariance + std::pow(described.scale_deviation, 2) * prior.mean * prior.mean.transpose())});
  }
  for (Component& component : posterior.components) {
    component.weight = 1 / static_cast<double>(posterior.components.size());
  }
  return posterior;
}

}  // namespace

std::size_t hamming(const std::uint64_t* a, const std::uint64_t* b, std::size_t words) {
  std::size_t distance = 0;
  for (std::size_t w = 0; w < words; ++w) distance += static_cast<std::size_t>(__builtin_popcountll(a[w] ^ b[w]));
  return distance;
}

double likeness(const std::uint64_t* a, const std::uint64_t* b, std::size_t words, double scale) {
  return std::exp(-static_cast<double>(hamming(a, b, words)) / scale);
}

StructuredPosterior without_components(const StructuredLibrary& library, double floor_ms,
                                       std::vector<std::uint64_t> anchors) {
  const auto n = static_cast<Eigen::Index>(anchors.size() / library.model->signature_words());
  return {
      library.model,      {}, floor_ms, std::move(anchors), Eigen::VectorXd::Zero(n), Eigen::MatrixXd::Zero(n, n), 0,
      library.calibration};
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
  StructuredPosterior posterior = without_components(library, problem.measured.floor_ms, problem.table.signatures);
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

StructuredPosterior known_posterior(const StructuredLibrary& library, const std::string& id,
                                    const StructuredPosteriorOptions& options) {
  const LibraryEntry& entry = entry_of(library, id);
  const auto number = static_cast<std::size_t>(&entry - library.entries.data());
  const CostGaussian prior = cost_prior(library, number, library_covariance(library), options);
  const double closeness = *std::min_element(options.closeness.begin(), options.closeness.end());
  const Eigen::VectorXd costs_ms = entry.median_ms * entry.costs;
  StructuredPosterior posterior = without_components(library, least_share * entry.median_ms);
  posterior.components.push_back({entry.structure, number, std::max(entry.log_rms, least_noise), 1, costs_ms,
                                  path_costs(costs_ms, entry.median_ms),
                                  prior_covariance_ms2(prior, entry.median_ms, closeness)});
  return posterior;
}

const Declaration<StructuredPosteriorOptions>& declared(const StructuredPosteriorOptions&) { return posterior_options; }

}  // namespace tenshot::trainer::structured
