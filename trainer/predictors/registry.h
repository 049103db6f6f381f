#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/pool/pool.h"
#include "nasbench/spaces/network_space.h"
#include "trainer/core/options.h"
#include "trainer/core/predictor.h"

namespace tenshot::trainer {

/// A predictor as the program knows it. Adding one is adding a row to registry.cpp: no room but its own tests its name.
struct PredictorRow {
  using LoadModel = std::function<std::unique_ptr<PoolModel>(const Archive& archive)>;
  using LoadPredictor = std::unique_ptr<Predictor> (*)(const Archive& archive);

  std::string name;
  std::string meaning;                          ///< one line for `--help`
  LoadModel load_model = nullptr;               ///< from a pool checkpoint
  LoadPredictor load_predictor = nullptr;       ///< from a predictor file
  std::vector<std::string> adapt_options = {};  ///< options of `tenshot adapt` that only some predictors have
  std::vector<std::string> adapt_keys = {};     ///< the same of an experiment's method (trainer/evaluation/spec.h)
  std::string richest_descriptor = "counters";  ///< what of a descriptor it can use at most
  bool needs_decisions = true;   ///< false where networks by name will do (nasbench::NetworkSpace::composed)
  bool keeps_knowledge = false;  ///< whether its checkpoints may leave the pool's rows out (PoolModel::without_rows)
  /// What training can be told: keys of an experiment, options of `tenshot train`.
  std::vector<OptionText> settings = {};
  /// All settings, the default where `given` says nothing. Throws BadOption.
  std::function<nlohmann::json(const nlohmann::json& given)> complete = [](const auto&) {
    return nlohmann::json::object();
  };
  /// Trains with some settings, or all. Nothing for a predictor that does not learn from a pool.
  std::function<std::unique_ptr<PoolModel>(const datasets::Pool& pool, const nlohmann::json& settings,
                                           const TrainingControl& control)>
      train = nullptr;

  bool adapts_by(const std::string& option) const;  ///< whether it is among adapt_options
};

/// All predictors, the default first.
const std::vector<PredictorRow>& predictor_registry();

/// Names of the predictors that are trained on a pool, in the registry's order.
std::vector<std::string> predictor_names();

/// The default of `tenshot train`: `structured` where execution structures of the space are known, else `operators`.
std::string default_predictor(const nasbench::NetworkSpace& space);

/// The row of the predictor called `name`. Throws InputError that lists the names.
const PredictorRow& predictor_row(const std::string& name);

/// Trains the predictor called `name` on a pool with the settings that are given; the others are the defaults. Throws
/// InputError (no such predictor or setting, a pool it cannot learn from), BadOption, Interrupted.
std::unique_ptr<PoolModel> train_pool_model(const std::string& name, const datasets::Pool& pool,
                                            const nlohmann::json& settings, const TrainingControl& control);

/// Load a pool checkpoint or a predictor by the name in its card. Throw FileError, FormatError.
std::unique_ptr<PoolModel> load_pool_model(const std::filesystem::path& path);
std::unique_ptr<Predictor> load_predictor(const std::filesystem::path& path);
/// The same of a predictor file's content, which messages call `name`.
std::unique_ptr<Predictor> parse_predictor(std::string_view bytes, const std::string& name);

}  // namespace tenshot::trainer
