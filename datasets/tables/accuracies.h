#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "nasbench/spaces/network_space.h"

namespace tenshot::datasets {

/// What a table says of the accuracies of networks.
struct Accuracies {
  std::vector<nasbench::Architecture> architectures;
  std::vector<double> accuracy;  ///< finite, in the table's own unit
  std::string left_out;          ///< how many rows, and why; empty where none
};

/// Reads a CSV with the columns `architecture` (or `network`) and `accuracy`. Throws FileError, and InputError where no
/// row is usable.
Accuracies read_accuracies(const std::filesystem::path& file, const nasbench::NetworkSpace& space);

}  // namespace tenshot::datasets
