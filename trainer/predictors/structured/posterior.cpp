#include "trainer/predictors/structured/posterior.h"

#include <Eigen/Cholesky>
#include <array>
#include <limits>

#include "nasbench/support/error.h"
#include "nasbench/support/numbers_below.h"
#include "trainer/core/adaptation.h"
#include "trainer/predictors/structured/hypotheses.h"

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

/// What a descriptor says alone: every structure, its costs.
StructuredPosterior as_described(const StructuredLibrary& library, const StructuredPosteriorOptions& options,
                                 const DescribedDevice& described) {
  StructuredPosterior posterior = without_components(library, described_floor_share * described.median_ms);
  const std::vector<std::size_t> structures = considered_structures(*library.model, options);
  for (const std::size_t s : structures) {
    const CostGaussian prior = described_prior(described, s, options);
    const Eigen::VectorXd costs_ms = described.median_ms * prior.mean;
    posterior.components.push_back(
        {s, library.entries.size(), described.residual, 1 / static_cast<double>(structures.size()), costs_ms,
         path_costs(costs_ms, described.median_ms),
         std::pow(described.median_ms, 2) *
             (prior.covariance + std::pow(described.scale_deviation, 2) * prior.mean * prior.mean.transpose())});
  }
  return posterior;
}

/// What the residual process says of every architecture of the table: its mean, and the variance that is left of it.
Eigen::ArrayX2d residuals_of(const StructuredPosterior& posterior, const nasbench::StructureTable& table) {
  constexpr Eigen::Index few = 40;  // anchors up to which one architecture at a time is as fast
  constexpr std::size_t block_size = 64;
  std::array<double, 65> likeness_at;  // of signatures that differ in so many bits
  for (std::size_t d = 0; d < likeness_at.size(); ++d) {
    likeness_at[d] = std::exp(-static_cast<double>(d) / posterior.model->signature_scale());
  }
  Eigen::ArrayX2d residuals(table.size, 2);
  Eigen::VectorXd near(posterior.residual_weights.size());
  const auto find_near = [&](std::size_t architecture) {
    for (Eigen::Index i = 0; i < near.size(); ++i) {
      near[i] = likeness_at[__builtin_popcountll(table.signatures[architecture] ^ posterior.anchors[i])];
    }
  };
  if (near.size() <= few) {
    for (std::size_t a = 0; a < table.size; ++a) {
      find_near(a);
      residuals(a, 0) = near.dot(posterior.residual_weights);
      residuals(a, 1) = posterior.residual_variance - near.dot(posterior.residual_reduction * near);
    }
    return residuals;
  }
  Eigen::MatrixXd block = Eigen::MatrixXd::Zero(near.size(), block_size);  // always whole: none depends on company
  for (std::size_t begin = 0; begin < table.size; begin += block_size) {
    const std::size_t end = std::min(table.size, begin + block_size);
    for (std::size_t a = begin; a < end; ++a) {
      find_near(a);
      residuals(a, 0) = near.dot(posterior.residual_weights);
      block.col(static_cast<Eigen::Index>(a - begin)) = near;
    }
    const Eigen::MatrixXd reduced = posterior.residual_reduction * block;
    for (std::size_t a = begin; a < end; ++a) {
      const auto column = static_cast<Eigen::Index>(a - begin);
      double reduction = 0;
      for (Eigen::Index i = 0; i < near.size(); ++i) reduction += block(i, column) * reduced(i, column);
      residuals(a, 1) = posterior.residual_variance - reduction;
    }
  }
  return residuals;
}

}  // namespace

double likeness(std::uint64_t a, std::uint64_t b, double scale) {
  return std::exp(-static_cast<double>(__builtin_popcountll(a ^ b)) / scale);
}

StructuredPosterior without_components(const StructuredLibrary& library, double floor_ms,
                                       std::vector<std::uint64_t> anchors) {
  const auto n = static_cast<Eigen::Index>(anchors.size());
  return {
      library.model,      {}, floor_ms, std::move(anchors), Eigen::VectorXd::Zero(n), Eigen::MatrixXd::Zero(n, n), 0,
      library.calibration};
}

std::vector<std::size_t> considered_structures(const nasbench::StructureModel& model,
                                               const StructuredPosteriorOptions& options) {
  std::vector<std::size_t> considered = numbers_below(model.structures().size());
  for (const std::string& left_out : options.left_out) {
    const std::size_t index = model.structure_index(left_out);
    considered.erase(std::remove(considered.begin(), considered.end(), index), considered.end());
  }
  if (considered.empty()) throw InputError("posterior.left_out leaves no structure to consider");
  return considered;
}

AdaptationSet without_removed(const nasbench::SearchSpace& space, const AdaptationSet& set) {
  double fastest_ms = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < set.architectures.size(); ++i) {
    if (space.connected(set.architectures[i])) fastest_ms = std::min(fastest_ms, set.latency_ms[i]);
  }
  if (!std::isfinite(fastest_ms)) return set;
  std::vector<std::size_t> rest;
  for (std::size_t i = 0; i < set.architectures.size(); ++i) {
    if (set.latency_ms[i] >= floor_share * fastest_ms || space.connected(set.architectures[i])) rest.push_back(i);
  }
  return part_of(set, rest);
}

StructuredPosterior adapt_exactly(const StructuredLibrary& library, const CostPriors& priors, const AdaptationSet& set,
                                  const StructuredPosteriorOptions& options) {
  const StructureProblem problem = make_problem(library, set, options);
  const std::vector<HypothesisFit> candidates = fitted_candidates(problem, priors, options.kept);
  StructuredPosterior posterior =
      without_components(library, predicted_floor * problem.measured.floor_ms, problem.table.signatures);
  const std::vector<double> weights = weights_of(candidates, &HypothesisFit::log_evidence);
  for (std::size_t c = 0; c < candidates.size(); ++c) {
    const HypothesisFit& candidate = candidates[c];
    const CostGaussian& prior = priors.at(candidate.structure, candidate.entry);
    const FeatureRows& rows = *candidate.rows;
    const Eigen::MatrixXd covariance = prior_covariance_ms2(prior, candidate.scale_ms, candidate.closeness);
    const LatencySolution& solution = candidate.solution;
    const FeatureRows sloped = solution.slopes.asDiagonal() * rows;
    const Eigen::MatrixXd system = solution.log_covariance(sloped * covariance * sloped.transpose(), problem.measured);
    const Eigen::MatrixXd inverse = system.llt().solve(Eigen::MatrixXd::Identity(system.rows(), system.cols()));
    const Eigen::MatrixXd gain = covariance * rows.transpose() * solution.slopes.asDiagonal();
    const Eigen::VectorXd costs_ms = posterior_costs(prior, candidate);
    posterior.components.push_back({candidate.structure, candidate.entry, deviation_of(candidate.level, options),
                                    weights[c], costs_ms, path_costs(costs_ms, candidate.scale_ms),
                                    covariance - gain * inverse * gain.transpose()});
    posterior.residual_weights += weights[c] * solution.residual_weights;
    posterior.residual_variance += weights[c] * solution.residual_variance;
    posterior.residual_reduction += weights[c] * solution.residual_variance * solution.residual_variance * inverse;
  }
  return posterior;
}

StructuredPosterior adapt(const StructuredLibrary& library, const AdaptationSet& measured,
                          const StructuredPosteriorOptions& options, const DescribedDevice* described) {
  if (described != nullptr && measured.architectures.empty()) return as_described(library, options, *described);
  require_latencies(measured.architectures.size(), measured.latency_ms, "architecture");
  const AdaptationSet set = without_removed(library.model->space(), measured);
  const std::size_t entries = library.entries.size();
  const Eigen::MatrixXd spread = library_covariance(library);
  std::vector<std::size_t> considered =
      library.cluster_of.empty() ? numbers_below(entries) : nearest_entries(library, set, options, spread);
  const StructuredLibrary near = part_of(library, considered);
  const CostPriors priors(near, options, described, spread, entries);
  const auto adapt_to = set.architectures.size() > most_exact ? adapt_to_many : adapt_exactly;
  StructuredPosterior posterior = adapt_to(near, priors, set, options);
  if (posterior.components.empty()) {
    throw InputError("no combination of costs and structure explains these latencies: are they really milliseconds?");
  }
  considered.push_back(entries);  // the device's own descriptor
  for (Component& component : posterior.components) component.entry = considered[component.entry];
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

LogLatency predict(const StructuredPosterior& posterior, const nasbench::StructureTable& table) {
  // Sums over components, weight · (log latency, its square + variance), of architectures and of one structure's rows.
  Eigen::ArrayX2d sums = Eigen::ArrayX2d::Zero(table.size, 2), moments;
  double noise_variance = 0;
  for (std::size_t s = 0; s < table.structures.size(); ++s) {
    const nasbench::StructureTable::Column& column = table.structures[s];
    std::vector<bool> asked;  // empty while no component has the structure
    for (const Component& component : posterior.components) {
      if (component.structure != s) continue;
      if (asked.empty()) {
        moments.setZero(column.rows, 2);
        asked.resize(column.rows);
        for (const std::uint32_t row : column.row_of) asked[row] = true;
      }
      for (std::size_t r = 0; r < column.rows; ++r) {
        if (!asked[r]) continue;
        const double* rows = column.features->data() + r * column.alternatives * table.feature_count;
        const double* row = slowest_row(rows, column.alternatives, component.path_costs_ms);
        const Eigen::Map<const Eigen::VectorXd> features(row, component.costs_ms.size());
        const double latency = std::max(features.dot(component.costs_ms), posterior.floor_ms);
        const double log_latency = std::log(latency);
        const double variance = features.dot(component.covariance_ms2 * features) / (latency * latency);
        moments(r, 0) += component.weight * log_latency;
        moments(r, 1) += component.weight * (log_latency * log_latency + variance);
      }
      noise_variance += component.weight * component.noise * component.noise;
    }
    if (asked.empty()) continue;
    for (std::size_t a = 0; a < table.size; ++a) sums.row(a) += moments.row(column.row_of[a]);
  }

  const Eigen::ArrayX2d residuals = residuals_of(posterior, table);
  const Eigen::ArrayXd spread = (sums.col(1) - sums.col(0) * sums.col(0)).max(0);
  LogLatency result;
  result.mean = sums.col(0) + residuals.col(0);
  result.deviation = (spread + noise_variance + residuals.col(1).max(0)).sqrt();
  return result;
}

const Declaration<StructuredPosteriorOptions>& declared(const StructuredPosteriorOptions&) { return posterior_options; }

}  // namespace tenshot::trainer::structured
