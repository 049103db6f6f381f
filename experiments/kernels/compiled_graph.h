#pragma once

#include <map>
#include <string>
#include <string_view>

#include "nasbench/graph/network.h"

namespace tenshot::experiments {

/// How often each kind of node stands in the graph that a compiling runtime of LibTorch (libtorch-frozen,
/// libtorch-optimized, libtorch-xnnpack) executes once its executor has profiled and compiled it, nested blocks
/// included: {"aten::relu", 12}, {"prim::Constant", 40} and so on. A convolution's kind is followed by its kernel
/// ("aten::conv2d 3x3"), and by " relu" where the rewrite has put a ReLU into it. In-place forms are kinds of their own
/// ("aten::add_"). Runs the network. Throws InputError on another runtime and on a graph that is not runnable.
std::map<std::string, int> compiled_node_counts(std::string_view runtime, const nasbench::Network& network);

}  // namespace tenshot::experiments
