#include "datasets/pool/describe.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

#include "nasbench/support/error.h"

namespace tenshot::datasets {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t fewest_common = 3;  ///< architectures under which a rank correlation says nothing

double pearson(const std::vector<double>& a, const std::vector<double>& b) {
  const auto n = static_cast<double>(a.size());
  const double mean_a = std::accumulate(a.begin(), a.end(), 0.0) / n;
  const double mean_b = std::accumulate(b.begin(), b.end(), 0.0) / n;
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - mean_a) * (b[i] - mean_b);
    aa += (a[i] - mean_a) * (a[i] - mean_a);
    bb += (b[i] - mean_b) * (b[i] - mean_b);
  }
  return aa > 0 && bb > 0 ? ab / std::sqrt(aa * bb) : nan;
}

/// Spearman's ρ between all devices. Ranks of a device are computed once and serve every device that measured the same
/// architectures; others are ranked pair by pair over what they share.
class RankCorrelation {
 public:
  explicit RankCorrelation(const LatencyMatrix& matrix) : matrix_(matrix) {
    for (const std::vector<double>& latencies : matrix.latency_ms) {
      std::vector<bool>& mask = measured_.emplace_back();
      std::vector<double> values;
      for (const double latency : latencies) {
        mask.push_back(!std::isnan(latency));
        if (mask.back()) values.push_back(latency);
      }
      ranks_.push_back(ranks(values));
    }
  }

  double between(std::size_t i, std::size_t j) const {
    if (measured_[i] == measured_[j]) return ranks_[i].size() < fewest_common ? nan : pearson(ranks_[i], ranks_[j]);
    std::vector<double> a, b;
    for (std::size_t k = 0; k < measured_[i].size(); ++k) {
      if (!measured_[i][k] || !measured_[j][k]) continue;
      a.push_back(matrix_.latency_ms[i][k]);
      b.push_back(matrix_.latency_ms[j][k]);
    }
    return a.size() < fewest_common ? nan : spearman(a, b);
  }

 private:
  const LatencyMatrix& matrix_;
  std::vector<std::vector<bool>> measured_;
  std::vector<std::vector<double>> ranks_;
};

/// `latencies` is the device's row of the matrix.
DeviceSummary summary_of(const DeviceRuntime& device, const std::vector<double>& latencies) {
  DeviceSummary summary;
  summary.id = device.id;
  summary.descriptor_source = device.descriptor.source + (device.descriptor.simulated() ? " (simulated)" : "") +
                              (device.descriptor.has_in_network() ? ", in network" : "");
  summary.minimum_ms = summary.median_ms = summary.maximum_ms = nan;
  std::vector<double> values;
  values.reserve(latencies.size());
  std::copy_if(latencies.begin(), latencies.end(), std::back_inserter(values), [](double v) { return !std::isnan(v); });
  summary.measured = values.size();
  summary.missing = latencies.size() - values.size();
  if (values.empty()) return summary;
  summary.whole_milliseconds = are_whole_milliseconds(values);
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  summary.minimum_ms = values.front();
  summary.maximum_ms = values.back();
  summary.median_ms = values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  return summary;
}

}  // namespace

std::vector<double> ranks(const std::vector<double>& values) {
  std::vector<std::pair<double, std::size_t>> sorted(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) sorted[i] = {values[i], i};
  std::sort(sorted.begin(), sorted.end());
  std::vector<double> result(values.size());
  for (std::size_t begin = 0; begin < sorted.size();) {
    std::size_t end = begin + 1;
    while (end < sorted.size() && sorted[end].first == sorted[begin].first) ++end;
    const double rank = static_cast<double>(begin + 1 + end) / 2;
    for (; begin < end; ++begin) result[sorted[begin].second] = rank;
  }
  return result;
}

double spearman(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) {
    throw InputError("rank correlation of " + std::to_string(a.size()) + " values with " + std::to_string(b.size()) +
                     ", expected as many of each");
  }
  const auto is_nan = [](double value) { return std::isnan(value); };
  if (a.empty() || std::any_of(a.begin(), a.end(), is_nan) || std::any_of(b.begin(), b.end(), is_nan)) return nan;
  return pearson(ranks(a), ranks(b));
}

PoolSummary describe(const Pool& pool) {
  const LatencyMatrix matrix = latency_matrix(pool);
  PoolSummary summary;
  summary.space = pool.space == nullptr ? "" : pool.space->name();
  summary.quantity = pool.quantity();
  summary.architectures = matrix.architectures.size();
  summary.content_hash = content_hash(pool);
  const std::size_t n = pool.devices.size();
  for (std::size_t d = 0; d < n; ++d) summary.devices.push_back(summary_of(pool.devices[d], matrix.latency_ms[d]));
  const RankCorrelation correlation(matrix);
  summary.rank_correlation.assign(n, std::vector<double>(n, nan));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i; j < n; ++j) {
      summary.rank_correlation[i][j] = summary.rank_correlation[j][i] = correlation.between(i, j);
    }
  }
  return summary;
}

}  // namespace tenshot::datasets
