#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "trainer/evaluation/experiment_cell.h"
#include "trainer/evaluation/grid.h"

namespace tenshot::trainer::evaluation {

/// The spread {"mean", "deviation" (n − 1; 0 of one), "count"} of the values that are numbers; null of none.
nlohmann::json spread_of(std::vector<double> values);
/// The mean that a spread holds; NaN where the spread is null.
double mean_of(const nlohmann::json& spread);

/// {"targets": [id, …], "variants": [{"label", "method", "pool", "sampler", "samples", "clones", METRIC: {id: spread},
/// "mean_METRIC": spread}, …]}: each variant, called by its method's name and what of the grid varies, on every target:
/// over trials, and over pool devices where the strategy takes one at a time; and over trials, the mean over targets.
/// The metrics are acc5, acc10, spearman and coverage90. A spread is what spread_of() says. Ceilings' sampler is "all".
nlohmann::json summary_of(const Experiment& experiment, const std::vector<CellResult>& results);

/// `# name`, whether counters were simulated, description, what was run, tables of mean ± deviation, the best in bold.
std::string results_markdown(const Experiment& experiment, const std::vector<CellResult>& results);
/// results.csv, results.json (with the `description`), predictions.csv and README.md.
void write_results(const Experiment& experiment, const std::vector<CellResult>& results,
                   const nlohmann::json& description, const std::filesystem::path& out);

}  // namespace tenshot::trainer::evaluation
