#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "datasets/tables/quantity.h"
#include "nasbench/spaces/search_space.h"
#include "trainer/report/page.h"

namespace tenshot::trainer::report {

/// Latencies of architectures, measured; or another quantity, in its unit.
struct Measured {
  std::vector<nasbench::Architecture> architectures;
  std::vector<double> latency_ms;
  std::string left_out = {};  ///< what could not be used of the file, for the page; empty: nothing
};

/// What a page on a predictor shows beside the predictor itself.
struct DeviceReportOptions {
  /// Further measurements of its device, to hold it against.
  std::optional<std::filesystem::path> measured = std::nullopt;
  /// Reads them; by default as a CSV (datasets/tables/measurements.h).
  std::function<Measured(const std::filesystem::path&, const nasbench::SearchSpace&, datasets::Quantity)>
      read_measured = nullptr;
  /// CSV `architecture,accuracy` (or `network,accuracy`): the Pareto front of latency and accuracy.
  std::optional<std::filesystem::path> accuracies = std::nullopt;
  /// Latency not to exceed, ms, or another quantity in its unit: among the fastest and in the front's picture.
  std::optional<double> limit = std::nullopt;
  /// Architectures, names of networks or files whose predictions are taken apart, operator by operator; only of a
  /// predictor of kind `operators`.
  std::vector<std::string> explained = {};
  /// Reads an entry of `explained`; by default what the predictor's space parses.
  std::function<nasbench::Architecture(const std::string&, const nasbench::SearchSpace&)> parse = nullptr;
};

/// One self-contained HTML page on an experiment's folder (evaluation/experiment.h) or on a predictor's file: tables
/// and pictures that need no network and no script. Throws what reading these throws; InputError when `what` is
/// neither, or has no use for an option.
Page make_report(const std::filesystem::path& what, const DeviceReportOptions& options = {});

Page experiment_report(const std::filesystem::path& folder);
Page device_report(const std::filesystem::path& predictor, const DeviceReportOptions& options = {});

}  // namespace tenshot::trainer::report
