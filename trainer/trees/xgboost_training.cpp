#include <xgboost/c_api.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <utility>

#include "nasbench/support/error.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/text.h"
#include "trainer/trees/tree_ensemble.h"

namespace tenshot::trainer {

namespace {

void require(int status) {
  if (status != 0) throw InputError("XGBoost: " + excerpt(XGBGetLastError(), 200));
}

/// What XGBoost made, with how it is freed: rows, or the model in training.
using Handle = std::unique_ptr<void, int (*)(void*)>;

Handle matrix_of(const std::vector<float>& features, std::size_t width, const std::vector<float>& targets,
                 const std::vector<float>& weights) {
  DMatrixHandle made = nullptr;
  require(XGDMatrixCreateFromMat(features.data(), targets.size(), width, std::nanf(""), &made));
  Handle matrix(made, XGDMatrixFree);
  require(XGDMatrixSetFloatInfo(made, "label", targets.data(), targets.size()));
  require(XGDMatrixSetFloatInfo(made, "weight", weights.data(), weights.size()));
  return matrix;
}

Handle booster_of(const Handle& matrix, const TreeOptions& options, std::size_t width, double base) {
  const DMatrixHandle rows = matrix.get();
  BoosterHandle made = nullptr;
  require(XGBoosterCreate(&rows, 1, &made));
  Handle booster(made, XGBoosterFree);
  const double least_share = 1.0 / static_cast<double>(width);
  const std::vector<std::pair<const char*, std::string>> settings = {
      {"verbosity", "0"},
      {"nthread", "1"},
      {"objective", "reg:squarederror"},
      {"base_score", shortest(base)},
      {"tree_method", "hist"},
      {"max_bin", "1024"},
      {"lambda", "0"},
      {"seed", std::to_string(options.seed % 2147483647)},
      {"num_parallel_tree", std::to_string(options.trees)},
      {"eta", shortest(options.learning_rate)},
      {"max_depth", std::to_string(options.depth)},
      {"min_child_weight", shortest(options.smallest_leaf)},
      {"subsample", shortest(options.row_share)},
      {"colsample_bynode", shortest(std::max(options.feature_share, least_share))}};
  for (const auto& [name, value] : settings) require(XGBoosterSetParam(made, name, value.c_str()));
  return booster;
}

/// Appends node `from` of XGBoost's tree and everything below it, a parent before its children.
std::int32_t append(const nlohmann::json& tree, std::size_t from, SplitTree& result) {
  const auto index = static_cast<std::int32_t>(result.nodes.size());
  const int left = tree.at("left_children").at(from), right = tree.at("right_children").at(from);
  const float condition = tree.at("split_conditions").at(from);  // the value of a leaf
  if (left < 0) {
    result.nodes.push_back({-1, 0, index, index, condition});
    return index;
  }
  result.nodes.push_back({tree.at("split_indices").at(from), condition, 0, 0, 0});
  const std::int32_t less = append(tree, static_cast<std::size_t>(left), result);
  const std::int32_t other = append(tree, static_cast<std::size_t>(right), result);
  SplitNode& node = result.nodes[static_cast<std::size_t>(index)];
  node.less = less;
  node.other = other;
  return index;
}

TreeEnsemble read_model(const Handle& booster, double base) {
  bst_ulong length = 0;
  const char* text = nullptr;
  require(XGBoosterSaveModelToBuffer(booster.get(), R"({"format": "json"})", &length, &text));
  const nlohmann::json model = nlohmann::json::parse(text, text + length);
  TreeEnsemble ensemble;
  ensemble.base = base;
  for (const nlohmann::json& tree : model.at("learner").at("gradient_booster").at("model").at("trees")) {
    ensemble.trees.emplace_back();
    append(tree, 0, ensemble.trees.back());
  }
  return ensemble;
}

/// What we read from XGBoost's model must predict what XGBoost predicts.
void require_same(const TreeEnsemble& ensemble, const std::vector<float>& features, std::size_t width,
                  const Handle& booster, const Handle& matrix) {
  bst_ulong length = 0;
  const float* expected = nullptr;
  require(XGBoosterPredict(booster.get(), matrix.get(), 0, 0, 0, &length, &expected));
  for (std::size_t row = 0; row < length; ++row) {
    const double own = ensemble.predict(features.data() + row * width);
    if (std::abs(own - expected[row]) > 1e-4 * std::max(1.0, std::abs(own))) {
      throw InputError("XGBoost's model reads as " + shortest(own) + " where XGBoost predicts " +
                       shortest(expected[row]) + "; this version of XGBoost is not supported (known: 1.7)");
    }
  }
}

}  // namespace

bool has_xgboost() { return true; }

TreeEnsemble train_trees(const std::vector<float>& features, std::size_t width, const std::vector<double>& targets,
                         const std::vector<double>& weights, const TreeOptions& options) {
  const std::size_t rows = targets.size();
  if (rows == 0 || width == 0 || features.size() != rows * width || (!weights.empty() && weights.size() != rows)) {
    throw InputError("trees need at least one row, and as many features and weights of each");
  }
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  const double scale = weights.empty() ? 1 : static_cast<double>(rows) / total;
  std::vector<float> labels(targets.begin(), targets.end()), row_weights(rows, 1.0F);
  double mean = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    if (!weights.empty()) row_weights[i] = static_cast<float>(scale * weights[i]);
    mean += static_cast<double>(row_weights[i]) * targets[i] / static_cast<double>(rows);
  }
  const double base = options.rounds > 1 ? static_cast<double>(static_cast<float>(mean)) : 0;
  const Handle matrix = matrix_of(features, width, labels, row_weights);
  const Handle booster = booster_of(matrix, options, width, base);
  for (int round = 0; round < options.rounds; ++round) {
    require(XGBoosterUpdateOneIter(booster.get(), round, matrix.get()));
  }
  TreeEnsemble ensemble = read_model(booster, base);
  require_same(ensemble, features, width, booster, matrix);
  return ensemble;
}

}  // namespace tenshot::trainer
