#pragma once

#include <array>
#include <cstddef>

#include "nasbench/spaces/cell.h"

/// The rules by which a NAS-Bench-201 cell becomes counts of what a runtime executes. Each rule is one hypothesis; a
/// device-runtime follows one of them closely, and which one is found by measuring. In the examples a cell is written
/// as its six edges, "0>1 conv3" being a 3×3 convolution from node 0 (the input) to node 1; edges not named are `none`.
namespace tenshot::nasbench {

/// How often each thing runs. `add` counts additions of two tensors: a node with n inputs needs n − 1.
struct CellCounts {
  double skip = 0;
  double conv_1x1 = 0;
  double conv_3x3 = 0;
  double pool = 0;
  double add = 0;
  double relu = 0;      ///< compiled graphs only; elsewhere part of its convolution
  double multiply = 0;  ///< compiled graphs only: `none` as a multiplication by zero
  double reorder = 0;   ///< compiled graphs only: conversions between plain and blocked layout
};

/// The fields of CellCounts: first those of the operations but `none`, in their order.
constexpr std::array<double CellCounts::*, 8> cell_count_fields = {
    &CellCounts::skip, &CellCounts::conv_1x1, &CellCounts::conv_3x3, &CellCounts::pool,
    &CellCounts::add,  &CellCounts::relu,     &CellCounts::multiply, &CellCounts::reorder};

EdgeSet present_edges(const Cell& cell);  ///< all that are not `none`
/// Present edges whose source is reachable from node 0 over present edges.
EdgeSet forward_edges(const Cell& cell);
/// Present edges from whose target node 3 is reachable over present edges.
EdgeSet backward_edges(const Cell& cell);

/// Operations of `set`, and the additions that its nodes need: Σ_v max(indegree(v) − 1, 0).
CellCounts count_edges(const Cell& cell, EdgeSet set);

/// Everything is executed, as written; additions are free.
/// Example: 0>1 conv3, 1>2 pool → one conv3, one pool, no matter that node 2 leads nowhere.
CellCounts total_structure(const Cell& cell);

/// Only what lies on a path from the input to the output.
/// Example: 0>1 conv3, 1>2 pool, 0>3 skip → one skip.
CellCounts live_structure(const Cell& cell);

/// What the input reaches: a runtime that sees that a tensor is zero, not that it is unused.
/// Example: 0>1 conv3, 1>2 pool, 0>3 skip → conv3, pool, skip. With 0>1 none: 1>2 pool is not reached.
CellCounts forward_structure(const Cell& cell);

/// What reaches the output: a runtime that removes the unused, but computes on zeros. Nothing where no path connects.
/// Example: 1>3 conv3, 0>3 skip → conv3, skip, one add, though node 1 is zero.
CellCounts backward_structure(const Cell& cell);

/// As backward, and also a convolution that is its node's only input, which such runtimes were seen to keep.
/// Example: 0>1 conv3, 0>3 skip → conv3, skip, though node 1 is unused.
CellCounts backward_plus_structure(const Cell& cell);

/// Live edges, computed once per distinct (source, operation); a node fed by one skip alone is its source.
/// Example: 0>1 skip, 0>3 pool, 1>3 pool → one skip, one pool (node 1 is node 0), no add.
CellCounts fused_structure(const Cell& cell);

constexpr std::size_t path_count = cell_paths.size();

/// Parallel execution: the counts of each live path, zero for a path that is not live; the slowest decides.
/// Example: 0>3 conv3, 0>1 pool, 1>3 pool → {one conv3}, {two pools}, {}, {}.
std::array<CellCounts, path_count> critical_structure(const Cell& cell);

/// Half parallel: ½ of each critical path + ½ live.
/// Example: 0>3 conv3, 0>1 pool, 1>3 pool → {1 conv3, 1 pool, ½ add}, {½ conv3, 2 pools, ½ add}, {½ live}, {½ live}.
std::array<CellCounts, path_count> half_critical_structure(const Cell& cell);

/// What a graph compiler leaves (common subexpression elimination on values): a skip is its source under another name;
/// `none` is a multiplication by zero, which floating point forbids to remove; equal pools, ReLUs and multiplications
/// of one value are computed once, and so is an addition of the same two values; convolutions have weights of their own
/// and are never merged. ReLU → convolution → batch norm: the last two fold into one, and so does the multiplication
/// that alone reads a convolution. Example: 0>1 skip, 0>2 pool, 1>2 pool, 0>3 conv1, 1>3 conv3, 2>3 none → one pool
/// (node 1 is node 0), one ReLU (both convolutions read node 0), conv1, conv3, one multiplication, three adds (pool +
/// pool; two into node 3). So LibTorch's freeze, and its rewrite for mobile devices, which also makes a ReLU part of
/// the convolution or addition that it alone reads.
CellCounts cse_structure(const Cell& cell);

/// As cse, after `none` has been understood: edges that are not live are gone, and so are the multiplications.
/// Example: the first of cse → 0>2 and 1>2 are dead; conv1, conv3, one ReLU, one add.
CellCounts live_cse_structure(const Cell& cell);

/// As cse, by a compiler whose tensors are blocked throughout and whose element-wise operations overwrite an operand
/// that nothing reads afterwards. A multiplication that cannot overwrite its operand writes a new tensor, which starts
/// plain and is reordered first: one reorder each. So LibTorch's optimize_for_inference.
CellCounts in_place_structure(const Cell& cell);

/// As cse, by a compiler that keeps only convolutions and pools in a blocked layout. A plain tensor that a convolution
/// or pool reads is reordered once. A multiplication is plain; a blocked tensor that something plain reads is reordered
/// back once. An addition is blocked if both operands are, else plain. A blocked addition is free where a convolution
/// feeds nothing else (it accumulates; each absorbs one), and a ReLU is free where it is the only reader of such a
/// convolution. The cell's input is the previous cell's output, so counts are the mean over the five cells of a stage,
/// the first of which reads a convolution's output.
/// Example: 0>3 conv3, all else `none` → one conv3; node 0 is multiplied (once, shared by 0>1 and 0>2), the zeros of
/// nodes 1 and 2 again; the additions into node 3 start from the blocked convolution and plain zeros, so they are plain
/// and reorder the convolution; the next cell's input is plain, and its ReLU is reordered for the convolution.
CellCounts layout_structure(const Cell& cell);

}  // namespace tenshot::nasbench
