#include <Eigen/Cholesky>
#include <limits>
#include <map>
#include <set>

#include "nasbench/support/median.h"
#include "nasbench/support/numbers_below.h"
#include "nasbench/support/random.h"
#include "trainer/core/adaptation.h"
#include "trainer/predictors/posterior/clusters.h"
#include "trainer/predictors/posterior/error_calibration.h"
#include "trainer/predictors/structured/hypotheses.h"

namespace tenshot::trainer::structured {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr int cluster_rounds = 8;
constexpr std::size_t entries_judged = 1024;  ///< of the clusters that explain the measurements best
constexpr std::size_t best_of_all = 20;       ///< entries that are kept under whatever structure,
constexpr std::size_t best_of_each = 2;       ///< and under each
constexpr std::size_t measurements_judged = 40;
constexpr double largest_residual = 0.7;  ///< of log latency: one wrong measurement does not decide
constexpr double scale_variance = 1;      ///< of log latency: the scale of a device is unknown

MatrixXd costs_of(const StructuredLibrary& library) {
  MatrixXd costs(static_cast<Index>(library.features()), static_cast<Index>(library.entries.size() - 1));
  for (Index e = 0; e < costs.cols(); ++e) costs.col(e) = cost_prior(library, static_cast<std::size_t>(e), {}, {}).mean;
  return costs;
}

/// log(measured / expected), less its median, of costs [features, entries] under a structure: [networks, entries].
MatrixXd residuals_of(const StructureProblem& problem, std::size_t structure, const MatrixXd& costs) {
  const nasbench::StructureTable& table = problem.table;
  const auto alternatives = static_cast<Index>(table.structures[structure].alternatives);
  MatrixXd residuals(static_cast<Index>(table.size), costs.cols());
  const MatrixXd paths = alternatives > 1 ? MatrixXd(costs.cwiseMax(path_costs(VectorXd::Zero(1))[0])) : MatrixXd();
  for (Index i = 0; i < residuals.rows(); ++i) {
    const Eigen::Map<const FeatureRows> rows(table.row(structure, static_cast<std::size_t>(i)), alternatives,
                                             costs.rows());
    residuals.row(i) =
        alternatives > 1 ? Eigen::RowVectorXd((rows * paths).colwise().maxCoeff()) : Eigen::RowVectorXd(rows * costs);
  }
  residuals = (-residuals.cwiseMax(smallest_relative).array().log()).matrix().colwise() + problem.measured.log_latency;
  for (Index e = 0; e < residuals.cols(); ++e) {
    auto of_entry = residuals.col(e);
    of_entry.array() -= upper_median({of_entry.begin(), of_entry.end()});
  }
  return residuals.cwiseMin(largest_residual).cwiseMax(-largest_residual);
}

/// Covariance of log latency at the measured architectures: costs (`of_costs`), scale, residuals, noise and clock.
MatrixXd covariance_of(const StructureProblem& problem, std::size_t structure, const MatrixXd& of_costs,
                       double closeness) {
  const double noise = upper_median(problem.options.noises);
  const FeatureRows rows = rows_at(problem.table, structure, path_costs(VectorXd::Ones(of_costs.rows())));
  const Eigen::ArrayXd latency = problem.measured.log_latency.array().exp();
  const double median_ms = upper_median({latency.begin(), latency.end()});
  const FeatureRows sloped = (median_ms * latency.inverse()).matrix().asDiagonal() * rows;
  MatrixXd covariance = closeness * closeness * sloped * of_costs * sloped.transpose();
  covariance += std::pow(problem.options.residual_share * noise, 2) * problem.measured.kernel;
  covariance.array() += scale_variance;
  covariance.diagonal().array() += noise * noise + problem.measured.clock_variance_ms2 * latency.square().inverse();
  return covariance;
}

/// Log evidence, up to a constant, of costs [features, entries] under each structure that is considered, [structures,
/// entries]: of the closest to them that is tried. Whitening is by L⁻¹ of the residuals' shared covariance L Lᵀ.
MatrixXd evidence_table(const StructureProblem& problem, const MatrixXd& of_costs, const MatrixXd& costs,
                        const std::vector<double>& closeness_tried) {
  const std::vector<std::size_t> structures = considered_structures(*problem.library.model, problem.options);
  MatrixXd table =
      MatrixXd::Constant(static_cast<Index>(structures.size()), costs.cols(), -std::numeric_limits<double>::infinity());
  for (Index row = 0; row < table.rows(); ++row) {
    const std::size_t s = structures[static_cast<std::size_t>(row)];
    const MatrixXd residuals = residuals_of(problem, s, costs);
    for (const double closeness : closeness_tried) {
      const Eigen::LLT<MatrixXd> factor(covariance_of(problem, s, of_costs, closeness));
      const double half_log_determinant = factor.matrixLLT().diagonal().array().log().sum();
      const MatrixXd white = factor.matrixL().solve(residuals);
      table.row(row) =
          table.row(row).cwiseMax((-0.5 * white.colwise().squaredNorm().array() - half_log_determinant).matrix());
    }
  }
  return table;
}

/// Columns by what is greatest in them, the greatest first.
std::vector<std::size_t> in_order(const Eigen::RowVectorXd& greatest) {
  std::vector<std::size_t> order = numbers_below(static_cast<std::size_t>(greatest.size()));
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return greatest[static_cast<Index>(a)] > greatest[static_cast<Index>(b)];
  });
  return order;
}

/// Entries of the clusters that explain the measurements best.
std::vector<std::size_t> entries_to_judge(const StructureProblem& problem, const MatrixXd& of_costs,
                                          const MatrixXd& costs) {
  const std::vector<std::uint32_t>& cluster_of = problem.library.cluster_of;
  const std::size_t count = 1 + *std::max_element(cluster_of.begin(), cluster_of.end());
  const MatrixXd means = means_of(costs, cluster_of, static_cast<Index>(count));
  std::vector<std::vector<std::size_t>> members(count);
  for (std::size_t e = 0; e < cluster_of.size(); ++e) members[cluster_of[e]].push_back(e);
  std::vector<std::size_t> entries;
  const std::vector<double>& closeness = problem.options.closeness;
  const double widest = *std::max_element(closeness.begin(), closeness.end());
  for (const std::size_t cluster : in_order(evidence_table(problem, of_costs, means, {widest}).colwise().maxCoeff())) {
    if (entries.size() >= entries_judged) break;
    entries.insert(entries.end(), members[cluster].begin(), members[cluster].end());
  }
  std::sort(entries.begin(), entries.end());
  return entries;
}

}  // namespace

std::vector<std::uint32_t> cluster_entries(const StructuredLibrary& library) {
  if (library.entries.size() <= exhaustive_entries) return {};
  const MatrixXd costs = costs_of(library);
  const auto count = static_cast<Index>(std::ceil(std::sqrt(static_cast<double>(costs.cols()))));
  std::vector<Index> order = numbers_below<Index>(static_cast<std::size_t>(costs.cols()));
  Rng(1).shuffle(order);
  MatrixXd centres(costs.rows(), count);
  for (Index c = 0; c < count; ++c) centres.col(c) = costs.col(order[static_cast<std::size_t>(c)]);
  std::vector<std::uint32_t> cluster_of = nearest_centres(costs, centres);
  for (int round = 0; round < cluster_rounds; ++round) {
    cluster_of = nearest_centres(costs, means_of(costs, cluster_of, count));
  }
  std::map<std::uint32_t, std::uint32_t> number;  // in the order in which clusters first come
  for (std::uint32_t& cluster : cluster_of) {
    cluster = number.try_emplace(cluster, static_cast<std::uint32_t>(number.size())).first->second;
  }
  return cluster_of;
}

std::vector<std::size_t> nearest_entries(const StructuredLibrary& library, const AdaptationSet& set,
                                         const StructuredPosteriorOptions& options, const MatrixXd& spread) {
  const std::vector<std::size_t> judged_by = evenly_spaced(set.architectures.size(), measurements_judged);
  const StructureProblem problem = make_problem(library, part_of(set, judged_by), options);
  const MatrixXd of_costs = cost_prior(library, library.entries.size() - 1, spread, options).covariance;
  const MatrixXd costs = costs_of(library);
  const std::vector<std::size_t> judged = entries_to_judge(problem, of_costs, costs);
  const MatrixXd table = evidence_table(problem, of_costs, costs(Eigen::all, judged), options.closeness);
  std::set<std::size_t> kept;
  const auto keep = [&](const std::vector<std::size_t>& order, std::size_t most) {
    for (std::size_t i = 0; i < std::min(most, order.size()); ++i) kept.insert(judged[order[i]]);
  };
  keep(in_order(table.colwise().maxCoeff()), best_of_all);
  for (Index s = 0; s < table.rows(); ++s) keep(in_order(table.row(s)), best_of_each);
  std::vector<std::size_t> nearest(kept.begin(), kept.end());
  nearest.push_back(library.entries.size() - 1);
  return nearest;
}

}  // namespace tenshot::trainer::structured
