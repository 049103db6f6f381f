#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "nasbench/graph/network.h"

namespace tenshot::descriptor {

// What the runtimes of LibTorch can run, without LibTorch's headers.

bool is_convolution(nasbench::OperatorKind kind);

/// "node 'conv1' (opaque LSTM)".
std::string describe(const nasbench::NetworkNode& node);

/// Why neither LibTorch's operators nor TorchScript cover the node; empty where they do.
std::string why_not_runnable(const nasbench::NetworkNode& node);

/// Zeros above and below are as many, and left and right.
bool is_symmetric(const nasbench::Padding& padding);

/// The padding that LibTorch's operators add by themselves: it is the same on both sides, or none.
nasbench::Padding own_padding(const nasbench::NetworkNode& node);

/// Whether the output has as many dimensions as the input.
bool keeps_dimensions(const nasbench::NetworkNode& node);

/// What LibTorch wants to know of a node that splits, slices or pads: the extents of its outputs along the axis, where
/// its slice along axis i ends, and its padding, the last dimension first.
std::vector<std::int64_t> split_sizes(const nasbench::NetworkNode& node);
std::int64_t slice_end(const nasbench::NetworkNode& node, std::size_t i);
std::vector<std::int64_t> pads_of(const nasbench::NetworkNode& node);

/// Functions of one tensor, and reductions, with the names of LibTorch's operators that have no other arguments.
const std::map<std::string, std::string>& torch_functions();
const std::map<std::string, std::string>& torch_reductions();

/// relu6(x + 3) / 6, of which LibTorch has an operator of its own.
bool is_usual_hard_sigmoid(const nasbench::NetworkNode& node);

/// Rows and columns that a transposed convolution adds at the bottom and the right.
nasbench::Extent output_padding(const nasbench::NetworkNode& node);

}  // namespace tenshot::descriptor
