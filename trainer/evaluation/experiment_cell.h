#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "datasets/pool/pool.h"
#include "trainer/core/metrics.h"
#include "trainer/core/predictor.h"
#include "trainer/evaluation/grid.h"

namespace tenshot::trainer::evaluation {

/// What came out of a cell.
struct CellResult {
  GridCell cell;
  std::size_t measured = 0;     ///< architectures adapted on
  std::string descriptor = {};  ///< what of the target's descriptor was used; empty where nobody noted it
  Metrics metrics = {};         ///< intervals at confidence .9
  /// How often intervals asked to hold with a confidence do, by the confidence; empty without intervals.
  std::map<double, double> calibration = {};
  /// Measured and predicted latencies of the target's test rows, in their order; of first trials only.
  std::vector<double> measured_ms = {};
  Predictions predictions = {};
};

/// The result as JSON, without the cell that it is of.
nlohmann::json to_json(const CellResult& result);
/// Throws FormatError that names `file`.
CellResult cell_result_from_json(const GridCell& cell, const nlohmann::json& json, const std::string& file);

/// Trains the model that cells share; unfinished training is kept in `state_file`.
std::unique_ptr<PoolModel> train_model(const Experiment& experiment, const ModelTask& task,
                                       const std::filesystem::path& state_file);

/// What planning knows from a pool of the experiment, and from nothing else: every method of a trial is planned alike.
struct PoolPrior {
  datasets::Pool pool;
  std::shared_ptr<const PlanningPrior> prior;
};
using PlanningPriors = std::map<std::vector<std::string>, PoolPrior>;  ///< by the pool's device-runtimes
/// The prior of the cell's pool, built when it is first asked for. Throws what planning_prior() throws.
std::shared_ptr<const PlanningPrior> prior_of(PlanningPriors& priors, const Experiment& experiment,
                                              const GridCell& cell);

/// Samples the target, adapts `model` to it, predicts its test rows and compares. The samples are a function of pool,
/// sampler, number and trial: the same for every method. Throws InputError (too few candidates), and as adapt().
CellResult run_cell(const Experiment& experiment, const GridCell& cell, const PoolModel& model, PlanningPriors& priors);

/// What the target would be asked to measure: distinct architectures of its training rows that the whole pool measured
/// too. A method with a sampler of its own is planned by what `model` has learned, where there is one that can plan.
std::vector<Architecture> choose_samples(const Experiment& experiment, const GridCell& cell, PlanningPriors& priors,
                                         const PoolModel* model = nullptr);

}  // namespace tenshot::trainer::evaluation
