// What costs of operators that a device-runtime never measured are worth where they are taken from others, under
// settings of ImputationOptions. Usage: unseen_groups POOL… Each group of operators is hidden from each device-runtime
// in turn: the networks that have one leave its fit, and are predicted by its other costs and those of others. A
// device-runtime keeps at least twelve networks and has at least two to predict; of more than a hundred device-runtimes
// of one runtime one in eight is looked at. Prints Markdown: the mean error of log latency by runtime, a group and a
// device-runtime with the same weight, and how often intervals hold, by how many times what operators count as they may
// cost (unknown_deviation), with a deviation of 15 % beside that.

#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <sstream>

#include "datasets/pool/joined_pools.h"
#include "experiments/shared/program.h"
#include "nasbench/support/number_text.h"
#include "nasbench/support/quantiles.h"
#include "trainer/predictors/operators/cost_imputation.h"
#include "trainer/predictors/operators/operators_predictor.h"
#include "trainer/predictors/operators/pool_costs.h"

namespace {

using namespace tenshot;
using namespace tenshot::trainer::operators;
using Eigen::Index;

constexpr std::size_t fewest_left = 12, fewest_hidden = 2;
constexpr double other_deviation = 0.15;
const std::vector<double> powers = {0, 1, 2, 4}, others = {1e-9, 1}, times = {1, 2, 3, 6};

struct Score {
  double error = 0, runs = 0;
  std::map<double, double> holds;  ///< by `times`
};
using Scores = std::map<std::string, std::map<std::pair<double, double>, Score>>;  ///< [runtime][power, other runtimes]

/// The networks of a device that have operators of the group whose count is this feature, and the others.
std::pair<std::vector<Index>, std::vector<Index>> divided(const PoolNumbers& pool, Index device, Index count) {
  std::pair<std::vector<Index>, std::vector<Index>> networks;
  for (Index n = 0; n < pool.features.rows(); ++n) {
    if (!std::isfinite(pool.latency_ms(device, n))) continue;
    (pool.features(n, count) > 0 ? networks.first : networks.second).push_back(n);
  }
  return networks;
}

/// Adds what the imputed costs of a group make of the networks that have it.
void score(const PoolNumbers& pool, Index device, std::size_t group, const std::vector<Index>& hidden,
           const Eigen::VectorXd& costs_ms, Score& score) {
  Eigen::VectorXd without_ms = costs_ms;
  for (Index f = 0; f < costs_ms.size(); ++f) {
    if (pool.groups[static_cast<std::size_t>(f)] == group) without_ms[f] = 0;
  }
  const auto count = static_cast<double>(hidden.size());
  for (const Index n : hidden) {
    const double whole = pool.features.row(n).dot(costs_ms), rest = pool.features.row(n).dot(without_ms);
    const double error = std::abs(std::log(pool.latency_ms(device, n) / whole));
    score.error += error / count;
    for (const double factor : times) {
      const double own = trainer::OperatorsPredictor::unknown_deviation(std::log(whole / std::max(rest, 1e-9)), factor);
      score.holds[factor] += (error <= normal_quantile(0.95) * std::hypot(own, other_deviation)) / count;
    }
  }
  ++score.runs;
}

/// `evidence` is that of each of the powers.
void score_device(const PoolNumbers& pool, const CostLibrary& library, std::vector<CostEvidence>& evidence,
                  Index device, Scores& scores) {
  const std::string& runtime = pool.labels.kind[static_cast<std::size_t>(device)];
  for (Index f = 1; f < pool.features.cols(); ++f) {
    const std::size_t group = pool.groups[static_cast<std::size_t>(f)];
    if (group == pool.groups[static_cast<std::size_t>(f - 1)]) continue;
    const auto [hidden, left] = divided(pool, device, f);
    if (hidden.size() < fewest_hidden || left.size() < fewest_left) continue;
    PoolNumbers own = selection_of(pool, left, {device});
    own.scale = {};
    const CostLibrary fitted = fit_library(own);
    Eigen::MatrixXd costs = library.costs;
    costs.row(device) = fitted.costs.row(0);
    const Eigen::RowVectorXd seen = cost_evidence(own, {}).seen.row(0);
    for (std::size_t p = 0; p < powers.size(); ++p) {
      const Eigen::RowVectorXd whole = evidence[p].seen.row(device);
      evidence[p].seen.row(device) = seen;
      for (const double other : others) {
        const Eigen::RowVectorXd imputed = with_unseen(evidence[p], {powers[p], other}, costs, device);
        score(pool, device, group, hidden, fitted.median_ms[0] * imputed.transpose(),
              scores[runtime][{powers[p], other}]);
      }
      evidence[p].seen.row(device) = whole;
    }
  }
}

/// A table with a row for each runtime, of the mean over its hidden groups of what `values` are for a Score each.
template <class Values>
void print_table(const Scores& scores, const std::string& head, std::size_t columns, const Values& values) {
  std::cout << "\n| runtime | hidden groups |" << head << "\n|---|---|";
  for (std::size_t c = 0; c < columns; ++c) std::cout << "---|";
  std::cout << "\n";
  for (const auto& [runtime, of_settings] : scores) {
    std::cout << "| " << runtime << " | " << of_settings.begin()->second.runs << " |";
    for (const std::string& value : values(of_settings)) std::cout << " " << value << " |";
    std::cout << "\n";
  }
}

void print(const Scores& scores) {
  std::ostringstream settings, factors;
  for (const double power : powers) {
    for (const double other : others) settings << " " << power << "; " << other << " |";
  }
  for (const double factor : times) factors << " " << factor << " times |";
  std::cout << "Mean error of log latency, by `evidence_power` and `other_runtimes`:\n";
  print_table(scores, settings.str(), powers.size() * others.size(), [](const auto& of_settings) {
    std::vector<std::string> row;
    for (const auto& [setting, score] : of_settings) row.push_back(decimals(score.error / score.runs, 3));
    return row;
  });
  std::cout << "\nShare of 90 % intervals that hold under what ships, in percent:\n";
  print_table(scores, factors.str(), times.size(), [](const auto& of_settings) {
    const ImputationOptions ships;
    const Score& score = of_settings.at({ships.evidence_power, ships.other_runtimes});
    std::vector<std::string> row;
    for (const auto& [factor, holds] : score.holds) row.push_back(decimals(100 * holds / score.runs, 0));
    return row;
  });
}

void run(int argc, char** argv) {
  const datasets::Pool pool = datasets::read_pools({argv + 1, argv + argc});
  const FittedPool fitted = fit_pool(pool, {});
  const PoolNumbers& numbers = fitted.numbers;
  std::map<std::string, std::size_t> of_runtime, seen;
  for (const std::string& runtime : numbers.labels.kind) ++of_runtime[runtime];
  std::vector<CostEvidence> evidence;
  for (const double power : powers) evidence.push_back(cost_evidence(numbers, {power, 1}));
  Scores scores;
  for (Index d = 0; d < numbers.latency_ms.rows(); ++d) {
    const std::string& runtime = numbers.labels.kind[static_cast<std::size_t>(d)];
    const std::size_t one_in = of_runtime[runtime] > 100 ? 8 : 1;
    if (seen[runtime]++ % one_in == 0) score_device(numbers, fitted.library, evidence, d, scores);
  }
  print(scores);
}

}  // namespace

int main(int argc, char** argv) { return tenshot::experiments::run_program("unseen_groups", run, argc, argv); }
