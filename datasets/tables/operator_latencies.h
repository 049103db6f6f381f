#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "nasbench/graph/operator_specification.h"

namespace tenshot::datasets {

/// How long an operator took inside a network.
struct OperatorLatency {
  nasbench::OperatorSpecification operation;
  double latency_ms = 0;  ///< positive
  std::string network;    ///< the network that it was measured in; empty: a median over the networks that have it
};

/// Which column of a table of operators is which device's: "pixel4_gpu_float" → "pixel4_gpu_ms".
using ColumnOfDevice = std::map<std::string, std::string>;

/// The operators' latencies in columns of a table that has a row for each operator of each network (read_networks), in
/// ms, for each device. An empty field was not measured. Throws InputError where there is no such column or a field is
/// no positive number, and what parse_operator_table throws.
std::map<std::string, std::vector<OperatorLatency>> parse_operator_latencies(std::string_view text,
                                                                             const std::string& file,
                                                                             const ColumnOfDevice& columns);
/// The same of a file. Throws FileError too.
std::map<std::string, std::vector<OperatorLatency>> read_operator_latencies(const std::filesystem::path& path,
                                                                            const ColumnOfDevice& columns);

}  // namespace tenshot::datasets
