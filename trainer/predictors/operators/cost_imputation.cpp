#include "trainer/predictors/operators/cost_imputation.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "trainer/predictors/operators/operator_groups.h"

namespace tenshot::trainer::operators {
namespace {

using Eigen::Index;

constexpr double least_evidence = 1e-6;  ///< of a device that knows a feature from operators of one size

/// The columns of each group, in order: the first of them counts its operators.
std::map<std::size_t, std::vector<Index>> columns_of_groups(const PoolNumbers& pool) {
  std::map<std::size_t, std::vector<Index>> columns;
  for (Index f = 0; f < pool.features.cols(); ++f) columns[pool.groups.empty() ? f : pool.groups[f]].push_back(f);
  return columns;
}

/// The log of the mean size of a network's operators of a group, relative to the pool's; NaN where it has none.
Eigen::ArrayXd log_sizes(const PoolNumbers& pool, const std::vector<Index>& columns) {
  const Eigen::ArrayXd count = pool.features.col(columns.front()).array();
  const Eigen::ArrayXd size = pool.features(Eigen::all, columns).rowwise().sum().array() / count;
  return (count > 0).select(size.log(), std::nan(""));
}

/// Σ (x − mean)² over the values that are numbers.
double squared_differences(const Eigen::ArrayXd& values) {
  const auto is_number = values.isFinite();
  const auto count = static_cast<double>(is_number.count());
  if (count == 0) return 0;
  const double mean = is_number.select(values, 0).sum() / count;
  return is_number.select((values - mean).square(), 0).sum();
}

}  // namespace

CostEvidence cost_evidence(const PoolNumbers& pool, const ImputationOptions& options) {
  const Eigen::Array<bool, Eigen::Dynamic, Eigen::Dynamic> measured = pool.latency_ms.array().isFinite();
  const Eigen::MatrixXd has = (pool.features.array() != 0).cast<double>();
  CostEvidence evidence;
  evidence.seen = ((measured.cast<double>().matrix() * has).array() > 0).cast<double>();
  evidence.weight = Eigen::MatrixXd::Constant(evidence.seen.rows(), evidence.seen.cols(), least_evidence);
  evidence.runtime = pool.labels.kind;
  for (const auto& [group, columns] : columns_of_groups(pool)) {
    const Eigen::ArrayXd sizes = log_sizes(pool, columns);
    for (Index d = 0; d < measured.rows(); ++d) {
      const double squares = squared_differences(measured.row(d).transpose().select(sizes, std::nan("")));
      for (const Index f : columns) evidence.weight(d, f) += std::pow(squares, options.evidence_power);
    }
  }
  return evidence;
}

Eigen::RowVectorXd with_unseen(const CostEvidence& evidence, const ImputationOptions& options,
                               const Eigen::MatrixXd& fitted, Index device) {
  const auto runtime_of = [&](Index d) { return evidence.runtime.empty() ? "" : evidence.runtime[d]; };
  const Eigen::RowVectorXd own = fitted.row(device), seen = evidence.seen.row(device);
  Eigen::RowVectorXd sum = Eigen::RowVectorXd::Zero(own.size()), weights = sum;
  for (Index e = 0; e < fitted.rows(); ++e) {
    const Eigen::RowVectorXd both = seen.cwiseProduct(evidence.seen.row(e));
    const double other = fitted.row(e).dot(both);
    if (!(other > 0)) continue;
    const double alike = runtime_of(e) == runtime_of(device) ? 1 : options.other_runtimes;
    const Eigen::RowVectorXd weight = alike * evidence.seen.row(e).cwiseProduct(evidence.weight.row(e));
    sum += own.dot(both) / other * weight.cwiseProduct(fitted.row(e));
    weights += weight;
  }
  const Eigen::RowVectorXd others = (weights.array() > 0).select(sum.cwiseQuotient(weights), 0);
  return (seen.array() > 0).select(own, others);
}

void confine_large_bytes(const PoolNumbers& pool, CostLibrary& library) {
  constexpr double no_log_cost = -30, no_variance = 1e-6;
  const auto large = std::find(pool.scale.measure.begin(), pool.scale.measure.end(), large_bytes_measure());
  if (large == pool.scale.measure.end()) return;
  const Index f = large - pool.scale.measure.begin();
  const auto has = pool.features.col(f).transpose().array() > 0;
  std::set<std::string> knowing;
  for (Index d = 0; d < pool.latency_ms.rows(); ++d) {
    if ((has && pool.latency_ms.row(d).array().isFinite()).any()) knowing.insert(pool.labels.kind[d]);
  }
  for (Index d = 0; d < pool.latency_ms.rows(); ++d) {
    if (knowing.count(pool.labels.kind[d]) > 0) continue;
    library.costs(d, f) = 0;
    if (library.known_costs.rows() > 0) library.known_costs(d, f) = 0;
  }
  for (std::size_t k = 1; k < library.kinds.size(); ++k) {
    DeviceKind& kind = library.kinds[k];
    if (knowing.count(kind.name) > 0) continue;
    kind.log_costs[f] = no_log_cost;
    kind.covariance.row(f).setZero();
    kind.covariance.col(f).setZero();
    kind.covariance(f, f) = no_variance;
  }
}

void draw_to_others(const PoolNumbers& pool, CostLibrary& library) {
  constexpr double half = 100, few = 30;  // networks
  library.known_costs.setZero(library.costs.rows(), library.costs.cols());
  for (const DeviceKind& kind : library.kinds) {
    for (const KindMember& own : kind.members) {
      if (kind.name != pool.labels.kind[own.device]) break;  // all device-runtimes, or those that are of no kind
      const Index device = own.device;
      const double networks = pool.latency_ms.row(device).array().isFinite().cast<double>().sum();
      const double share = std::min(most_drawn, half * half / (half * half + networks * networks));
      const Eigen::VectorXd log_costs = library.kinds.front().members[own.device].log_costs + library.scale.log_unit;
      const Eigen::RowVectorXd costs = log_costs.array().exp() / library.median_ms[device];
      const Eigen::RowVectorXd drawn = library.costs.row(device) + share * (costs - library.costs.row(device));
      (networks < few ? library.known_costs : library.costs).row(device) = drawn;
    }
  }
}

}  // namespace tenshot::trainer::operators
