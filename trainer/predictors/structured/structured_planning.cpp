#include "trainer/predictors/structured/structured_planning.h"

#include <Eigen/Cholesky>
#include <map>

#include "nasbench/support/numbers_below.h"
#include "nasbench/support/random.h"
#include "trainer/predictors/posterior/latency_solver.h"
#include "trainer/predictors/structured/hypotheses.h"
#include "trainer/predictors/structured/library_fit.h"

namespace tenshot::trainer::structured {
namespace {

using nasbench::StructureTable;
using sampling::LatencyCovariance;

/// Pools are larger than what planning needs to see: beyond this many entries, evenly spaced ones speak for all.
constexpr std::size_t entries_considered = 32;

constexpr double strange_spread = 0.5;  ///< standard deviation of a strange device's cost, as a share of it
constexpr std::uint64_t strange_seed = 17;

/// L with L · Lᵀ = `covariance`.
Eigen::MatrixXd covariance_root(const Eigen::MatrixXd& covariance) {
  const Eigen::LDLT<Eigen::MatrixXd> factor(covariance);  // semi-definite covariances have one too
  const Eigen::VectorXd scale = factor.vectorD().cwiseMax(0).cwiseSqrt();
  return factor.transpositionsP().transpose() * (Eigen::MatrixXd(factor.matrixL()) * scale.asDiagonal());
}

/// Costs and scale as uncertain as before any measurement, in units of the median latency.
Component unmeasured(const CostGaussian& prior, double weight, std::size_t structure = 0) {
  const Eigen::MatrixXd covariance = prior.covariance + prior.mean * prior.mean.transpose();
  return {structure, 0, 0, weight, prior.mean, path_costs(prior.mean), covariance};
}

/// The hypotheses before anything is measured, the same for every structure: entries of the library, and strange
/// devices like none of them: a base of .05 to .8 of the median latency, operations of .05 to 5 times; they sum to 1.
std::vector<Component> prior_components(const StructuredLibrary& library, const StructuredPosteriorOptions& options) {
  const Eigen::MatrixXd spread = library_covariance(library);
  std::vector<Component> components;
  const std::size_t entries = library.entries.size();
  const std::size_t considered = std::min(entries, entries_considered);
  const double strange_share = options.strange_devices == 0 ? 0 : options.strange_share;
  for (std::size_t i = 0; i < considered; ++i) {
    const std::size_t entry = considered == 1 ? entries - 1 : i * (entries - 1) / (considered - 1);
    components.push_back(
        unmeasured(cost_prior(library, entry, spread, options), (1 - strange_share) / static_cast<double>(considered)));
  }
  if (strange_share == 0) return components;
  const Eigen::VectorXd typical = typical_costs(*library.model);
  Rng rng(strange_seed);
  for (std::size_t h = 0; h < options.strange_devices; ++h) {
    CostGaussian prior{typical, {}};
    for (Eigen::Index f = 0; f < typical.size(); ++f) {
      const double drawn = rng.uniform();
      prior.mean[f] = f == 0 ? 0.05 + 0.75 * drawn : typical[f] * 0.05 * std::pow(100, drawn);
    }
    prior.covariance = (strange_spread * prior.mean).cwiseAbs2().asDiagonal();
    components.push_back(unmeasured(prior, strange_share / static_cast<double>(options.strange_devices)));
  }
  return components;
}

/// A block for the uncertainties of each structure's costs, and one for the spread of all log latencies.
LatencyCovariance covariance_of(const StructureTable& table, const std::vector<Component>& components, double floor,
                                bool scale_is_known) {
  LatencyCovariance covariance;
  covariance.size = table.size;
  std::map<std::size_t, std::vector<const Component*>> by_structure;
  for (const Component& component : components) by_structure[component.structure].push_back(&component);
  Eigen::MatrixXf latencies(table.size, components.size());  // in logarithms
  std::vector<double> weights;
  for (const auto& [structure, own] : by_structure) {
    const StructureTable::Column& column = table.structures[structure];
    sampling::CovarianceBlock& block = covariance.blocks.emplace_back();
    block.columns = own.size() * table.feature_count;
    block.factor.resize(column.rows * block.columns);
    block.row_of = column.row_of;
    std::vector<float> log_latency(column.rows);
    for (std::size_t c = 0; c < own.size(); ++c) {
      const Component& component = *own[c];
      const Eigen::MatrixXd root = covariance_root(component.covariance_ms2);
      for (std::size_t r = 0; r < column.rows; ++r) {
        const double* rows = column.features->data() + r * column.alternatives * table.feature_count;
        const double* row = slowest_row(rows, column.alternatives, component.path_costs_ms);
        const Eigen::Map<const Eigen::VectorXd> features(row, component.costs_ms.size());
        const double latency = std::max(features.dot(component.costs_ms), floor);
        const Eigen::VectorXd slope = root.transpose() * features * (std::sqrt(component.weight) / latency);
        std::copy(slope.begin(), slope.end(), block.factor.data() + r * block.columns + c * table.feature_count);
        log_latency[r] = static_cast<float>(std::log(latency));
      }
      const auto place = static_cast<Eigen::Index>(weights.size());
      for (Eigen::Index a = 0; a < latencies.rows(); ++a) latencies(a, place) = log_latency[column.row_of[a]];
      weights.push_back(component.weight);
    }
  }
  if (!scale_is_known) latencies.rowwise() -= latencies.colwise().mean().eval();
  // Each log latency minus their mean, times the root of its weight.
  const Eigen::VectorXf weight = Eigen::Map<const Eigen::VectorXd>(weights.data(), latencies.cols()).cast<float>();
  const Eigen::VectorXf mean = latencies * weight;
  latencies.colwise() -= mean;
  latencies *= weight.cwiseSqrt().asDiagonal();
  sampling::CovarianceBlock& between = covariance.blocks.emplace_back();
  between.columns = components.size();
  between.factor.resize(static_cast<std::size_t>(latencies.size()));
  Eigen::Map<Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
      between.factor.data(), latencies.rows(), latencies.cols()) = latencies;
  return covariance;
}

class LibraryPrior final : public PlanningPrior {
 public:
  LibraryPrior(const datasets::Pool& pool, StructuredLibrary library, std::optional<DescriptorPrior> descriptor_prior,
               StructuredPosteriorOptions options)
      : pool_(pool),
        library_(std::move(library)),
        descriptor_prior_(std::move(descriptor_prior)),
        options_(std::move(options)) {}

  PlanningView view(const std::vector<Architecture>& candidates, const AdaptationSet& measured) const override {
    const StructureTable table = library_.model->table(candidates);
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
  const std::vector<Component> undescribed = prior_components(library, options);
  const double described_share = described == nullptr ? 0 : options.described_share;
  std::vector<Component> components;
  const std::vector<std::size_t> structures = considered_structures(*library.model, options);
  for (const std::size_t s : structures) {
    for (const Component& component : undescribed) {
      components.push_back(component);
      components.back().structure = s;
      components.back().weight *= 1 - described_share;
    }
    if (described == nullptr) continue;
    components.push_back(unmeasured(described_prior(*described, s, options), described_share, s));
  }
  for (Component& component : components) component.weight /= static_cast<double>(structures.size());
  return covariance_of(table, components, smallest_relative, false);
}

LatencyCovariance posterior_covariance(const StructuredPosterior& posterior, const StructureTable& table) {
  std::vector<Component> components = posterior.components;
  double total = 0;
  for (Component& component : components) {
    component.weight = std::sqrt(component.weight);
    total += component.weight;
  }
  for (Component& component : components) component.weight /= total;
  return covariance_of(table, components, posterior.floor_ms, true);
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
  Rng rng(1);  // draws nothing where all candidates are considered
  const std::vector<std::size_t> plan =
      sampling::choose_informative(covariance, numbers_below(table.size), std::min(samples, table.size), rng, options);
  std::vector<double> deviation;
  for (const double variance : sampling::expected_variance(covariance, plan, options)) {
    deviation.push_back(std::sqrt(std::max(variance, 0.0)));
  }
  return deviation;
}

std::shared_ptr<const PlanningPrior> planning_prior(const datasets::Pool& pool, StructuredLibrary library,
                                                    std::optional<DescriptorPrior> descriptor_prior,
                                                    const StructuredPosteriorOptions& options) {
  return std::make_shared<LibraryPrior>(pool, std::move(library), std::move(descriptor_prior), options);
}

}  // namespace tenshot::trainer::structured
