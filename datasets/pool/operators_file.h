#pragma once

#include <filesystem>
#include <vector>

#include "datasets/tables/operator_latencies.h"

namespace tenshot::datasets {

/// What the runtime itself told of operators inside networks, of an operators.csv. What was measured apart is no part
/// of a network's latency and left out. Throws FileError, InputError.
std::vector<OperatorLatency> read_operators_in_networks(const std::filesystem::path& file);

}  // namespace tenshot::datasets
