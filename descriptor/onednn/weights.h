#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "descriptor/cold/cold_plan.h"
#include "descriptor/cold/weight_file.h"
#include "descriptor/onednn/prepared_layer.h"

namespace tenshot::descriptor {

/// Key of a plan's file of weights: what it was made of, and for.
std::string weights_key(const ColdPlan& plan);

/// Raw weights of one layer and its bias behind them, as they are stored where a plan reads raw weights.
std::string raw_record(const ColdNetwork& network, const ColdLayer& layer, const nasbench::OnnxWeights& weights);

/// Where a cold start has its weights from: the folder's file, or, for what it lacks, the model.
class WeightSource {
 public:
  WeightSource(const ColdPlan& plan, const std::filesystem::path& folder, std::filesystem::path model);

  /// Reads the weights of layer i, transforms them unless they are stored transformed, and gives them to `layer`.
  /// False where it had to take them from the model. Several threads may do so for different layers. Throws as
  /// OnnxWeights where the model is needed and cannot be read.
  bool load(std::size_t i, PreparedLayer& layer, dnnl::stream& stream);

 private:
  const ColdPlan& plan_;
  std::filesystem::path model_;
  std::optional<WeightFile> stored_;
  std::mutex mutex_;  ///< of the model
  std::unique_ptr<nasbench::OnnxWeights> weights_;
};

}  // namespace tenshot::descriptor
