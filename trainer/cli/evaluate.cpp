#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "datasets/tables/measurements.h"
#include "nasbench/support/error.h"
#include "trainer/cli/command.h"
#include "trainer/cli/file_roles.h"
#include "trainer/core/metrics.h"
#include "trainer/core/prediction_table.h"

namespace tenshot::cli {
namespace {

/// What is both predicted and measured, side by side.
struct Joined {
  std::vector<double> predicted_ms, lower_ms, upper_ms, measured_ms;
  std::size_t unpredicted = 0;
};

Joined join(const trainer::PredictionTable& table, const datasets::Measurements& truth) {
  std::unordered_map<nasbench::Architecture, std::size_t, nasbench::ArchitectureHash> row_of;
  for (std::size_t i = 0; i < table.architectures.size(); ++i) row_of.emplace(table.architectures[i], i);
  Joined joined;
  for (const datasets::Measurement& measurement : truth.rows) {
    const auto found = row_of.find(measurement.architecture);
    if (found == row_of.end()) {
      ++joined.unpredicted;
      continue;
    }
    joined.measured_ms.push_back(measurement.latency_ms);
    joined.predicted_ms.push_back(table.predictions.latency_ms[found->second]);
    if (table.predictions.lower_ms.empty()) continue;
    joined.lower_ms.push_back(table.predictions.lower_ms[found->second]);
    joined.upper_ms.push_back(table.predictions.upper_ms[found->second]);
  }
  return joined;
}

void print(const trainer::Metrics& m) {
  std::printf("architectures  %zu\n", m.architectures);
  std::printf("within 1 %%     %.1f %%\n", 100 * m.acc1);
  std::printf("within 5 %%     %.1f %%\n", 100 * m.acc5);
  std::printf("within 10 %%    %.1f %%\n", 100 * m.acc10);
  std::printf("RMSE           %.4g ms\n", m.rmse_ms);
  std::printf("RMSPE          %.2f %%\n", 100 * m.rmspe);
  std::printf("MAPE           %.2f %%\n", 100 * m.mape);
  std::printf("Spearman       %.4f\n", m.spearman);
  std::printf("Kendall        %.4f\n", m.kendall);
  if (m.coverage == m.coverage) {
    std::printf("intervals hold %.1f %%, mean width %.1f %%\n", 100 * m.coverage, 100 * m.mean_relative_width);
  }
}

void run(const std::vector<std::string>& arguments) {
  OptionParser options("evaluate", "Compares predictions with measurements.",
                       "  tenshot evaluate --predictions predictions.csv --measured truth.csv --json\n");
  options.add()("predictions", "CSV that `tenshot predict` wrote", cxxopts::value<std::string>())(
      "measured", "CSV: architecture,latency_ms", cxxopts::value<std::string>())(
      "exclude", "CSV with architectures to leave out, such as those the device was adapted on",
      cxxopts::value<std::string>())("space", "search space of both files",
                                     cxxopts::value<std::string>()->default_value("nasbench201"))(
      "json", "metrics as JSON on standard output");
  if (!options.parse(arguments)) return;
  const bool quiet = options.has("quiet");
  const std::string predictions = options.required("predictions"), measured = options.required("measured");
  FileRoles files;
  files.reads("--predictions", predictions);
  files.reads("--measured", measured);
  if (options.has("exclude")) files.reads("--exclude", options.get("exclude"));
  files.writes("standard output", "-");
  files.require_distinct();
  const nasbench::SearchSpace& space = nasbench::search_space(options.get("space"));
  const trainer::PredictionTable table = trainer::read_predictions(predictions, space);
  report(table.findings, quiet);
  datasets::Measurements truth = datasets::read_measurements(measured, space);
  report(truth.findings, quiet);
  if (options.has("exclude")) {
    std::unordered_map<nasbench::Architecture, bool, nasbench::ArchitectureHash> excluded;
    for (const auto& a : datasets::read_architectures(options.get("exclude"), space).architectures) excluded[a] = true;
    truth.rows.erase(std::remove_if(truth.rows.begin(), truth.rows.end(),
                                    [&](const auto& row) { return excluded.count(row.architecture) != 0; }),
                     truth.rows.end());
  }
  const Joined joined = join(table, truth);
  if (joined.unpredicted > 0) {
    say(std::to_string(joined.unpredicted) + " measured architectures have no prediction and are left out", quiet);
  }
  if (joined.measured_ms.empty()) {
    throw InputError("there is nothing to compare: no architecture is both in " + predictions + " and in " + measured);
  }
  const trainer::Metrics metrics =
      trainer::evaluate(joined.predicted_ms, joined.measured_ms, joined.lower_ms, joined.upper_ms);
  if (options.has("json")) {
    std::cout << trainer::to_json(metrics).dump(1) << "\n";
  } else {
    print(metrics);
  }
}

}  // namespace

const Command evaluate_command = {"evaluate", "compare predictions with measurements", run};

}  // namespace tenshot::cli
