#pragma once

#include <cstddef>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "datasets/pool/pool.h"
#include "datasets/tables/findings.h"

namespace tenshot::datasets {

/// What `dataset validate` found wrong with a pool: entries left out, and everything beyond single entries.
struct ValidationReport {
  std::size_t devices = 0;  ///< that could be read
  Findings findings;
  std::vector<std::string> problems;  ///< one line each, naming the file or device
  std::vector<std::string> remarks;   ///< nothing wrong, and worth knowing: one line each

  bool sound() const { return findings.empty() && problems.empty(); }
};

/// Reads a whole pool and collects all that is wrong instead of stopping at the first: folders without a device file,
/// device files and latencies that cannot be read, keys a device file does not have, ids that differ from their
/// folder's name or stand twice, several spaces, no usable latencies, operators that are not the space's, counters
/// without values. Throws FileError when there is no such folder.
ValidationReport validate(const std::filesystem::path& folder);

/// How many of a device's networks were never measured while the machine was undisturbed, as its environment says:
/// collect and kits keep the best of several attempts, and count it. 0 where nobody said.
std::size_t never_undisturbed(const DeviceRuntime& device);

/// "libtorch-int8_t1_b1: 200 of 301 networks were never measured undisturbed"; empty where `count` is 0.
std::string disturbance_remark(const std::string& id, std::size_t count, std::size_t measured);

std::string to_text(const ValidationReport& report);
nlohmann::json to_json(const ValidationReport& report);

}  // namespace tenshot::datasets
