#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "nasbench/graph/network.h"
#include "nasbench/spaces/cell.h"
#include "nasbench/spaces/search_space.h"

namespace tenshot::nasbench {

// The networks of NAS-Bench-201 (Dong and Yang, ICLR 2020, §2.1 and figure 1). Reached through nasbench201().
// All throw InputError on a shape that three stages, each of half the resolution of the one before, cannot have.

/// Stem, three stages of five equal cells with a residual block before the second and the third, classifier.
Network cell_network(const Cell& cell, const NetworkShape& shape, int batch);

/// What the benchmark publishes as FLOPs, from the operations alone: the multiplications and additions of convolutions
/// for one image, and of the classifier with its biases.
std::int64_t cell_network_flop_count(const Cell& cell, const NetworkShape& shape);

/// The 5 operations at the channels and resolutions of the 3 stages, operation by operation.
std::vector<Operator> cell_operators(const NetworkShape& shape, int batch);

/// What an operation of the cell, or one of "add", "relu" and "multiply", executes on an image of these extents;
/// nothing for another name, and where an extent is not positive or beyond 2^20.
std::optional<OperatorSequence> cell_operation(std::string_view name, int channels, int resolution);

/// How often each of cell_operators() occurs in the network of `cell`, shape [15].
std::vector<double> cell_operator_occurrences(const Cell& cell);

/// The counted operations but skip_connect, which costs nothing inside a network, and "add", "relu" and "multiply"
/// (what `none` is), at the channels and resolutions of the 3 stages, operation by operation.
std::vector<OperationChain> cell_operation_chains(const NetworkShape& shape, int batch);

}  // namespace tenshot::nasbench
