#pragma once

#include <cstddef>
#include <vector>

#include "datasets/pool/pool.h"

namespace tenshot::trainer {

/// Numbers for the device-runtimes of a pool, equal for those of one family, which are held out together: the same
/// device, else ids that begin alike ("pixel4" of "pixel4_gpu"), else each alone. The first of these that tells at
/// least three apart.
std::vector<std::size_t> families_of(const datasets::Pool& pool);

}  // namespace tenshot::trainer
