#pragma once

#include <cstddef>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "datasets/tables/findings.h"

namespace tenshot::datasets {

/// What `dataset validate` found wrong with a pool: entries left out, and everything beyond single entries.
struct ValidationReport {
  std::size_t devices = 0;  ///< that could be read
  Findings findings;
  std::vector<std::string> problems;  ///< one line each, naming the file or device

  bool sound() const { return findings.empty() && problems.empty(); }
};

/// Reads a whole pool and collects all that is wrong instead of stopping at the first: folders without a device file,
/// device files and latencies that cannot be read, keys a device file does not have, ids that differ from their
/// folder's name or stand twice, several spaces, no usable latencies, operators that are not the space's, counters
/// without values. Throws FileError when there is no such folder.
ValidationReport validate(const std::filesystem::path& folder);

std::string to_text(const ValidationReport& report);
nlohmann::json to_json(const ValidationReport& report);

}  // namespace tenshot::datasets
