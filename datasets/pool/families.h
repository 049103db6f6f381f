#pragma once

#include <cstddef>
#include <vector>

#include "datasets/pool/pool.h"

namespace tenshot::datasets {

/// Numbers for the device-runtimes of a pool, equal for those of one family, which are held out together: the same
/// device, else ids that begin alike ("pixel4" of "pixel4_gpu"), else each alone. The first of these that tells at
/// least three apart.
std::vector<std::size_t> families_of(const Pool& pool);

/// The device-runtimes of one family and of one runtime with that one, itself among them, by number: other settings of
/// the same.
std::vector<std::size_t> settings_of(const Pool& pool, std::size_t device);

/// The nearer half of distances from a device: how far one may be from a device that it is said to be like.
std::vector<double> nearer_half(std::vector<double> distances);

}  // namespace tenshot::datasets
