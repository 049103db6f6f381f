#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "trainer/evaluation/experiment_cell.h"
#include "trainer/evaluation/grid.h"

namespace tenshot::trainer::evaluation {

struct ExperimentResults {
  const Experiment& experiment;
  const std::vector<CellResult>& cells;  ///< one a cell of the experiment
  const nlohmann::json& description;     ///< spec, data hash, versions
};

/// Mean and standard deviation (n − 1; 0 of one) of a metric.
struct Spread {
  double mean = 0;
  double deviation = 0;
  std::size_t count = 0;
};
/// Over the values that are numbers; count 0 and NaN where there is none.
Spread spread_of(const std::vector<double>& values);

/// {"targets": [id, …], "variants": [{"label", "method", "pool", "sampler", "samples", "clones", METRIC: {id: spread},
/// "mean_METRIC": spread}, …]}: each variant, called by its method's name and what of the grid varies, on every target:
/// over trials, and over pool devices where the strategy takes one at a time; and over trials, the mean over targets.
/// The metrics are acc5, acc10, spearman and coverage90. A spread is {"mean", "deviation", "count"}, or null where
/// there is no value. The sampler of ceilings is "all".
nlohmann::json summary_of(const ExperimentResults& results);

/// `# name`, whether counters were simulated, description, what was run, tables with mean ± standard deviation and the
/// best of each target in bold.
std::string results_markdown(const ExperimentResults& results);
/// results.csv, results.json, predictions.csv and README.md.
void write_results(const ExperimentResults& results, const std::filesystem::path& out);

}  // namespace tenshot::trainer::evaluation
