#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "datasets/pool/pool.h"
#include "datasets/tables/quantity.h"
#include "descriptor/machine/memory.h"
#include "descriptor/runtimes/runtime.h"
#include "descriptor/timing/timing.h"
#include "nasbench/graph/network.h"
#include "nasbench/spaces/architecture.h"

namespace tenshot::datasets {

/// How a network is to be started in a process that has run nothing before.
struct StartRequest {
  descriptor::RuntimeOptions options;  ///< without weights
  std::filesystem::path weights;       ///< of write_weights_file (descriptor/runtimes/runtime.h), or an ONNX file
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
  std::filesystem::path weights;          ///< of write_weights_file (descriptor/runtimes/runtime.h)
  std::string network;                    ///< an architecture or a file *.onnx
  bool empty = false;                     ///< the empty network instead (empty_network)
  std::filesystem::path output;           ///< passing: what the process says
  double time_limit_s = 0;                ///< of the process; 0: none
  std::function<bool()> go_on = nullptr;  ///< asked while it runs; false stops it
};

/// What the process said of its start. Throws Interrupted when `go_on` said so; Error when the process failed, took too
/// long, or said something else.
FreshStart start_in_process(const StartProcess& process);

/// A network's starts: medians of their parts.
struct StartRow {
  descriptor::Timing value;   ///< of the quantity, in its unit
  std::vector<double> parts;  ///< as StartTable::parts; NaN where unknown
};

/// The starts of networks, in the order in which they were measured: a CSV with the columns of measurements
/// (datasets/tables/measurements.h) and one for each part.
class StartTable {
 public:
  explicit StartTable(Quantity quantity) : quantity_(quantity) {}

  /// Columns beside the quantity's own: of cold latency `load_ms, prepare_ms, first_ms, warm_ms, memory_mib`, of others
  /// none.
  const std::vector<std::string>& parts() const;
  bool has(const Architecture& architecture) const { return rows_.count(architecture) != 0; }
  const std::vector<Architecture>& order() const { return order_; }
  void add(const Architecture& architecture, StartRow row);
  /// Adds the rows of `file` whose value is positive. Throws FileError, InputError.
  void read(const std::filesystem::path& file, const NetworkSpace& space);
  std::string to_csv(const NetworkSpace& space) const;
  std::vector<Measurement> measurements() const;

 private:
  Quantity quantity_;
  std::vector<Architecture> order_;
  std::unordered_map<Architecture, StartRow, nasbench::ArchitectureHash> rows_;
};

/// The starts of a network: all of them, and those that the machine did not interfere with.
struct StartSample {
  std::vector<FreshStart> all, quiet;

  void add(const FreshStart& start);
};

/// Whether the 95 % confidence interval of the median of the quantity (cold latency, or peak memory) is within
/// `relative_precision` of it.
bool median_within(double relative_precision, const std::vector<FreshStart>& starts, Quantity quantity);

/// Medians of the starts, one at least. `memory_mib` is what they took beyond the runtime itself, empty where the
/// system does not say that. Throws Error where memory is the quantity and unknown.
StartRow row_of(const std::vector<FreshStart>& starts, const std::vector<double>& memory_mib, Quantity quantity);

/// The starts of networks that are started in rounds, until the last round makes a row of them. The file has a line of
/// JSON for each start, written when the start has ended, so that a process that is killed loses none of them. A line
/// that is damaged, or of a network that the space does not know, is as good as none.
class StartJournal {
 public:
  /// Reads the file, where there is one. Throws FileError.
  StartJournal(std::filesystem::path file, const NetworkSpace& space);

  /// The starts of a network, in the order in which they were made.
  std::vector<FreshStart> of(const Architecture& architecture) const;
  /// Throws FileError where the line cannot be written.
  void add(const Architecture& architecture, const FreshStart& start);
  /// Removes the file.
  void forget();

 private:
  std::filesystem::path file_;
  const NetworkSpace& space_;
  std::unordered_map<Architecture, std::vector<FreshStart>, nasbench::ArchitectureHash> starts_;
};

}  // namespace tenshot::datasets
