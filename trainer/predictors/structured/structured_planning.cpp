#include "trainer/predictors/structured/structured_planning.h"

#include <Eigen/Cholesky>
#include <mutex>

#include "nasbench/support/numbers_below.h"
#include "nasbench/support/random.h"
#include "trainer/predictors/posterior/latency_solver.h"
#include "trainer/predictors/structured/hypotheses.h"
#include "trainer/predictors/structured/library_fit.h"

namespace tenshot::trainer::structured {
namespace {

using nasbench::StructureTable;
using sampling::CovarianceBlock;
using sampling::LatencyCovariance;

/// Pools are larger than what planning needs to see of them: beyond this many entries, evenly spaced ones speak for
/// all.
constexpr std::size_t entries_considered = 32;

constexpr double strange_spread = 0.5;  ///< standard deviation of a strange device's cost, as a share of it
constexpr std::uint64_t strange_seed = 17;

/// One hypothesis about the costs: a Gaussian, how probable, and below what no latency is.
struct Hypothesis {
  double weight = 0;
  Eigen::VectorXd costs;
  Eigen::VectorXd path_costs;
  Eigen::MatrixXd root;  ///< root · rootᵀ is the covariance of the costs
  double floor = 0;
};

Eigen::MatrixXd covariance_root(const Eigen::MatrixXd& covariance) {
  const Eigen::LDLT<Eigen::MatrixXd> factor(covariance);  // semi-definite covariances have one too
  const Eigen::VectorXd scale = factor.vectorD().cwiseMax(0).cwiseSqrt();
  return factor.transpositionsP().transpose() * (Eigen::MatrixXd(factor.matrixL()) * scale.asDiagonal());
}

/// Costs and scale as uncertain as before any measurement.
Hypothesis hypothesis_of(const CostGaussian& prior) {
  return {0, prior.mean, path_costs(prior.mean),
          covariance_root(prior.covariance + prior.mean * prior.mean.transpose()), smallest_relative};
}

/// Devices like none of the library: a base of .05 to .8 of the median latency, and operations of a twentieth to five
/// times what they typically cost.
std::vector<Hypothesis> strange_hypotheses(const nasbench::StructureModel& model, std::size_t count) {
  const auto& features = model.features();
  const auto width = static_cast<Eigen::Index>(features.size());
  std::vector<Hypothesis> hypotheses;
  Rng rng(strange_seed);
  for (std::size_t h = 0; h < count; ++h) {
    CostGaussian prior;
    prior.mean.resize(width);
    for (Eigen::Index f = 0; f < width; ++f) {
      const double drawn = rng.uniform();
      prior.mean[f] = f == 0 ? 0.05 + 0.75 * drawn : features[f].typical_cost * 0.05 * std::pow(100, drawn);
    }
    prior.covariance = (strange_spread * prior.mean).cwiseAbs2().asDiagonal();
    hypotheses.push_back(hypothesis_of(prior));
  }
  return hypotheses;
}

/// The hypotheses before anything is measured, the same for every structure: entries of the library, and strange
/// devices. Weights sum to 1.
std::vector<Hypothesis> prior_hypotheses(const StructuredLibrary& library, const StructuredPosteriorOptions& options) {
  const Eigen::MatrixXd spread = library_covariance(library);
  std::vector<Hypothesis> hypotheses;
  const std::size_t entries = library.entries.size();
  const std::size_t considered = std::min(entries, entries_considered);
  const double strange_share = options.strange_devices == 0 ? 0 : options.strange_share;
  for (std::size_t i = 0; i < considered; ++i) {
    const std::size_t entry = considered == 1 ? entries - 1 : i * (entries - 1) / (considered - 1);
    hypotheses.push_back(hypothesis_of(cost_prior(library, entry, spread, options)));
    hypotheses.back().weight = (1 - strange_share) / static_cast<double>(considered);
  }
  if (strange_share == 0) return hypotheses;
  for (Hypothesis& strange : strange_hypotheses(*library.model, options.strange_devices)) {
    strange.weight = strange_share / static_cast<double>(options.strange_devices);
    hypotheses.push_back(std::move(strange));
  }
  return hypotheses;
}

/// Adds the hypotheses of one structure: a block of their cost uncertainties, and log latencies to `latencies`, one
/// column a hypothesis [size, hypotheses of all structures].
void add_structure(const StructureTable::Column& column, const std::vector<Hypothesis>& hypotheses,
                   Eigen::Index first_column, LatencyCovariance& covariance, Eigen::MatrixXf& latencies) {
  if (hypotheses.empty()) return;
  const Eigen::Index width = hypotheses.front().costs.size();
  CovarianceBlock block;
  block.columns = hypotheses.size() * static_cast<std::size_t>(width);
  block.factor.resize(column.rows * block.columns);
  block.row_of = column.row_of;
  std::vector<float> log_latency(column.rows);
  for (std::size_t h = 0; h < hypotheses.size(); ++h) {
    const Hypothesis& hypothesis = hypotheses[h];
    for (std::size_t r = 0; r < column.rows; ++r) {
      const double* rows = column.features->data() + r * column.alternatives * static_cast<std::size_t>(width);
      const double* row = slowest_row(rows, column.alternatives, hypothesis.path_costs);
      const Eigen::Map<const Eigen::VectorXd> features(row, width);
      const double latency = std::max(features.dot(hypothesis.costs), hypothesis.floor);
      const Eigen::VectorXd slope = hypothesis.root.transpose() * features * (std::sqrt(hypothesis.weight) / latency);
      std::copy(slope.data(), slope.data() + width, block.factor.data() + r * block.columns + h * width);
      log_latency[r] = static_cast<float>(std::log(latency));
    }
    for (Eigen::Index a = 0; a < latencies.rows(); ++a) {
      latencies(a, first_column + static_cast<Eigen::Index>(h)) = log_latency[column.row_of[a]];
    }
  }
  covariance.blocks.push_back(std::move(block));
}

/// The spread of the hypotheses' log latencies as a block: each minus their mean, times the root of its weight.
CovarianceBlock between_hypotheses(Eigen::MatrixXf latencies, const std::vector<double>& weights) {
  const Eigen::VectorXf weight = Eigen::Map<const Eigen::VectorXd>(weights.data(), latencies.cols()).cast<float>();
  const Eigen::VectorXf mean = latencies * weight;
  latencies.colwise() -= mean;
  latencies *= weight.cwiseSqrt().asDiagonal();
  CovarianceBlock block;
  block.columns = static_cast<std::size_t>(latencies.cols());
  block.factor.resize(static_cast<std::size_t>(latencies.size()));
  Eigen::Map<Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
      block.factor.data(), latencies.rows(), latencies.cols()) = latencies;
  return block;
}

LatencyCovariance covariance_of(const StructureTable& table, const std::vector<std::vector<Hypothesis>>& hypotheses,
                                bool scale_is_known) {
  LatencyCovariance covariance;
  covariance.size = table.size;
  std::vector<double> weights;
  for (const auto& of_structure : hypotheses) {
    for (const Hypothesis& hypothesis : of_structure) weights.push_back(hypothesis.weight);
  }
  Eigen::MatrixXf latencies(table.size, weights.size());
  Eigen::Index first_column = 0;
  for (std::size_t s = 0; s < hypotheses.size(); ++s) {
    add_structure(table.structures[s], hypotheses[s], first_column, covariance, latencies);
    first_column += static_cast<Eigen::Index>(hypotheses[s].size());
  }
  if (!scale_is_known) latencies.rowwise() -= latencies.colwise().mean().eval();
  covariance.blocks.push_back(between_hypotheses(std::move(latencies), weights));
  return covariance;
}

}  // namespace

StructureTable compacted(const StructureTable& table) {
  StructureTable compact = table;
  for (StructureTable::Column& column : compact.structures) {
    const std::size_t width = column.alternatives * table.feature_count;
    std::vector<std::uint32_t> place(column.rows, 0);  // in the compact table, from 1; 0: not asked for
    auto features = std::make_shared<std::vector<double>>();
    std::uint32_t rows = 0;
    for (std::uint32_t& row : column.row_of) {
      if (place[row] == 0) {
        place[row] = ++rows;
        const double* from = column.features->data() + row * width;
        features->insert(features->end(), from, from + width);
      }
      row = place[row] - 1;
    }
    column.rows = rows;
    column.features = std::move(features);
  }
  return compact;
}

LatencyCovariance prior_covariance(const StructuredLibrary& library, const StructureTable& table,
                                   const StructuredPosteriorOptions& options, const DescribedDevice* described) {
  const std::vector<Hypothesis> undescribed = prior_hypotheses(library, options);
  std::vector<std::vector<Hypothesis>> hypotheses(library.model->structures().size());
  double structures = 0;
  for (std::size_t s = 0; s < hypotheses.size(); ++s) {
    if (!considers(options, library.model->structures()[s])) continue;
    structures += 1;
    hypotheses[s] = undescribed;
    if (described == nullptr) continue;
    for (Hypothesis& hypothesis : hypotheses[s]) hypothesis.weight *= 1 - options.described_share;
    hypotheses[s].push_back(hypothesis_of(described_prior(*described, s, options)));
    hypotheses[s].back().weight = options.described_share;
  }
  for (auto& of_structure : hypotheses) {
    for (Hypothesis& hypothesis : of_structure) hypothesis.weight /= structures;
  }
  return covariance_of(table, hypotheses, false);
}

LatencyCovariance posterior_covariance(const StructuredPosterior& posterior, const StructureTable& table) {
  double total = 0;
  for (const Component& component : posterior.components) total += std::sqrt(component.weight);
  std::vector<std::vector<Hypothesis>> hypotheses(table.structures.size());
  for (const Component& component : posterior.components) {
    hypotheses[component.structure].push_back({std::sqrt(component.weight) / total, component.costs_ms,
                                               component.path_costs_ms, covariance_root(component.covariance_ms2),
                                               posterior.floor_ms});
  }
  return covariance_of(table, hypotheses, true);
}

double noise_of(const StructuredPosterior& posterior) {
  double variance = 0;
  for (const Component& component : posterior.components) variance += component.weight * std::pow(component.noise, 2);
  return std::sqrt(variance);
}

std::vector<double> expected_deviation(const StructuredPosterior& posterior, const StructureTable& table,
                                       std::size_t samples) {
  const LatencyCovariance covariance = posterior_covariance(posterior, table);
  sampling::InformationOptions options;
  options.noise = noise_of(posterior);
  options.random_half = false;
  std::vector<std::size_t> candidates = numbers_below(table.size);
  Rng rng(1);  // draws nothing where all candidates are considered
  const std::vector<std::size_t> plan =
      sampling::choose_informative(covariance, candidates, std::min(samples, table.size), rng, options);
  std::vector<double> deviation;
  for (const double variance : sampling::expected_variance(covariance, plan, options)) {
    deviation.push_back(std::sqrt(std::max(variance, 0.0)));
  }
  return deviation;
}

namespace {

class LibraryPrior final : public PlanningPrior {
 public:
  LibraryPrior(const datasets::Pool& pool, StructuredLibrary library, std::optional<DescriptorPrior> descriptor_prior,
               StructuredPosteriorOptions options)
      : pool_(pool),
        library_(std::move(library)),
        descriptor_prior_(std::move(descriptor_prior)),
        options_(std::move(options)) {}

  PlanningView view(const std::vector<Architecture>& candidates, const AdaptationSet& measured) const override {
    const nasbench::StructureTable table = library_.model->table(candidates);
    std::optional<DescribedDevice> known;
    if (measured.descriptor) known = describe(descriptor_prior(), *library_.model, *measured.descriptor);
    const DescribedDevice* described = known ? &*known : nullptr;
    if (measured.architectures.empty()) {
      return {prior_covariance(library_, table, options_, described), {options_.planning_noise}};
    }
    const StructuredPosterior posterior = adapt(library_, measured, options_, described);
    return {posterior_covariance(posterior, table), {noise_of(posterior)}};
  }

  std::vector<std::vector<double>> predict_pool(const std::vector<Architecture>& architectures) const override {
    return latencies_of_pool(library_, pool_, architectures);
  }

 private:
  const DescriptorPrior& descriptor_prior() const {
    std::call_once(described_, [this] {
      if (!descriptor_prior_) descriptor_prior_ = descriptor_prior_of(library_, pool_);
    });
    return *descriptor_prior_;
  }

  const datasets::Pool& pool_;
  StructuredLibrary library_;
  mutable std::once_flag described_;
  mutable std::optional<DescriptorPrior> descriptor_prior_;  ///< nothing: not fitted yet
  StructuredPosteriorOptions options_;
};

}  // namespace

std::shared_ptr<const PlanningPrior> planning_prior(const datasets::Pool& pool, const StructuredLibrary& library,
                                                    const DescriptorPrior& descriptor_prior,
                                                    const StructuredPosteriorOptions& options) {
  return std::make_shared<LibraryPrior>(pool, library, descriptor_prior, options);
}

std::shared_ptr<const PlanningPrior> planning_prior(const datasets::Pool& pool) {
  return std::make_shared<LibraryPrior>(pool, library_of(pool), std::nullopt, StructuredPosteriorOptions{});
}

}  // namespace tenshot::trainer::structured
