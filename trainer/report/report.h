#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "nasbench/graph/network_reading.h"
#include "nasbench/spaces/architecture.h"
#include "trainer/report/page.h"

namespace tenshot::trainer::report {

/// What a page on a predictor shows beside the predictor itself.
struct DeviceReportOptions {
  /// Further measurements of its device, to hold it against: whatever datasets::read_joined reads; none where empty.
  std::vector<std::filesystem::path> measured = {};
  bool fleet = false;  ///< they are of several boards (datasets::read_joined)
  /// CSV `architecture,accuracy` (or `network,accuracy`): the Pareto front of latency and accuracy.
  std::optional<std::filesystem::path> accuracies = std::nullopt;
  /// Latency not to exceed, ms, or another quantity in its unit: among the fastest and in the front's picture.
  std::optional<double> limit = std::nullopt;
  /// Architectures, networks or files that are taken apart, operator by operator; only by a predictor `operators`.
  std::vector<std::string> explained = {};
  /// Networks by name that are the user's own, which lists then are of; empty: those measured.
  std::vector<nasbench::Architecture> own = {};
  /// What to run, with what it is for: to copy from the page.
  std::vector<std::pair<std::string, std::string>> commands = {};
  /// How files among `explained` are read.
  nasbench::NetworkReadOptions read = {};
};

/// One self-contained HTML page on an experiment's folder (evaluation/experiment.h) or on a predictor's file, with
/// tables and pictures. Throws what reading these throws; InputError if `what` is neither or has no use for an option.
Page make_report(const std::filesystem::path& what, const DeviceReportOptions& options = {});

Page experiment_report(const std::filesystem::path& folder);

}  // namespace tenshot::trainer::report
