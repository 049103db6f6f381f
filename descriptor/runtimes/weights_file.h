#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "nasbench/graph/network.h"
#include "nasbench/graph/network_weights.h"

namespace tenshot::descriptor {

/// The weights of every node of a network.
using Weights = std::vector<nasbench::LayerWeights>;

/// Writes nasbench::random_weights of every node as one file, atomically: "TSWEIGHT", the number of floats as 64 bits,
/// the floats in the order of the nodes, each node's weight, bias, mean and variance; little-endian. What a cold start
/// reads: the model file of runtimes whose network is code.
void write_weights_file(const std::filesystem::path& path, const nasbench::Network& network, std::uint64_t seed);

/// Reads it in one go. Throws FileError, and FormatError where it is no such file or of another network.
std::shared_ptr<const Weights> read_weights_file(const std::filesystem::path& path, const nasbench::Network& network);

}  // namespace tenshot::descriptor
