#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "datasets/operators/kernel_table.h"

namespace tenshot::datasets {

/// What the profiles of a measured kit (measure.sh --profile) say of its architectures' operators.
struct KitProfiles {
  std::vector<KernelRow> rows;  ///< as collect_operators() writes them
  std::size_t networks = 0;     ///< with a profile that could be read
  std::size_t layers = 0;       ///< of those profiles
  std::size_t matched = 0;      ///< of them, those that are operators of their network
  double ms = 0;                ///< of all layers
  double matched_ms = 0;
  /// One line each: a profile that failed, cannot be read, or contradicts the others, and is left out.
  std::vector<std::string> problems;

  /// "412 of 430 layers of 10 networks are known operators, 96 % of the time; 18 are not: copies, or of other names".
  std::string summary() const;
};

/// Reads results/ID/profile.json and profile.txt of the kit in `folder` and matches them to the operators of its
/// models. Only what was measured of the kit's own models counts. Of three profiles or more, one is left out that has a
/// far smaller share of known layers, names far fewer multiply-adds or adds up to far less or more of the latency than
/// the others. No profile at all is no problem. Throws FileError and FormatError on the manifest.
KitProfiles read_kit_profiles(const std::filesystem::path& folder);

}  // namespace tenshot::datasets
