#pragma once

#include <cstdint>
#include <vector>

#include "nasbench/graph/layer_graph.h"

namespace tenshot::nasbench {

/// The output of `graph` with random_weights of `seed` for one image (channels × height × width, row-major), by the
/// definition of each layer and nothing clever: what the other implementations are compared with.
std::vector<float> reference_inference(const LayerGraph& graph, const std::vector<float>& image, std::uint64_t seed);

}  // namespace tenshot::nasbench
