#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/pool/pool.h"
#include "nasbench/spaces/search_space.h"
#include "trainer/core/predictor.h"
#include "trainer/predictors/maple_edge/maple_edge.h"

namespace tenshot::trainer {

/// One predictor as the program knows it. Adding a predictor is adding a row to the table in registry.cpp; nothing
/// else tests a predictor's name.
struct PredictorRow {
  using Train = std::unique_ptr<PoolModel> (*)(const std::string& name, const datasets::Pool& pool,
                                               const MapleEdgeSettings& settings, const TrainingControl& control,
                                               const nlohmann::json& posterior);
  using PosteriorOptions = nlohmann::json (*)(const nlohmann::json& given);
  using LoadModel = std::unique_ptr<PoolModel> (*)(const Archive& archive);
  using Settings = MapleEdgeSettings (*)();
  using LoadPredictor = std::unique_ptr<Predictor> (*)(const Archive& archive);

  std::string name;
  std::string meaning;                          ///< one line for `--help`
  std::vector<std::string> train_options;       ///< options of `tenshot train` that only some predictors have
  std::vector<std::string> adapt_options;       ///< the same of `tenshot adapt`
  Train train = nullptr;                        ///< nothing for a predictor that does not learn from a pool
  LoadModel load_model = nullptr;               ///< from a pool checkpoint
  LoadPredictor load_predictor = nullptr;       ///< from a predictor file
  std::string richest_descriptor = "counters";  ///< what of a descriptor it can use at most
  Settings settings = nullptr;  ///< of a regression network, unless told otherwise; nothing for the others
  bool needs_decisions = true;  ///< false where networks by name will do (nasbench::SearchSpace::composed)
  /// Keys of an experiment's method (trainer/evaluation/spec.h) that only some predictors have.
  std::vector<std::string> method_keys = {};
  /// What adaptation assumes, the key "posterior" of a method: all of it, the default where `given` says nothing.
  /// Throws nlohmann::json::exception, or InputError that names the first value out of range. Nothing for the others.
  PosteriorOptions posterior_options = nullptr;
  bool keeps_knowledge = false;  ///< whether its checkpoints may leave the pool's rows out (PoolModel::without_rows)
};

/// All predictors, the default first.
const std::vector<PredictorRow>& predictor_registry();

/// Names of the predictors that are trained on a pool, in the registry's order.
std::vector<std::string> predictor_names();

/// The settings of the predictor called `name` unless told otherwise; those of the struct where it has none of its own.
MapleEdgeSettings default_settings(const std::string& name);

/// Whether it is a regression network, with modes and clones.
bool is_network(const std::string& name);

/// What of a hardware descriptor the predictor can use at most: "in-network" or "counters".
std::string richest_descriptor(const std::string& name);

/// The predictor that `tenshot train` takes for a pool of `space` unless told otherwise: `structured` where execution
/// structures are known, else `operators`.
std::string default_predictor(const nasbench::SearchSpace& space);

/// The row of the predictor called `name`. Throws InputError that lists the names.
const PredictorRow& predictor_row(const std::string& name);

/// Trains the predictor called `name` on a pool. The seed of `settings` seeds every predictor; the rest of it concerns
/// the predictors whose row names its options, and `posterior` those whose row has posterior_options. Throws InputError
/// (no such predictor, a pool it cannot learn from), Interrupted.
std::unique_ptr<PoolModel> train_pool_model(const std::string& name, const datasets::Pool& pool,
                                            const MapleEdgeSettings& settings, const TrainingControl& control,
                                            const nlohmann::json& posterior = nullptr);

/// Load a pool checkpoint or a predictor by the name in its card. Throw FileError, FormatError.
std::unique_ptr<PoolModel> load_pool_model(const std::filesystem::path& path);
std::unique_ptr<Predictor> load_predictor(const std::filesystem::path& path);
/// The same of a predictor file's content, which messages call `name`.
std::unique_ptr<Predictor> parse_predictor(std::string_view bytes, const std::string& name);

}  // namespace tenshot::trainer
