#include "trainer/core/metrics.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>

#include "datasets/pool/describe.h"
#include "nasbench/support/numbers_below.h"

namespace tenshot::trainer {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

using Iterator = std::vector<double>::iterator;

/// Number of pairs (i < j) with values[i] > values[j]; sorts the values by merging.
std::int64_t count_inversions(Iterator begin, Iterator end) {
  if (end - begin < 2) return 0;
  const Iterator middle = begin + (end - begin) / 2;
  std::int64_t inversions = count_inversions(begin, middle) + count_inversions(middle, end);
  Iterator less = middle;
  for (Iterator left = begin; left != middle; ++left) {
    less = std::find_if(less, end, [&](double right) { return right >= *left; });
    inversions += less - middle;
  }
  std::inplace_merge(begin, middle, end);
  return inversions;
}

/// Pairs that are equal, over runs of equal neighbours.
template <class Equal>
std::int64_t tied_pairs(std::size_t size, Equal equal_to_previous) {
  std::int64_t pairs = 0, before = 0;  // those right before i that equal it
  for (std::size_t i = 1; i < size; ++i) {
    before = equal_to_previous(i) ? before + 1 : 0;
    pairs += before;
  }
  return pairs;
}

}  // namespace

double kendall(const std::vector<double>& a, const std::vector<double>& b) {
  const std::size_t n = a.size();
  if (n < 2) return nan;
  std::vector<std::size_t> order = numbers_below(n);
  std::sort(order.begin(), order.end(),
            [&](std::size_t i, std::size_t j) { return a[i] != a[j] ? a[i] < a[j] : b[i] < b[j]; });
  const std::int64_t tied_a = tied_pairs(n, [&](std::size_t i) { return a[order[i]] == a[order[i - 1]]; });
  const std::int64_t tied_both =
      tied_pairs(n, [&](std::size_t i) { return a[order[i]] == a[order[i - 1]] && b[order[i]] == b[order[i - 1]]; });
  std::vector<double> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = b[order[i]];
  const std::int64_t discordant = count_inversions(values.begin(), values.end());
  const std::int64_t tied_b = tied_pairs(n, [&](std::size_t i) { return values[i] == values[i - 1]; });
  const auto pairs = static_cast<std::int64_t>(n) * static_cast<std::int64_t>(n - 1) / 2;
  const std::int64_t concordant_minus_discordant = pairs - tied_a - tied_b + tied_both - 2 * discordant;
  const double scale = std::sqrt(static_cast<double>(pairs - tied_a)) * std::sqrt(static_cast<double>(pairs - tied_b));
  return scale > 0 ? static_cast<double>(concordant_minus_discordant) / scale : nan;
}

double error_bound_accuracy(const std::vector<double>& predicted_ms, const std::vector<double>& measured_ms,
                            double bound) {
  std::size_t within = 0;
  for (std::size_t i = 0; i < measured_ms.size(); ++i) {
    within += std::abs(predicted_ms[i] - measured_ms[i]) <= bound * measured_ms[i];
  }
  return static_cast<double>(within) / static_cast<double>(measured_ms.size());
}

Metrics evaluate(const Predictions& predicted, const std::vector<double>& measured_ms) {
  const auto& [predicted_ms, lower_ms, upper_ms] = predicted;
  const std::size_t n = measured_ms.size();
  Metrics metrics;
  metrics.architectures = n;
  metrics.acc1 = error_bound_accuracy(predicted_ms, measured_ms, 0.01);
  metrics.acc5 = error_bound_accuracy(predicted_ms, measured_ms, 0.05);
  metrics.acc10 = error_bound_accuracy(predicted_ms, measured_ms, 0.10);
  double squared = 0, relative_squared = 0, relative = 0, covered = 0, width = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double error = predicted_ms[i] - measured_ms[i];
    squared += error * error;
    relative_squared += error * error / (measured_ms[i] * measured_ms[i]);
    relative += std::abs(error) / measured_ms[i];
    if (!lower_ms.empty()) {
      covered += lower_ms[i] <= measured_ms[i] && measured_ms[i] <= upper_ms[i];
      width += (upper_ms[i] - lower_ms[i]) / predicted_ms[i];
    }
  }
  const auto count = static_cast<double>(n);
  metrics.rmse_ms = std::sqrt(squared / count);
  metrics.rmspe = std::sqrt(relative_squared / count);
  metrics.mape = relative / count;
  metrics.spearman = datasets::spearman(predicted_ms, measured_ms);
  metrics.kendall = kendall(predicted_ms, measured_ms);
  metrics.coverage = lower_ms.empty() ? nan : covered / count;
  metrics.mean_relative_width = lower_ms.empty() ? nan : width / count;
  return metrics;
}

nlohmann::json to_json(const Metrics& metrics, datasets::Quantity quantity) {
  nlohmann::json json = {{"architectures", metrics.architectures}};
  for (const auto& [name, metric] : named_metrics) {
    const double value = metrics.*metric;
    json[datasets::in_words_of(quantity, name)] = std::isnan(value) ? nlohmann::json(nullptr) : nlohmann::json(value);
  }
  return json;
}

Metrics metrics_from_json(const nlohmann::json& json) {
  Metrics metrics;
  metrics.architectures = json.at("architectures");
  for (const auto& [name, metric] : named_metrics) {
    metrics.*metric = json.at(name).is_null() ? nan : json.at(name).get<double>();
  }
  return metrics;
}

}  // namespace tenshot::trainer
