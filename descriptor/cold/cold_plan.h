#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "descriptor/cold/cold_network.h"

namespace tenshot::descriptor {

/// What a plan decides for one layer (NNV12 §3.2: which kernel, raw or cached weights, where they are prepared).
struct PlannedLayer {
  std::string kernel;   ///< KernelStages::name
  bool cached = false;  ///< reads transformed weights, which bypasses the transformation
  int core = 0;         ///< that reads, transforms and creates: 0 executes too, 1 and above only prepare
};

/// A kernel that a layer changes to for the runs after the first one (NNV12 §3.5).
struct PlannedSwitch {
  int layer = 0;
  std::string kernel;
  bool cached = false;  ///< its transformed weights are stored beside those of the start
};

/// How to start a network cold: `tenshot.cold-plan/1`. Core 0 first prepares its layers in order, then executes all of
/// them; every other core prepares its own in order (the lists Q of NNV12's Algorithm 1).
struct ColdPlan {
  std::string strategy;                                    ///< how it was made, for people
  std::string model, model_sha256, network_hash, machine;  ///< as in ColdStages
  int preparing_cores = 1;
  double predicted_ms = 0;
  double lower_bound_ms = 0;  ///< no plan of these stages is faster
  double warm_ms = 0;         ///< predicted for the kernels of the plan
  ColdNetwork network;
  std::vector<PlannedLayer> layers;
  std::vector<PlannedSwitch> switches;  ///< at most one for each layer, in the order that they are prepared
  double switched_ms = 0;               ///< predicted for a run after all switches; 0 without any
};

std::string to_text(const ColdPlan& plan);
/// Throws FileError, FormatError, one line that names the file and the place.
ColdPlan read_plan(const std::filesystem::path& path);

}  // namespace tenshot::descriptor
