#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "datasets/pool/pool.h"
#include "datasets/tables/quantity.h"
#include "descriptor/machine/child_process.h"
#include "descriptor/machine/memory.h"
#include "descriptor/runtimes/runtime.h"
#include "descriptor/timing/timing.h"
#include "nasbench/graph/network.h"
#include "nasbench/spaces/architecture.h"

namespace tenshot::datasets {

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

/// Starts `network` in this process, which should be a fresh one: `options` have no weights, which come from the file
/// `weights` (of write_weights_file, or ONNX), and after the first run there are `warm_runs`. Throws as
/// Runtime::prepare and read_weights_file.
FreshStart start_network(const descriptor::Runtime& runtime, const nasbench::Network& network,
                         descriptor::RuntimeOptions options, const std::filesystem::path& weights, int warm_runs);

/// One line of JSON, for the process that waits for it.
nlohmann::json to_json(const FreshStart& start);

/// A network that gives its input as its output: what a runtime takes when it does nothing.
nasbench::Network empty_network(const nasbench::Network& like);

/// What a process says of its start in the last line of its output, whose file is removed. Throws Error, as run_child.
FreshStart start_in_process(const descriptor::ChildProcess& child);

/// A network's starts: medians of their parts.
struct StartRow {
  descriptor::Timing value;  ///< of the quantity, in its unit
  /// load_ms, prepare_ms, first_ms, warm_ms and memory_mib of a cold start, NaN where unknown; else empty.
  std::vector<double> parts;
};

/// The starts of networks, in the order in which they were measured: a CSV with the columns of measurements
/// (datasets/tables/measurements.h) and one for each part.
class StartTable {
 public:
  explicit StartTable(Quantity quantity);

  bool has(const Architecture& architecture) const { return rows_.count(architecture) != 0; }
  const std::vector<Architecture>& order() const { return order_; }
  void add(const Architecture& architecture, StartRow row);
  /// Adds the rows of `file` whose value is positive. Throws FileError, InputError.
  void read(const std::filesystem::path& file, const NetworkSpace& space);
  std::string to_csv(const NetworkSpace& space) const;
  std::vector<Measurement> measurements() const;

 private:
  Quantity quantity_;
  std::vector<std::string> parts_;  ///< columns beside the quantity's own: of cold latency alone
  std::vector<Architecture> order_;
  nasbench::ArchitectureMap<StartRow> rows_;
};

/// The starts of a network: all of them, and those that the machine did not interfere with.
struct StartSample {
  std::vector<FreshStart> all, quiet;

  void add(const FreshStart& start) {
    all.push_back(start);
    if (!start.contended) quiet.push_back(start);
  }
};

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
  StartSample of(const Architecture& architecture) const;
  /// Throws FileError where the line cannot be written.
  void add(const Architecture& architecture, const FreshStart& start);
  /// Removes the file.
  void forget();

 private:
  std::filesystem::path file_;
  const NetworkSpace& space_;
  nasbench::ArchitectureMap<StartSample> starts_;
};

}  // namespace tenshot::datasets
