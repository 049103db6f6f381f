#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "datasets/pool/pool.h"
#include "trainer/evaluation/spec.h"

namespace tenshot::trainer::evaluation {

/// The latencies of an experiment: the same device-runtimes on the training rows and on the test rows.
struct ExperimentData {
  datasets::Pool train;
  datasets::Pool test;
  std::string sha256;                  ///< hash of the content of all
  std::optional<datasets::Pool> pool;  ///< Split::pool, where it is said

  /// What pools are made of.
  const datasets::Pool& known() const { return pool ? *pool : train; }
};

/// A pool and a method trained on it, that cells share.
struct ModelTask {
  std::vector<std::string> members;  ///< ids of the pool's device-runtimes
  std::size_t method = 0;
  std::string descriptor;   ///< descriptor kind
  nlohmann::json settings;  ///< of its training, with that kind and the experiment's seed
  std::string key;          ///< names its file: equal keys are equal models
};

/// One row of the results: a method, adapted to a target from the samples of a trial.
struct GridCell {
  std::size_t method = 0;
  std::size_t pool = 0;     ///< strategy
  std::string sampler;      ///< "all": nothing is chosen, everything is measured
  std::size_t samples = 0;  ///< every_sample for "all"
  std::optional<int> clones;
  std::string target;
  std::string pool_device;  ///< the pool's device, in a strategy that takes one at a time
  int trial = 0;
  std::size_t model = 0;  ///< index in Experiment::models

  /// Whether both are in one row of a table, which is a method with its pool, sampler, samples and clones.
  bool same_variant(const GridCell& other) const {
    return method == other.method && pool == other.pool && sampler == other.sampler && samples == other.samples &&
           clones == other.clones;
  }
};

/// A spec, its data, and all that it asks for of them.
struct Experiment {
  ExperimentSpec spec;
  ExperimentData data;
  std::vector<GridCell> cells = {};  ///< in the order of the results
  std::vector<ModelTask> models = {};
  std::vector<std::string> notes = {};  ///< what the data had no pool for

  const Method& method(const GridCell& cell) const { return spec.methods[cell.method]; }
  const ModelTask& model(const GridCell& cell) const { return models[cell.model]; }
};

/// Throws what reading pools and tables throws; InputError when the rows asked for are not there, when a target or a
/// device-runtime named is not in the data, or when nothing is left to do.
Experiment load_experiment(const ExperimentSpec& spec);

/// Those of `pool` that `ids` name, in their order.
datasets::Pool subset(const datasets::Pool& pool, const std::vector<std::string>& ids);

}  // namespace tenshot::trainer::evaluation
