#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "descriptor/machine/page_cache.h"
#include "descriptor/runtimes/runtime.h"
#include "nasbench/graph/network.h"

namespace tenshot::datasets {

/// How a network is to be started in a process that has run nothing before.
struct StartRequest {
  descriptor::RuntimeOptions options;  ///< without weights
  std::filesystem::path weights;       ///< descriptor/runtimes/weights_file.h, or an ONNX file
  int warm_runs = 20;                  ///< after the first; more tell the warm latency better, and take longer
};

/// What one start took, from the file of the weights to the first output, ms. The process has loaded its libraries by
/// then and knows the network's structure, as a program has that is compiled for it.
struct FreshStart {
  double cold_ms = 0;                     ///< all of it, by one clock
  double load_ms = 0;                     ///< reading the weights into memory
  double prepare_ms = 0;                  ///< the runtime builds, compiles, optimises
  double first_ms = 0;                    ///< first run
  double warm_ms = 0;                     ///< median of the runs after it
  std::optional<double> peak_memory_mib;  ///< of the process, runs included
  descriptor::CachedPages cached;  ///< of the file just before it was read, after the system was asked to forget it
  bool contended = false;          ///< the machine interfered (descriptor::contended)
};

/// Whether a cold start of the runtime reads the network as an ONNX file, and not a file of its weights.
bool reads_onnx(const descriptor::Runtime& runtime);

/// Starts `network` in this process, which should be a fresh one. Throws as Runtime::prepare and read_weights_file.
FreshStart start_network(const descriptor::Runtime& runtime, const nasbench::Network& network,
                         const StartRequest& request);

/// One line of JSON, for the process that waits for it.
nlohmann::json to_json(const FreshStart& start);
/// The inverse. Throws nlohmann::json::exception.
FreshStart start_from_json(const nlohmann::json& json);

/// A network that gives its input as its output: what a runtime takes when it does nothing.
nasbench::Network empty_network(const nasbench::Network& like);

/// One start in a process of its own.
struct StartProcess {
  std::vector<std::string> command;       ///< what starts a network, without what it starts
  std::filesystem::path weights;          ///< descriptor/runtimes/weights_file.h
  std::string network;                    ///< an architecture or a file *.onnx
  bool empty = false;                     ///< the empty network instead (empty_network)
  std::filesystem::path output;           ///< passing: what the process says
  double time_limit_s = 0;                ///< of the process; 0: none
  std::function<bool()> go_on = nullptr;  ///< asked while it runs; false stops it
};

/// What the process said of its start. Throws Interrupted when `go_on` said so; Error when the process failed, took too
/// long, or said something else.
FreshStart start_in_process(const StartProcess& process);

}  // namespace tenshot::datasets
