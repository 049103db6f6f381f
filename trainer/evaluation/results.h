#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "trainer/evaluation/experiment_cell.h"
#include "trainer/evaluation/grid.h"

namespace tenshot::trainer::evaluation {

struct ExperimentResults {
  const ExperimentSpec& spec;
  const ExperimentData& data;
  const Grid& grid;
  const std::vector<CellResult>& cells;  ///< one a cell of the grid
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

/// A metric of a variant.
struct MetricSummary {
  std::vector<Spread> targets;  ///< of each target
  Spread mean;                  ///< over trials, of the mean over targets
};

/// A variant on every target: over trials, and over pool devices where the strategy takes one at a time.
struct VariantSummary {
  Variant variant;
  std::string label;     ///< the method's name and what of the grid varies
  bool ceiling = false;  ///< measures everything
  MetricSummary acc5, acc10, spearman;
  MetricSummary coverage;  ///< of intervals asked to hold 90 %; counts of 0 without intervals
};
struct Summary {
  std::vector<std::string> targets;
  std::vector<VariantSummary> variants;
};
Summary summarise(const ExperimentResults& results);

/// `# name`, whether counters were simulated, description, what was run, tables with mean ± standard deviation and the
/// best of each target in bold.
std::string results_markdown(const ExperimentResults& results);
/// results.csv, results.json, predictions.csv and README.md.
void write_results(const ExperimentResults& results, const std::filesystem::path& out);

}  // namespace tenshot::trainer::evaluation
