#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "descriptor/cold/cold_files.h"
#include "descriptor/cold/cold_weights.h"
#include "descriptor/onednn/prepared_layer.h"

namespace tenshot::descriptor {

/// A kernel that a plan prepares, of the start or of a switch, and where its weights come from.
struct KernelUse {
  std::size_t layer = 0;
  std::string kernel;
  bool cached = false;
  std::size_t record = 0;  ///< in the file of weights; a switch that reads what its layer reads shares the layer's
};

/// The plan's layers in order, then its switches. Record i of the file of weights belongs to use i.
std::vector<KernelUse> kernel_uses(const ColdPlan& plan);

/// What one thread loads weights into.
struct WeightMemory {
  Arena kept;      ///< as long as the network is executed
  Buffer passing;  ///< raw weights until they are transformed
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

  /// Reads the weights of kernel_uses(plan)[use], transforms them unless they are stored transformed, and gives them to
  /// `layer`. Several threads may do so for different layers, each with a memory of its own. Throws as ModelWeights
  /// where the model is needed and cannot be read, or is not the one that was planned for.
  LoadTimes load(std::size_t use, PreparedLayer& layer, dnnl::stream& stream, WeightMemory& memory);

 private:
  LoadTimes load_from_model(const KernelUse& use, PreparedLayer& layer, dnnl::stream& stream, WeightMemory& memory);

  const ColdPlan& plan_;
  std::vector<KernelUse> uses_;
  std::filesystem::path model_;
  std::optional<WeightFile> stored_;
  std::mutex mutex_;  ///< guards weights_
  std::unique_ptr<ModelWeights> weights_;
};

}  // namespace tenshot::descriptor
