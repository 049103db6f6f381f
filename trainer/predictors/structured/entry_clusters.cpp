#include "trainer/predictors/structured/entry_clusters.h"

#include <Eigen/Cholesky>
#include <limits>

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

/// Costs of every entry but the generic one, [features, entries].
MatrixXd costs_of(const StructuredLibrary& library) {
  MatrixXd costs(static_cast<Index>(library.features()), static_cast<Index>(library.entries.size() - 1));
  for (Index e = 0; e < costs.cols(); ++e) costs.col(e) = cost_prior(library, static_cast<std::size_t>(e), {}, {}).mean;
  return costs;
}

/// The same clusters, numbered in the order in which they first come.
std::vector<std::uint32_t> renumbered(std::vector<std::uint32_t> cluster_of, std::size_t count) {
  constexpr auto none = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> number(count, none);
  std::uint32_t next = 0;
  for (std::uint32_t& cluster : cluster_of) {
    if (number[cluster] == none) number[cluster] = next++;
    cluster = number[cluster];
  }
  return cluster_of;
}

/// What all entries share when they are judged: the measurements, and under each structure and closeness the whitening
/// L⁻¹ of the residuals' covariance L Lᵀ with its log determinant.
class Judge {
 public:
  Judge(const StructuredLibrary& library, const AdaptationSet& set, const StructuredPosteriorOptions& options,
        const MatrixXd& spread)
      : options_(options), problem_(make_problem(library, set, options)) {
    noise_ = upper_median(options.noises);
    covariance_ = cost_prior(library, library.entries.size() - 1, spread, options).covariance;
  }

  /// Log evidence, up to a constant, of each column of `costs` under one structure: of the closest that is tried to it,
  /// or only of the widest.
  VectorXd log_evidence(std::size_t structure, const MatrixXd& costs, bool only_widest) const {
    const MatrixXd residuals = residuals_of(structure, costs);
    VectorXd best = VectorXd::Constant(costs.cols(), -std::numeric_limits<double>::infinity());
    const double widest = *std::max_element(options_.closeness.begin(), options_.closeness.end());
    for (const double closeness : options_.closeness) {
      if (only_widest && closeness != widest) continue;
      const Eigen::LLT<MatrixXd> factor(covariance_of(structure, closeness));
      const double half_log_determinant = factor.matrixLLT().diagonal().array().log().sum();
      const MatrixXd white = factor.matrixL().solve(residuals);
      best = best.cwiseMax((-0.5 * white.colwise().squaredNorm().array() - half_log_determinant).matrix().transpose());
    }
    return best;
  }

 private:
  /// log(measured / expected), less its median, [measurements, entries].
  MatrixXd residuals_of(std::size_t structure, const MatrixXd& costs) const {
    const nasbench::StructureTable& table = problem_.table;
    const auto alternatives = static_cast<Index>(table.structures[structure].alternatives);
    MatrixXd residuals(static_cast<Index>(table.size), costs.cols());
    const MatrixXd paths = alternatives > 1 ? MatrixXd(costs.cwiseMax(path_costs(VectorXd::Zero(1))[0])) : MatrixXd();
    for (Index i = 0; i < residuals.rows(); ++i) {
      const Eigen::Map<const FeatureRows> rows(table.row(structure, static_cast<std::size_t>(i)), alternatives,
                                               costs.rows());
      residuals.row(i) =
          alternatives > 1 ? Eigen::RowVectorXd((rows * paths).colwise().maxCoeff()) : Eigen::RowVectorXd(rows * costs);
    }
    residuals =
        (-residuals.cwiseMax(smallest_relative).array().log()).matrix().colwise() + problem_.measured.log_latency;
    for (Index e = 0; e < residuals.cols(); ++e) {
      auto of_entry = residuals.col(e);
      of_entry.array() -= upper_median({of_entry.begin(), of_entry.end()});
    }
    return residuals.cwiseMin(largest_residual).cwiseMax(-largest_residual);
  }

  /// Covariance of log latency at the measured architectures: costs, scale, residual process, noise, clock.
  MatrixXd covariance_of(std::size_t structure, double closeness) const {
    const FeatureRows rows = rows_at(problem_.table, structure, path_costs(VectorXd::Ones(covariance_.rows())));
    const Eigen::ArrayXd latency = problem_.measured.log_latency.array().exp();
    const double median_ms = upper_median({latency.begin(), latency.end()});
    const FeatureRows sloped = (median_ms * latency.inverse()).matrix().asDiagonal() * rows;
    MatrixXd covariance = closeness * closeness * sloped * covariance_ * sloped.transpose();
    covariance += std::pow(options_.residual_share * noise_, 2) * problem_.measured.kernel;
    covariance.array() += scale_variance;
    covariance.diagonal().array() +=
        noise_ * noise_ + problem_.measured.clock_variance_ms2 * latency.square().inverse();
    return covariance;
  }

  const StructuredPosteriorOptions& options_;
  StructureProblem problem_;
  double noise_ = 0;
  MatrixXd covariance_;  ///< of the costs, in units of the median latency
};

/// One row for each structure that is considered.
MatrixXd evidence_table(const Judge& judge, const StructuredLibrary& library, const StructuredPosteriorOptions& options,
                        const MatrixXd& costs, bool only_widest) {
  const auto& structures = library.model->structures();
  MatrixXd table(static_cast<Index>(structures.size()), costs.cols());
  Index rows = 0;
  for (std::size_t s = 0; s < structures.size(); ++s) {
    if (considers(options, structures[s])) table.row(rows++) = judge.log_evidence(s, costs, only_widest).transpose();
  }
  return table.topRows(rows);
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
std::vector<std::size_t> entries_to_judge(const StructuredLibrary& library, const Judge& judge,
                                          const StructuredPosteriorOptions& options, const MatrixXd& costs) {
  const std::size_t count = 1 + *std::max_element(library.cluster_of.begin(), library.cluster_of.end());
  const MatrixXd means = means_of(costs, library.cluster_of, static_cast<Index>(count));
  std::vector<std::vector<std::size_t>> members(count);
  for (std::size_t e = 0; e < library.cluster_of.size(); ++e) members[library.cluster_of[e]].push_back(e);
  std::vector<std::size_t> entries;
  for (const std::size_t cluster :
       in_order(evidence_table(judge, library, options, means, true).colwise().maxCoeff())) {
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
  return renumbered(std::move(cluster_of), static_cast<std::size_t>(count));
}

NearestEntries nearest_entries(const StructuredLibrary& library, const AdaptationSet& set,
                               const StructuredPosteriorOptions& options, const MatrixXd& spread) {
  const std::vector<std::size_t> judged_by = evenly_spaced(set.architectures.size(), measurements_judged);
  const Judge judge(library, part_of(set, judged_by), options, spread);
  const MatrixXd costs = costs_of(library);
  const std::vector<std::size_t> judged = entries_to_judge(library, judge, options, costs);
  const MatrixXd judged_costs = costs(Eigen::all, judged);
  const MatrixXd table = evidence_table(judge, library, options, judged_costs, false);
  std::vector<bool> kept(judged.size(), false);
  const auto keep = [&](const std::vector<std::size_t>& order, std::size_t most) {
    for (std::size_t i = 0; i < std::min(most, order.size()); ++i) kept[order[i]] = true;
  };
  keep(in_order(table.colwise().maxCoeff()), best_of_all);
  for (Index s = 0; s < table.rows(); ++s) keep(in_order(table.row(s)), best_of_each);

  NearestEntries nearest;
  nearest.library.model = library.model;
  nearest.library.calibration = library.calibration;
  for (std::size_t i = 0; i < judged.size(); ++i) {
    if (kept[i]) nearest.entry_of.push_back(judged[i]);
  }
  nearest.entry_of.push_back(library.entries.size() - 1);
  for (const std::size_t entry : nearest.entry_of) nearest.library.entries.push_back(library.entries[entry]);
  return nearest;
}

}  // namespace tenshot::trainer::structured
