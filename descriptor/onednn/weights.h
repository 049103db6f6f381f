#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "descriptor/cold/cold_plan.h"
#include "descriptor/cold/weight_file.h"
#include "descriptor/onednn/prepared_layer.h"
#include "nasbench/graph/onnx_weights.h"

namespace tenshot::descriptor {

/// Key of a plan's file of weights: what it was made of, and for.
std::string weights_key(const ColdPlan& plan);

/// Raw weights of one layer and its bias behind them, as they are stored where a plan reads raw weights.
std::string raw_record(const ColdNetwork& network, const ColdLayer& layer, const nasbench::OnnxWeights& weights);

/// What one thread loads weights into.
struct WeightMemory {
  Arena kept;       ///< as long as the network is executed
  Buffer passing;   ///< raw weights until they are transformed
};

/// What loading one layer's weights took, milliseconds.
struct LoadTimes {
  double read_ms = 0, transform_ms = 0;
  bool from_model = false;  ///< the stored weights were missing or damaged
};

/// Where a cold start has its weights from: the folder's file, or, for what it lacks, the model.
class WeightSource {
 public:
  WeightSource(const ColdPlan& plan, const std::filesystem::path& folder, std::filesystem::path model);

  /// Reads the weights of layer i, transforms them unless they are stored transformed, and gives them to `layer`.
  /// Several threads may do so for different layers, each with a memory of its own. Throws as OnnxWeights where the
  /// model is needed and cannot be read.
  LoadTimes load(std::size_t i, PreparedLayer& layer, dnnl::stream& stream, WeightMemory& memory);

 private:
  LoadTimes load_from_model(std::size_t i, PreparedLayer& layer, dnnl::stream& stream, WeightMemory& memory);

  const ColdPlan& plan_;
  std::filesystem::path model_;
  std::optional<WeightFile> stored_;
  std::mutex mutex_;  ///< of the model
  std::unique_ptr<nasbench::OnnxWeights> weights_;
};

}  // namespace tenshot::descriptor
