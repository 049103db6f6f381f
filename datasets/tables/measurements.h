#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/tables/findings.h"
#include "datasets/tables/quantity.h"
#include "nasbench/spaces/network_space.h"

namespace tenshot::datasets {

using nasbench::Architecture;
using nasbench::NetworkSpace;

/// One architecture measured on one device-runtime.
struct Measurement {
  Architecture architecture;
  double latency_ms = 0;  ///< finite and positive; or another quantity, in its unit
  double stddev_ms = std::numeric_limits<double>::quiet_NaN();  ///< NaN where the file has none
  std::int64_t runs = 0;                                        ///< 0 where the file has none
  /// What the sentinel network took in the same batch: the speed of the machine then. NaN where the file has none.
  double sentinel_ms = std::numeric_limits<double>::quiet_NaN();
};

/// The usable rows of a measurements table, in the file's order, each architecture once.
struct Measurements {
  std::vector<Measurement> rows;
  Findings findings;        ///< what was left out
  std::size_t entries = 0;  ///< rows of the file, used or not
};

/// What a latency entry of a table says: a finite and positive number of ms, or why it is unusable.
struct LatencyEntry {
  double latency_ms = 0;
  std::optional<Problem> problem;
};
LatencyEntry parse_latency(std::string_view text);

/// True when there are at least five values and all that are finite are whole numbers: the clock's step is 1 ms then.
/// NaN stands for what was not measured.
bool are_whole_milliseconds(const std::vector<double>& latencies_ms);

/// Reads `architecture,latency_ms[,stddev_ms,runs,sentinel_ms]` (CSV with a header, extra columns ignored, UTF-8,
/// either line end;
/// "-" is standard input). Unusable entries become findings; a row whose architecture stood before is a duplicate and
/// the first one counts. An unusable stddev_ms, runs or sentinel_ms is a finding too, but its row stays, without it.
/// The columns of another quantity are called by it: `architecture,energy_mj[,stddev_mj,runs]`.
/// Throws FileError, InputError (empty file, no header, wrong columns: names the columns found, and the quantity whose
/// column is there instead).
Measurements read_measurements(const std::filesystem::path& path, const NetworkSpace& space,
                               Quantity quantity = Quantity::latency);
Measurements parse_measurements(std::string_view text, const std::string& file, const NetworkSpace& space,
                                Quantity quantity = Quantity::latency);

/// Writes `architecture,latency_ms,stddev_ms,runs`, and `sentinel_ms` where a row has one, atomically, numbers in their
/// shortest exact form; of another quantity by its columns.
void write_measurements(const std::filesystem::path& path, const std::vector<Measurement>& rows,
                        const NetworkSpace& space, Quantity quantity = Quantity::latency);

/// Reads the `architecture` column (candidates, archs, plans): usable architectures once each in file order; unknown
/// and duplicate ones become findings. Throws as read_measurements.
struct ArchitectureList {
  std::vector<Architecture> architectures;
  Findings findings;
};
ArchitectureList read_architectures(const std::filesystem::path& path, const NetworkSpace& space);

}  // namespace tenshot::datasets
