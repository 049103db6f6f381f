#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/tables/operator_latencies.h"
#include "nasbench/graph/network.h"
#include "nasbench/graph/operator_specification.h"

namespace tenshot::datasets {

/// A kernel that was measured on a device-runtime, or that its runtime refused.
struct KernelRow {
  std::string kernel;                       ///< nasbench::kernel_type: "convolution++relu"
  nasbench::OperatorSpecification leading;  ///< its first operator, in float32
  std::string isolation = "0";  ///< how it was told from its surroundings (descriptor/isolation/isolation.h)
  std::string purpose;          ///< why it was measured: "sample", "network", "grid"; free text
  double latency_ms = 0;        ///< positive; NaN where the runtime refused it
  double deviation_ms = 0;      ///< standard deviation over rounds
  double seconds = 0;           ///< that measuring it took, everything included
  std::string refused;          ///< why, where it was
};

/// What tells equal operators: files of measured ones keep no element type and no trained constants.
std::string operator_key(nasbench::OperatorSpecification operation);

/// KernelRow::isolation of what the runtime itself told of an operator inside its network.
inline constexpr const char* profiled_isolation = "profile";

/// Lists of a network's nodes that are the same operator, sorted by what it is. A reshape moves nothing, and is none.
std::vector<std::vector<int>> equal_nodes(const nasbench::Network& network);

/// The row of the operator at `node`, from what the runtime told inside the network called `name`: `times_ms` are of
/// every node that is equal to it, each of one run or a mean over runs.
KernelRow profiled_row(const nasbench::Network& network, int node, const std::string& name,
                       std::vector<double> times_ms);

/// The rows as CSV with a header: kernel, operation, function, inputs, output, window, stride, dilation, groups, bias,
/// isolation, purpose, latency_ms, deviation_ms, seconds, refused. Shapes are written 1x32x56x56, with blanks between.
std::string kernel_table(const std::vector<KernelRow>& rows);

/// Reads them back; columns may stand in any order, and those from `isolation` on may be missing, but for latency_ms.
/// Throws InputError that names the line, the column, what is there and what is expected: a kind of operator that is
/// not known, a shape without positive sizes, a latency that is not positive where nothing was refused.
std::vector<KernelRow> parse_kernel_table(std::string_view text, const std::string& file);

/// The same of a file. Throws FileError, InputError.
std::vector<KernelRow> read_kernel_table(const std::filesystem::path& path);

/// What the runtime itself told of operators inside networks, of the rows of an operators.csv. What was measured apart
/// is no part of a network's latency and left out.
std::vector<OperatorLatency> operators_in_networks(std::vector<KernelRow> rows);

}  // namespace tenshot::datasets
