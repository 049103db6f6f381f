#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/tables/findings.h"
#include "datasets/tables/measurements.h"
#include "datasets/tables/operator_latencies.h"
#include "descriptor/counters/operator_counts.h"
#include "nasbench/graph/operator_sequence.h"

namespace tenshot::datasets {

using descriptor::default_counters;

/// A row of a hardware descriptor: of an operator alone, or of one more inside a network (nasbench::OperationChain).
struct OperatorProfile {
  std::string name;                ///< for people and files; `key` says which operator it is
  nasbench::OperatorSequence key;  ///< of an operation, the operators of one instance
  double latency_ms = 0;           ///< 0 for an operation that the runtime leaves out
  /// One for each counter where an operator ran alone, events per run; NaN where the core has no such counter.
  std::vector<double> counts = {};
};

/// What a device-runtime looks like from its operators (MAPLE-Edge §2.1.2, §2.3).
struct HardwareDescriptor {
  std::string source = "none";        ///< perf_event, perf_stat, callgrind, latency_only, none
  std::vector<std::string> counters;  ///< names; empty for latency_only and none
  std::vector<OperatorProfile> operators;
  std::vector<OperatorProfile> in_network;        ///< empty where it was not measured
  std::map<std::string, std::string> conditions;  ///< how all this was measured

  bool simulated() const { return source == "callgrind"; }
  bool has_latencies() const { return !operators.empty(); }
  bool has_counters() const { return !operators.empty() && !counters.empty(); }
  bool has_in_network() const { return !in_network.empty(); }
};

/// A device-runtime: a device, a runtime and its settings, and what was measured of it.
struct DeviceRuntime {
  std::string id;  ///< unique in its pool; letters, digits, '.', '_', '-'; names its folder
  std::string device;
  std::string runtime;
  std::string precision;              ///< "fp32"; empty when unknown
  int batch = 1;                      ///< 0 when unknown
  int threads = 0;                    ///< 0 when unknown
  std::vector<int> input_shape = {};  ///< channels, height, width; empty when unknown
  /// Free-form conditions (CPU, clocks, versions, date, repeatability) as JSON text, "{}" when none.
  std::string environment = "{}";
  HardwareDescriptor descriptor = {};
  Quantity quantity = Quantity::latency;  ///< what `latencies` are
  std::vector<Measurement> latencies = {};
  /// What operators take inside networks, where that was measured; of a pool of latencies.
  std::vector<OperatorLatency> operator_latencies = {};
};

/// The device file of DeviceRuntime (`tenshot.device/1`), which device_file_from_json() reads. Throws FormatError when
/// the environment is no JSON.
nlohmann::json to_json(const DeviceRuntime& device, const NetworkSpace& space);

/// Device-runtimes measured on one search space.
struct Pool {
  const NetworkSpace* space = nullptr;
  std::vector<DeviceRuntime> devices;
  Findings findings;  ///< what reading left out

  const DeviceRuntime* find(std::string_view id) const;
  /// What its devices measured; latencies where it has none.
  Quantity quantity() const { return devices.empty() ? Quantity::latency : devices.front().quantity; }
};

/// Reads every `*/device.json` below `folder`, in the order of the ids, with its latencies, what its `operators.csv`
/// says of operators inside networks (operators/kernel_table.h), and what the folder keeps of their space
/// (space_files.h). Throws FileError (no such folder, no device in it), FormatError (a device file that is none),
/// InputError (devices of different spaces, or two with one id).
///
/// With a quantity asked for, the devices that hold it: those whose device file names it, and those whose measurements
/// have its column; the others are left out. Otherwise each device's own, which must be the same of all (InputError).
/// A hardware descriptor says what operators take, in ms: a pool of anything but latencies comes without.
Pool read_pool(const std::filesystem::path& folder, std::optional<Quantity> quantity = std::nullopt);

/// One device file and its latencies: `path` is the device.json or the folder that holds it; what says more of its
/// space stands beside that folder, or in it. Throws InputError when a quantity is asked for that it does not hold.
struct DeviceOfSpace {
  const NetworkSpace* space = nullptr;
  DeviceRuntime device;
  Findings findings;
};
DeviceOfSpace read_device(const std::filesystem::path& path, std::optional<Quantity> quantity = std::nullopt);

/// Writes `folder/<id>/device.json`, `latencies.csv` and where operators were measured `operators.csv`, atomically
/// each, the device file last, so that a device file never names latencies that are not there; and before them what the
/// folder has to keep of their space. Throws InputError when an id could not be a folder's name, or the device holds
/// what a device file cannot.
void write_device(const std::filesystem::path& folder, const DeviceRuntime& device, const NetworkSpace& space);
void write_pool(const std::filesystem::path& folder, const Pool& pool);

/// Rows [begin, end) of a table by their `index` column (their position when there is none).
struct RowRange {
  long long begin = 0;
  long long end = 0;
};
/// "0:900" → {0, 900}. Throws InputError.
RowRange parse_row_range(std::string_view text);

/// What of a table with one column for each device-runtime becomes a pool.
struct WideTableOptions {
  std::vector<std::string> devices;       ///< columns to read, in this order; empty = all
  std::optional<RowRange> rows;           ///< rows to read: what is left out can be predicted later; nothing = all
  Quantity quantity = Quantity::latency;  ///< what the columns hold, in its unit
  double unit_ms = 1;                     ///< what a latency of 1 in the table is, in ms
  /// What operators take inside the networks, by device; a device keeps those of the networks that are read. A device
  /// that is no column is an InputError.
  std::map<std::string, std::vector<OperatorLatency>> operator_latencies = {};
};

/// Reads a wide table: `architecture`, an optional `index`, one column of latencies in ms per device-runtime.
/// Throws FileError, InputError (no header, no `architecture`, a device asked for that is no column: lists them).
Pool read_wide_table(const std::filesystem::path& path, const NetworkSpace& space, const WideTableOptions& options);
Pool parse_wide_table(std::string_view text, const std::string& file, const NetworkSpace& space,
                      const WideTableOptions& options);

/// The pool as a matrix: the architectures any device measured, in order of first appearance, and latency [device]
/// [architecture] in ms, NaN where that device did not measure that architecture.
struct LatencyMatrix {
  std::vector<Architecture> architectures;
  std::vector<std::vector<double>> latency_ms;
};
LatencyMatrix latency_matrix(const Pool& pool);

/// The ids of the pool's device-runtimes, in its order.
std::vector<std::string> device_ids(const Pool& pool);

/// SHA-256 over space, ids, architectures, latencies and descriptors: equal pools have equal hashes, whatever files
/// they came from and in whatever order devices and rows stood there.
std::string content_hash(const Pool& pool);

}  // namespace tenshot::datasets
