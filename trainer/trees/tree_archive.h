#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "trainer/core/archive.h"
#include "trainer/trees/tree_ensemble.h"

namespace tenshot::trainer {

/// The largest logarithm of a latency that trees may predict.
constexpr double largest_log_latency = 700;

/// An ensemble's trees as the arrays NAME.sizes and NAME.nodes (feature, threshold, less, other, value of each node).
/// The base is the caller's to keep.
void put_trees(Archive& archive, const std::string& name, const TreeEnsemble& ensemble);

/// Reads them back, with a base of 0. Throws FormatError where they are no trees over `width` features, or could
/// predict the logarithm of a latency that no number holds.
TreeEnsemble get_trees(const Archive& archive, const std::string& name, std::size_t width);

/// A whole number of such an array, which holds 64-bit floats. Throws FormatError that names the field.
std::int32_t index_of(double value, const std::string& field);

}  // namespace tenshot::trainer
