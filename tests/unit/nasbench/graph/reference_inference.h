#pragma once

#include <cstdint>
#include <vector>

#include "nasbench/graph/network.h"

namespace tenshot::nasbench {

/// The output of a network of NAS-Bench-201's operators with random_weights of `seed` for one image (channels × height
/// × width, row-major), by the definition of each operator and nothing clever: what the other implementations are
/// compared with. Throws std::invalid_argument on an operator that those networks have not.
std::vector<float> reference_inference(const Network& network, const std::vector<float>& image, std::uint64_t seed);

}  // namespace tenshot::nasbench
