#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "trainer/core/metrics.h"
#include "trainer/core/predictor.h"
#include "trainer/evaluation/grid.h"

namespace tenshot::trainer::evaluation {

/// How often intervals asked to hold with a probability do hold.
struct CoveragePoint {
  double confidence = 0;
  double coverage = 0;
};

/// What came out of a cell.
struct CellResult {
  std::size_t measured = 0;                ///< architectures adapted on
  Metrics metrics;                         ///< intervals at confidence .9
  std::vector<CoveragePoint> calibration;  ///< empty without intervals
  /// Measured and predicted latencies of the target's test rows, in their order; of first trials only.
  std::vector<double> measured_ms;
  Predictions predictions;
};

nlohmann::json to_json(const CellResult& result);
/// Throws FormatError that names `file`.
CellResult cell_result_from_json(const nlohmann::json& json, const std::string& file);

/// Trains the model that cells share; unfinished training is kept in `state_file`.
std::unique_ptr<PoolModel> train_model(const ExperimentSpec& spec, const ExperimentData& data, const ModelTask& task,
                                       const std::filesystem::path& state_file);

/// Samples the target, adapts `model` to it, predicts its test rows and compares. The samples are a function of pool,
/// sampler, number and trial: the same for every method. Throws InputError (too few candidates) and what adapting
/// throws.
CellResult run_cell(const ExperimentSpec& spec, const ExperimentData& data, const ModelTask& task,
                    const PoolModel& model, const Cell& cell);

/// What the target would be asked to measure: distinct architectures of its training rows that the whole pool has
/// measured too.
std::vector<Architecture> choose_samples(const ExperimentSpec& spec, const ExperimentData& data, const ModelTask& task,
                                         const Cell& cell);

}  // namespace tenshot::trainer::evaluation
