#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "trainer/core/archive.h"
#include "trainer/trees/tree_ensemble.h"

namespace tenshot::trainer {

/// The largest logarithm of a latency that trees may predict.
constexpr double largest_log_latency = 700;

/// Where a split of a tree lies: at a threshold of its own, or between the 0 and the 1 that its feature is.
enum class Splits { at_thresholds, of_bits };

/// Trees as the arrays NAME.sizes and NAME.nodes: feature, threshold unless splits are of bits, less, other and value
/// of each node.
void put_trees(Archive& archive, const std::string& name, const std::vector<SplitTree>& trees,
               Splits splits = Splits::at_thresholds);
/// Reads them back, with a base of 0. Throws FormatError where they are no trees over `width` features, or could
/// predict the logarithm of a latency that no number holds, by their sum or, where splits are of bits, their mean.
TreeEnsemble get_trees(const Archive& archive, const std::string& name, std::size_t width,
                       Splits splits = Splits::at_thresholds);

}  // namespace tenshot::trainer
