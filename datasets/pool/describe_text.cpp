#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "datasets/pool/describe.h"
#include "nasbench/support/number_text.h"

namespace tenshot::datasets {
namespace {

using Table = std::vector<std::vector<std::string>>;  ///< rows of cells, the headings first

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

std::string fixed(double value, int digits) {
  if (std::isnan(value)) return "-";
  return decimals(value, digits);
}

std::string milliseconds(double value) {
  if (std::isnan(value)) return "-";
  return significant_digits(value, 4);
}

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
  for (std::size_t i = 0; i < summary.devices.size(); ++i) table.front().push_back("[" + std::to_string(i + 1) + "]");
  for (std::size_t i = 0; i < summary.devices.size(); ++i) {
    table.push_back({"[" + std::to_string(i + 1) + "] " + summary.devices[i].id});
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

nlohmann::json number_or_null(double value) { return std::isnan(value) ? nlohmann::json() : nlohmann::json(value); }

nlohmann::json to_json(const DeviceSummary& device, Quantity quantity) {
  return {{"id", device.id},
          {"descriptor", device.descriptor_source},
          {"measured", device.measured},
          {"missing", device.missing},
          {column("minimum", quantity), number_or_null(device.minimum_ms)},
          {column("median", quantity), number_or_null(device.median_ms)},
          {column("maximum", quantity), number_or_null(device.maximum_ms)},
          {"whole_milliseconds", device.whole_milliseconds}};
}

}  // namespace

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
  nlohmann::json correlation = nlohmann::json::array();
  for (const std::vector<double>& row : summary.rank_correlation) {
    nlohmann::json& values = correlation.emplace_back(nlohmann::json::array());
    for (const double value : row) values.push_back(number_or_null(value));
  }
  nlohmann::json object = {{"space", summary.space},
                           {"architectures", summary.architectures},
                           {"content_hash", summary.content_hash},
                           {"devices", std::move(devices)},
                           {"rank_correlation", std::move(correlation)},
                           {"findings", to_json(findings)}};
  if (summary.quantity != Quantity::latency) object["quantity"] = name(summary.quantity);
  return object;
}

}  // namespace tenshot::datasets
