#include "datasets/pool/operators_file.h"

#include <utility>

#include "datasets/operators/kernel_table.h"

namespace tenshot::datasets {

std::vector<OperatorLatency> read_operators_in_networks(const std::filesystem::path& file) {
  std::vector<OperatorLatency> latencies;
  for (KernelRow& row : read_kernel_table(file)) {
    if (row.isolation != profiled_isolation || !row.refused.empty()) continue;
    latencies.push_back({std::move(row.leading), row.latency_ms, std::move(row.purpose)});
  }
  return latencies;
}

}  // namespace tenshot::datasets
