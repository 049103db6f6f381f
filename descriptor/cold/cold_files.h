#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "descriptor/cold/cold_network.h"

namespace tenshot::descriptor {

/// One kernel that can compute a layer (NNV12: Yi et al., MobiSys 2023, §3.1.1), and its stages' costs, ms.
struct KernelStages {
  std::string name;                ///< "brgconv:avx512_core nhwc": the implementation, and the layout of its images
  bool transforms = false;         ///< its weights have another layout than the file's
  std::uint64_t cached_bytes = 0;  ///< size of the transformed weights with the bias, as stored
  double transform_ms = 0;
  double write_cached_ms = 0;
  double read_cached_ms = 0;
  double create_ms = 0;        ///< makes the kernel: generates its code
  double create_again_ms = 0;  ///< where an equal one was made before in the process
  double first_ms = 0;         ///< the first execution
  double execute_ms = 0;       ///< a later one
  double once_ms = 0;          ///< what the first kernel of its family in the process takes beside all that
};

/// What the names of kernels begin with that were compiled with the program: a start generates no code for them.
constexpr const char* compiled_prefix = "compiled:";
inline bool is_compiled(const std::string& kernel) { return kernel.rfind(compiled_prefix, 0) == 0; }

struct LayerStages {
  int shape = 0;  ///< layers of equal numbers compute the same, weights aside, and their kernels cost the same
  std::uint64_t raw_bytes = 0;
  double read_raw_ms = 0;
  std::vector<KernelStages> kernels;  ///< in the order that the library prefers
};

/// What one layer took in a start, and when; milliseconds.
struct LayerTimes {
  double create_ms = 0, read_ms = 0, transform_ms = 0, execute_ms = 0;
  double prepared_ms = 0, executed_ms = 0;  ///< ends, from the beginning of the start
};

/// How much longer a stage takes while the other core works too: factors of at least 1 (NNV12 §3.2, "Challenges").
struct Interference {
  double preparing = 1;  ///< reading, transforming, creating while the other core executes
  double executing = 1;
};

/// What is started, and where.
struct ColdSubject {
  std::string model;         ///< the ONNX file
  std::string model_sha256;  ///< hash of the model's bytes
  std::string network_hash;  ///< nasbench::content_hash
  std::string machine;       ///< processor and library: kernels and layouts of another one differ
  ColdNetwork network;
};

/// What a cold start of a network is made of: `tenshot.cold/1`.
struct ColdStages : ColdSubject {
  bool page_cache_dropped = false;  ///< whether reading was measured without the page cache
  double start_ms = 0;              ///< opening the plan and starting the threads, apart from any layer
  Interference interference;
  std::vector<LayerStages> layers;  ///< as many as the network has
};

/// As JSON text. Reading throws FileError, FormatError, one line that names the file and the place.
std::string to_text(const ColdStages& stages);
ColdStages read_stages(const std::filesystem::path& path);

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
struct ColdPlan : ColdSubject {
  std::string strategy;  ///< how it was made, for people
  int preparing_cores = 1;
  double predicted_ms = 0;
  double lower_bound_ms = 0;  ///< no plan of these stages is faster
  double warm_ms = 0;         ///< predicted for the kernels of the plan
  std::vector<PlannedLayer> layers;
  std::vector<PlannedSwitch> switches;  ///< at most one for each layer, in the order that they are prepared
  double switched_ms = 0;               ///< predicted for a run after all switches; 0 without any
};

std::string to_text(const ColdPlan& plan);
/// Throws FileError, FormatError, one line that names the file and the place.
ColdPlan read_plan(const std::filesystem::path& path);

}  // namespace tenshot::descriptor
