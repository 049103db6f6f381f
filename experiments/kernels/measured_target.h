#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "datasets/operators/kernel_table.h"
#include "nasbench/spaces/search_space.h"
#include "trainer/predictors/kernels/kernel_model.h"

namespace tenshot::experiments {

/// A network that was measured on the target.
struct MeasuredNetwork {
  std::string name;
  nasbench::Architecture identity;
  double latency_ms = 0, seconds = 0;
  std::vector<trainer::kernels::NetworkKernel> kernels;
};

/// All that was measured of a runtime.
struct Target {
  std::string runtime;
  std::vector<MeasuredNetwork> train, test;
  std::vector<datasets::KernelRow> samples, grid, of_networks;
  double call_ms = 0, call_s = 0;
};

/// A CSV network,role: "train" or "test" for each network.
std::map<std::string, std::string> read_roles(const std::filesystem::path& path);

/// A folder of measure_kernels; its networks are known already. Throws FileError, InputError.
Target read_target(const std::filesystem::path& folder, const std::map<std::string, std::string>& roles);

}  // namespace tenshot::experiments
