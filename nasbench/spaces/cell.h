#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "nasbench/spaces/architecture.h"

namespace tenshot::nasbench {

/// The operations of NAS-Bench-201, in the benchmark's own order (Dong and Yang, ICLR 2020, §2.1).
enum class Operation : std::uint8_t { none, skip_connect, nor_conv_1x1, nor_conv_3x3, avg_pool_3x3 };

constexpr std::size_t operation_count = 5;
constexpr std::array<std::string_view, operation_count> operation_names = {"none", "skip_connect", "nor_conv_1x1",
                                                                           "nor_conv_3x3", "avg_pool_3x3"};

struct Edge {
  int source;
  int target;
};

constexpr std::size_t edge_count = 6;
constexpr int node_count = 4;
constexpr int cells_per_stage = 5;
/// Edges in the order of the architecture string: those into node 1, into node 2, into node 3, each by source.
constexpr std::array<Edge, edge_count> edges = {{{0, 1}, {0, 2}, {1, 2}, {0, 3}, {1, 3}, {2, 3}}};

/// The cell of a NAS-Bench-201 architecture: the operation of each of `edges`.
using Cell = std::array<Operation, edge_count>;

/// A set of edges as bits: bit e is `edges[e]`.
using EdgeSet = std::uint8_t;

/// The four ways from the cell's input to its output: 0-3, 0-1-3, 0-2-3, 0-1-2-3.
constexpr std::array<EdgeSet, 4> cell_paths = {0b001000, 0b010001, 0b100010, 0b100101};

/// The edges on a path of operations other than none from the input to the output.
EdgeSet live_edges(const Cell& cell);

/// Throws InputError unless `architecture` has six decisions, each under five.
Cell cell_of(const Architecture& architecture);
Architecture architecture_of(const Cell& cell);

}  // namespace tenshot::nasbench
