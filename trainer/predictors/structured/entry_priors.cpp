#include "trainer/predictors/structured/entry_priors.h"

#include <algorithm>
#include <cmath>

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

}  // namespace tenshot::trainer::structured
