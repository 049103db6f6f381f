#include "trainer/predictors/operators/cost_planning.h"

#include <algorithm>
#include <cmath>

namespace tenshot::trainer::operators {
namespace {

using Eigen::Index;
using sampling::CovarianceBlock;
using sampling::LatencyCovariance;

constexpr double smallest_relative = 0.02;
/// Columns that a covariance has at most, about: entries of a large pool are thinned to evenly spaced ones.
constexpr Index column_budget = 2048;
constexpr Index least_entries = 4;
constexpr Index most_entries = 32;

CovarianceBlock block_of(const Eigen::MatrixXf& factor) {
  CovarianceBlock block;
  block.columns = static_cast<std::size_t>(factor.cols());
  block.factor.resize(static_cast<std::size_t>(factor.size()));
  Eigen::Map<Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(block.factor.data(), factor.rows(),
                                                                                    factor.cols()) = factor;
  return block;
}

/// The spread of hypotheses' log latencies, [networks, hypotheses]: each minus their mean, times the root of its
/// weight.
CovarianceBlock between(Eigen::MatrixXd log_latency, const Eigen::VectorXd& weights) {
  log_latency.colwise() -= (log_latency * weights).eval();
  return block_of((log_latency * weights.cwiseSqrt().asDiagonal()).cast<float>());
}

}  // namespace

LatencyCovariance prior_covariance(const CostLibrary& library, const Eigen::MatrixXd& features,
                                   const PosteriorOptions& options) {
  const std::vector<CostPrior> priors = cost_priors(library, options);
  const auto entries = static_cast<Index>(priors.size());
  const Index columns = entries + features.cols() + 1;
  const Index considered =
      std::min({entries, most_entries, std::max(least_entries, column_budget / std::max<Index>(columns, 1))});
  const Eigen::MatrixXd of_entries = features * library.costs.transpose();
  const Eigen::MatrixXd weights = nearness(library);
  Eigen::MatrixXd offsets = Eigen::MatrixXd::Zero(features.rows(), entries);
  if (library.places.compared()) {
    offsets = similarity(library.places.of(features), library.known) * library.known_weights;
  }
  const double share = 1 / static_cast<double>(considered);
  LatencyCovariance covariance;
  covariance.size = static_cast<std::size_t>(features.rows());
  Eigen::MatrixXd log_latency(features.rows(), considered);
  for (Index i = 0; i < considered; ++i) {
    const Index e = considered == 1 ? entries - 1 : i * (entries - 1) / (considered - 1);
    const Eigen::VectorXd latency = of_entries.col(e).cwiseMax(smallest_relative);
    const Eigen::VectorXd slope = std::sqrt(share) * latency.cwiseInverse();
    const Eigen::VectorXd typical = of_entries * weights.row(e).transpose();
    Eigen::MatrixXf factor(features.rows(), columns);
    factor.leftCols(entries) = (options.library_share * slope.asDiagonal() * (of_entries.colwise() - typical) *
                                weights.row(e).cwiseSqrt().asDiagonal())
                                   .cast<float>();
    const Eigen::VectorXd deviation = priors[static_cast<std::size_t>(e)].variance.cwiseSqrt();
    factor.middleCols(entries, features.cols()) =
        (slope.asDiagonal() * features * deviation.asDiagonal()).cast<float>();
    factor.col(columns - 1) = slope.cwiseProduct(latency).cast<float>();
    covariance.blocks.push_back(block_of(factor));
    log_latency.col(i) = latency.array().log() + offsets.col(e).array();
  }
  log_latency.rowwise() -= log_latency.colwise().mean().eval();
  covariance.blocks.push_back(between(log_latency, Eigen::VectorXd::Constant(considered, share)));
  return covariance;
}

LatencyCovariance posterior_covariance(const CostPosterior& posterior, const Eigen::MatrixXd& features) {
  const auto components = static_cast<Index>(posterior.components.size());
  Eigen::MatrixXd log_latency(features.rows(), components);
  Eigen::VectorXd weights(components);
  for (Index c = 0; c < components; ++c) {
    const CostComponent& component = posterior.components[static_cast<std::size_t>(c)];
    log_latency.col(c) = (features * component.costs_ms).array().max(posterior.floor_ms).log();
    weights[c] = std::sqrt(component.weight);
  }
  weights /= weights.sum();
  const Eigen::VectorXd slope = (-(log_latency * weights)).array().exp();
  LatencyCovariance covariance;
  covariance.size = static_cast<std::size_t>(features.rows());
  covariance.blocks.push_back(block_of((slope.asDiagonal() * (features * posterior.spread_ms)).cast<float>()));
  if (posterior.rest_ms2.maxCoeff() > 0) {
    const Eigen::VectorXd deviation = posterior.rest_ms2.cwiseSqrt();
    covariance.blocks.push_back(block_of((slope.asDiagonal() * features * deviation.asDiagonal()).cast<float>()));
  }
  covariance.blocks.push_back(between(std::move(log_latency), weights));
  return covariance;
}

}  // namespace tenshot::trainer::operators
