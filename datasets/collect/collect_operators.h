#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "datasets/operators/kernel_table.h"
#include "descriptor/runtimes/runtime.h"
#include "nasbench/graph/network.h"

namespace tenshot::datasets {

/// A network whose operators are measured.
struct NetworkToMeasure {
  std::string name;
  nasbench::Network network;
};

/// What `tenshot collect --operators` does, as a library call.
struct CollectOperatorsOptions {
  descriptor::RuntimeOptions runtime;
  /// Timed runs of each network whose runtime times its operators. More even out noise and take longer.
  int runs = 20;
  std::filesystem::path file;  ///< where the rows are kept; one that is there is gone on with
};

/// Measures every operator of the networks, and returns the rows of the file.
///
/// Where the runtime times its operators (PreparedNetwork::run_timed), a row is an operator of a network: the median
/// over its runs and over all nodes of the network that are equal, with the isolation "profile" and the network's name
/// as purpose. A node that another one executes has no time, which its row says as what the runtime refused. Elsewhere
/// a row is an operator of all the networks together, measured once: between a feeding and a consuming convolution
/// where it takes one image and gives one, else alone (descriptor/isolation/isolation.h).
///
/// The file is written after every network, so that the same call resumes. Progress is told how many networks are done,
/// of how many, and a name; false stops. Throws Interrupted then, FileError, InputError on another table.
std::vector<KernelRow> collect_operators(
    const descriptor::Runtime& runtime, const std::vector<NetworkToMeasure>& networks,
    const CollectOperatorsOptions& options,
    const std::function<bool(std::size_t, std::size_t, const std::string&)>& progress);

}  // namespace tenshot::datasets
