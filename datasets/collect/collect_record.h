#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "datasets/pool/pool.h"
#include "descriptor/timing/contention.h"
#include "descriptor/timing/timing.h"

namespace tenshot::datasets {

/// How the machine was at one moment; what it does not show is empty.
struct MachineState {
  std::vector<double> load_average;
  std::optional<double> frequency_mhz;
  std::optional<double> temperature_c;
};

/// How well measuring some architectures again gave the same latencies.
struct Repeatability {
  std::size_t architectures = 0;  ///< compared: those undisturbed both times
  double median_relative_difference = 0;
  double within_10_percent = 0;  ///< share of them
};

/// An architecture that the runtime cannot run.
struct LeftOut {
  std::string architecture;
  std::string reason;
};

/// The environment of a collected device file: conditions, and how the measuring went.
struct CollectRecord {
  // Conditions. Measurements under different ones do not belong in one file.
  std::string cpu;
  std::string runtime_version;
  std::uint64_t weight_seed = 0;
  int classes = 0;
  std::string instruction_set = "native";
  descriptor::TimingOptions timing;
  std::string sentinel_architecture;

  // Circumstances.
  /// descriptor/machine/memory.h; "given back, then kept" of a device-runtime that an earlier release began to measure.
  std::string heap = "given back";
  int cores = 0;
  std::string kernel;
  std::vector<int> pinned_cpus;
  std::string started_utc, saved_utc;  ///< ISO 8601
  MachineState before, after;
  double sentinel_tolerance = 0;
  std::vector<double> sentinel_ms;  ///< of every batch, in the order of measuring
  int batch_size = 0;
  int unsettled_architectures = 0;  ///< kept although the sentinel had moved, or others contended, at every attempt
  int repeated_batches = 0;         ///< measured again for that
  int disturbed_visits = 0;         ///< thrown away at once, while measuring in turn, and made again
  std::optional<descriptor::Contention> contention;  ///< over all batches
  int sessions = 0;                                  ///< calls it took
  double preparation_s = 0;                          ///< building and compiling networks
  double warmup_s = 0;
  double measuring_s = 0;  ///< the timed loops; of it runs_s were the timed runs themselves
  double runs_s = 0;
  double sentinel_s = 0;
  std::optional<Repeatability> repeatability;
  std::vector<LeftOut> left_out;
  bool complete = false;
};

nlohmann::json to_json(const CollectRecord& record);
/// Throws InputError when the environment is not of a collected device file; `file` is for its message.
CollectRecord record_of(const DeviceRuntime& device, const std::string& file);
/// What measuring cost and how repeatable it was, in one line: "timed runs 155.9 s, their loops 1.11 times that, …".
std::string to_text(const CollectRecord& record);

/// Throws InputError that names `file` and what differs: each of `conditions` that the environment of `found` does not
/// hold with the same value, and whether the runtime, batch, threads or input shape differ.
void require_measured_alike(const DeviceRuntime& found, const DeviceRuntime& wanted, const nlohmann::json& conditions,
                            const std::string& file);

/// "2024-05-01T12:00:00Z".
std::string utc_now();
/// Each architecture once, where it comes first.
std::vector<Architecture> without_duplicates(const std::vector<Architecture>& architectures);

}  // namespace tenshot::datasets
