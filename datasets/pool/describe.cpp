#include "datasets/pool/describe.h"

#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <numeric>

#include "nasbench/support/median.h"
#include "nasbench/support/number_text.h"

namespace tenshot::datasets {
namespace {

using Table = std::vector<std::vector<std::string>>;  ///< rows of cells, the headings first

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t fewest_common = 3;  ///< architectures under which a rank correlation says nothing

std::vector<double> measured_of(const std::vector<double>& latencies) {
  std::vector<double> values;
  std::copy_if(latencies.begin(), latencies.end(), std::back_inserter(values), [](double v) { return !std::isnan(v); });
  return values;
}

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

/// `latencies` is the device's row of the matrix.
DeviceSummary summary_of(const DeviceRuntime& device, const std::vector<double>& latencies) {
  DeviceSummary summary;
  summary.id = device.id;
  summary.descriptor_source = device.descriptor.source + (device.descriptor.simulated() ? " (simulated)" : "") +
                              (device.descriptor.has_in_network() ? ", in network" : "");
  summary.minimum_ms = summary.median_ms = summary.maximum_ms = nan;
  const std::vector<double> values = measured_of(latencies);
  summary.measured = values.size();
  summary.missing = latencies.size() - values.size();
  if (values.empty()) return summary;
  summary.whole_milliseconds = are_whole_milliseconds(values);
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  summary.minimum_ms = *least;
  summary.maximum_ms = *most;
  summary.median_ms = median(values);
  return summary;
}

constexpr std::size_t largest_matrix = 12;  ///< devices whose whole correlation matrix fits a terminal
constexpr std::size_t findings_shown = 10;

/// Columns two blanks apart, the first aligned left, the others right.
std::string aligned(const Table& table) {
  std::vector<std::size_t> widths(table.front().size(), 0);
  for (const auto& row : table) {
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  }
  std::string text;
  for (const auto& row : table) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::string padding(widths[c] - row[c].size(), ' ');
      line += c == 0 ? row[c] + padding : "  " + padding + row[c];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string fixed(double value, int digits) { return std::isnan(value) ? "-" : decimals(value, digits); }

std::string milliseconds(double value) { return std::isnan(value) ? "-" : significant_digits(value, 4); }

std::string device_table(const PoolSummary& summary) {
  Table table = {{"device-runtime", "descriptor", "measured", "missing", "min ms", "median ms", "max ms", "whole ms"}};
  for (std::string& heading : table.front()) heading = in_words_of(summary.quantity, heading);
  for (const DeviceSummary& device : summary.devices) {
    table.push_back({device.id, device.descriptor_source, std::to_string(device.measured),
                     std::to_string(device.missing), milliseconds(device.minimum_ms), milliseconds(device.median_ms),
                     milliseconds(device.maximum_ms), device.whole_milliseconds ? "yes" : ""});
  }
  return aligned(table);
}

std::string whole_matrix(const PoolSummary& summary) {
  Table table = {{""}};
  for (std::size_t i = 0; i < summary.devices.size(); ++i) {
    const std::string number = "[" + std::to_string(i + 1) + "]";
    table.front().push_back(number);
    table.push_back({number + " " + summary.devices[i].id});
    for (const double value : summary.rank_correlation[i]) table.back().push_back(fixed(value, 3));
  }
  return aligned(table);
}

/// Each device's mean correlation with the others, and the most and the least alike of them.
std::string abbreviated_matrix(const PoolSummary& summary) {
  Table table = {{"device-runtime", "mean", "nearest", "", "farthest", ""}};
  for (std::size_t i = 0; i < summary.devices.size(); ++i) {
    const std::vector<double>& row = summary.rank_correlation[i];
    std::vector<std::size_t> others;
    double sum = 0;
    for (std::size_t j = 0; j < row.size(); ++j) {
      if (j == i || std::isnan(row[j])) continue;
      others.push_back(j);
      sum += row[j];
    }
    if (others.empty()) {
      table.push_back({summary.devices[i].id, "-", "-", "-", "-", "-"});
      continue;
    }
    const auto less = [&](std::size_t a, std::size_t b) { return row[a] < row[b]; };
    const std::size_t nearest = *std::max_element(others.begin(), others.end(), less);
    const std::size_t farthest = *std::min_element(others.begin(), others.end(), less);
    table.push_back({summary.devices[i].id, fixed(sum / static_cast<double>(others.size()), 3),
                     summary.devices[nearest].id, fixed(row[nearest], 3), summary.devices[farthest].id,
                     fixed(row[farthest], 3)});
  }
  return aligned(table);
}

nlohmann::json to_json(const DeviceSummary& device, Quantity quantity) {
  return {{"id", device.id},
          {"descriptor", device.descriptor_source},
          {"measured", device.measured},
          {"missing", device.missing},
          {column("minimum", quantity), device.minimum_ms},
          {column("median", quantity), device.median_ms},
          {column("maximum", quantity), device.maximum_ms},
          {"whole_milliseconds", device.whole_milliseconds}};
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
  const auto is_nan = [](double value) { return std::isnan(value); };
  if (a.empty() || std::any_of(a.begin(), a.end(), is_nan) || std::any_of(b.begin(), b.end(), is_nan)) return nan;
  return pearson(ranks(a), ranks(b));
}

std::vector<std::vector<double>> rank_correlations(const std::vector<std::vector<double>>& latency_ms) {
  std::vector<std::vector<bool>> measured;
  std::vector<std::vector<double>> own_ranks;
  for (const std::vector<double>& latencies : latency_ms) {
    std::vector<bool>& mask = measured.emplace_back();
    for (const double latency : latencies) mask.push_back(!std::isnan(latency));
    own_ranks.push_back(ranks(measured_of(latencies)));
  }
  const auto between = [&](std::size_t i, std::size_t j) {
    if (measured[i] == measured[j])
      return own_ranks[i].size() < fewest_common ? nan : pearson(own_ranks[i], own_ranks[j]);
    std::vector<double> a, b;
    for (std::size_t k = 0; k < measured[i].size(); ++k) {
      if (!measured[i][k] || !measured[j][k]) continue;
      a.push_back(latency_ms[i][k]);
      b.push_back(latency_ms[j][k]);
    }
    return a.size() < fewest_common ? nan : spearman(a, b);
  };
  std::vector<std::vector<double>> correlation(latency_ms.size(), std::vector<double>(latency_ms.size(), nan));
  for (std::size_t i = 0; i < latency_ms.size(); ++i) {
    for (std::size_t j = i; j < latency_ms.size(); ++j) correlation[i][j] = correlation[j][i] = between(i, j);
  }
  return correlation;
}

PoolSummary describe(const Pool& pool) {
  const LatencyMatrix matrix = latency_matrix(pool);
  PoolSummary summary;
  summary.space = pool.space == nullptr ? "" : pool.space->name();
  summary.quantity = pool.quantity();
  summary.architectures = matrix.architectures.size();
  summary.content_hash = content_hash(pool);
  for (std::size_t d = 0; d < pool.devices.size(); ++d) {
    summary.devices.push_back(summary_of(pool.devices[d], matrix.latency_ms[d]));
  }
  summary.rank_correlation = rank_correlations(matrix.latency_ms);
  return summary;
}

std::string to_text(const PoolSummary& summary, const Findings& findings) {
  std::string text =
      "space           " + summary.space + "\n" +  //
      (summary.quantity == Quantity::latency ? "" : "quantity        " + std::string(name(summary.quantity)) + "\n") +
      "architectures   " + std::to_string(summary.architectures) + "\n" + "device-runtimes " +
      std::to_string(summary.devices.size()) + "\n" + "content         " + summary.content_hash + "\n\n" +
      device_table(summary);
  if (summary.devices.size() > 1) {
    text += "\nrank correlation (Spearman) over the architectures both measured\n";
    text += summary.devices.size() > largest_matrix ? abbreviated_matrix(summary) : whole_matrix(summary);
  }
  return findings.empty() ? text : text + "\n" + to_text(findings, findings_shown);
}

nlohmann::json to_json(const PoolSummary& summary, const Findings& findings) {
  nlohmann::json devices = nlohmann::json::array();
  for (const DeviceSummary& device : summary.devices) devices.push_back(to_json(device, summary.quantity));
  nlohmann::json object = {{"space", summary.space},
                           {"architectures", summary.architectures},
                           {"content_hash", summary.content_hash},
                           {"devices", std::move(devices)},
                           {"rank_correlation", summary.rank_correlation},
                           {"findings", to_json(findings)}};
  if (summary.quantity != Quantity::latency) object["quantity"] = name(summary.quantity);
  return object;
}

}  // namespace tenshot::datasets
