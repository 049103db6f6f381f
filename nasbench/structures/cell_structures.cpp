#include "nasbench/structures/cell_structures.h"

namespace tenshot::nasbench {
namespace {

constexpr bool contains(EdgeSet set, std::size_t edge) { return (set >> edge & 1U) != 0; }
constexpr EdgeSet bit(std::size_t edge) { return static_cast<EdgeSet>(1U << edge); }

std::array<int, node_count> indegrees(EdgeSet set) {
  std::array<int, node_count> indegree{};
  for (std::size_t e = 0; e < edge_count; ++e) indegree[edges[e].target] += contains(set, e) ? 1 : 0;
  return indegree;
}

bool is_convolution(Operation operation) {
  return operation == Operation::nor_conv_1x1 || operation == Operation::nor_conv_3x3;
}

}  // namespace

EdgeSet present_edges(const Cell& cell) {
  EdgeSet set = 0;
  for (std::size_t e = 0; e < edge_count; ++e) {
    if (cell[e] != Operation::none) set |= bit(e);
  }
  return set;
}

EdgeSet forward_edges(const Cell& cell) {
  std::array<bool, node_count> reached = {true, false, false, false};
  EdgeSet set = 0;
  for (std::size_t e = 0; e < edge_count; ++e) {  // edges come in the order of their targets
    if (cell[e] == Operation::none || !reached[edges[e].source]) continue;
    set |= bit(e);
    reached[edges[e].target] = true;
  }
  return set;
}

EdgeSet backward_edges(const Cell& cell) {
  std::array<bool, node_count> reaching = {false, false, false, true};
  EdgeSet set = 0;
  for (std::size_t e = edge_count; e-- > 0;) {
    if (cell[e] == Operation::none || !reaching[edges[e].target]) continue;
    set |= bit(e);
    reaching[edges[e].source] = true;
  }
  return set;
}

CellCounts count_edges(const Cell& cell, EdgeSet set) {
  CellCounts counts;
  const EdgeSet present = present_edges(cell);
  for (std::size_t e = 0; e < edge_count; ++e) {
    if (contains(set & present, e)) ++(counts.*cell_count_fields[static_cast<std::size_t>(cell[e]) - 1]);
  }
  for (const int indegree : indegrees(set)) counts.add += std::max(indegree - 1, 0);
  return counts;
}

CellCounts total_structure(const Cell& cell) {
  CellCounts counts = count_edges(cell, present_edges(cell));
  counts.add = 0;
  return counts;
}

CellCounts live_structure(const Cell& cell) { return count_edges(cell, live_edges(cell)); }

CellCounts forward_structure(const Cell& cell) { return count_edges(cell, forward_edges(cell)); }

CellCounts backward_structure(const Cell& cell) {
  return live_edges(cell) == 0 ? CellCounts{} : count_edges(cell, backward_edges(cell));
}

CellCounts backward_plus_structure(const Cell& cell) {
  const std::array<int, node_count> indegree = indegrees(present_edges(cell));
  EdgeSet set = live_edges(cell) == 0 ? EdgeSet{0} : backward_edges(cell);
  for (std::size_t e = 0; e < edge_count; ++e) {
    if (is_convolution(cell[e]) && indegree[edges[e].target] == 1) set |= bit(e);
  }
  return count_edges(cell, set);
}

CellCounts fused_structure(const Cell& cell) {
  const EdgeSet live = live_edges(cell);
  const std::array<int, node_count> indegree = indegrees(live);
  std::array<int, node_count> alias = {0, 1, 2, 3};
  std::array<std::array<bool, operation_count>, node_count> seen{};
  EdgeSet distinct = 0;
  for (std::size_t e = 0; e < edge_count; ++e) {
    if (!contains(live, e)) continue;
    const int source = alias[edges[e].source];
    bool& computed = seen[source][static_cast<std::size_t>(cell[e])];
    if (!computed) distinct |= bit(e);
    computed = true;
    if (cell[e] == Operation::skip_connect && indegree[edges[e].target] == 1) alias[edges[e].target] = source;
  }
  return count_edges(cell, distinct);
}

std::array<CellCounts, path_count> critical_structure(const Cell& cell) {
  const EdgeSet live = live_edges(cell);
  std::array<CellCounts, path_count> counts{};
  for (std::size_t p = 0; p < path_count; ++p) {
    if ((live & cell_paths[p]) == cell_paths[p]) counts[p] = count_edges(cell, cell_paths[p]);
  }
  return counts;
}

std::array<CellCounts, path_count> half_critical_structure(const Cell& cell) {
  const CellCounts live = live_structure(cell);
  std::array<CellCounts, path_count> counts = critical_structure(cell);
  for (CellCounts& path : counts) {
    for (const auto field : cell_count_fields) path.*field = 0.5 * (path.*field + live.*field);
  }
  return counts;
}

}  // namespace tenshot::nasbench
