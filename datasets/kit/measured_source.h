#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "datasets/kit/conditions.h"
#include "datasets/kit/kit_results.h"
#include "datasets/pool/pool.h"
#include "datasets/tables/findings.h"
#include "datasets/tables/fleet.h"
#include "datasets/tables/operator_latencies.h"
#include "datasets/tables/quantity.h"
#include "nasbench/spaces/network_space.h"

namespace tenshot::datasets {

/// Measurements of one device-runtime, wherever a user keeps them.
struct MeasuredSource {
  std::vector<nasbench::Architecture> architectures;
  std::vector<double> latency_ms;       ///< of each, or another quantity in its unit
  std::vector<Measurement> rows;        ///< the same with deviations and runs; empty of joined sources
  std::optional<DeviceRuntime> device;  ///< of a device-runtime's folder: what it says beside its measurements
  bool whole_milliseconds = false;
  HardwareDescriptor descriptor;  ///< "none" for a CSV
  /// What operators take inside the networks: a kit's profiles say it, or a device-runtime's operators.csv.
  std::vector<OperatorLatency> operator_latencies;
  std::vector<std::string> profile_remarks;  ///< what a kit's profiles say, in a line; their problems are its findings
  Findings findings;                         ///< what is left out of a CSV or of a device-runtime's folder
  std::optional<KitResults> kit;             ///< of a kit: what it says, its findings among it
  std::string board;                         ///< which board it is, as measure.sh noted it; empty where nothing says so
  MeasuringConditions conditions;            ///< how they were measured; none where nothing says so
  std::optional<Fleet> fleet;  ///< of several boards: how they differ, and the latencies are those of the typical one

  std::vector<std::string> doubts;  ///< settings or rounds of joined sources that differ; they count as left out
  std::optional<std::size_t> left_out_of_all;  ///< of several sources that were joined (joined_sources.h)

  /// Entries that are left out, and what is doubtful about a kit.
  std::size_t left_out() const {
    return left_out_of_all ? *left_out_of_all : kit ? kit->findings.size() : findings.total();
  }
};

/// Reads a CSV of measurements (datasets/tables/measurements.h), a device-runtime's folder or its device.json
/// (datasets/pool/device_file.h), or a kit with results. Throws InputError where they are of another space or quantity,
/// where none is usable, or where a CSV holds predictions; FileError and FormatError as reading the file does.
MeasuredSource read_measured(const std::filesystem::path& path, const NetworkSpace& space, Quantity quantity);

/// The space of what a verb was given: networks by name where any of `names`, architectures or names of networks, is no
/// cell of NAS-Bench-201; else that of the first of `tables` that tells; else NAS-Bench-201. A kit and a device-runtime
/// name their space; a table, measurements or a list of architectures, is of NAS-Bench-201 where its first row names a
/// cell of it, else of networks by name; standard input, which can be read once only, and a table without a row tell
/// nothing. Throws FileError, FormatError, InputError as reading them does.
const nasbench::NetworkSpace& space_given(const std::vector<std::string>& names,
                                          const std::vector<std::filesystem::path>& tables);

}  // namespace tenshot::datasets
