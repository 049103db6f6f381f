#pragma once

#include <vector>

#include "datasets/collect/fresh_start.h"
#include "datasets/collect/start_table.h"
#include "datasets/tables/quantity.h"

namespace tenshot::datasets {

/// The starts of a network: all of them, and those that the machine did not interfere with.
struct StartSample {
  std::vector<FreshStart> all, quiet;

  void add(const FreshStart& start);
};

/// Whether the 95 % confidence interval of the median of the quantity (cold latency, or peak memory) is within
/// `relative_precision` of it.
bool median_within(double relative_precision, const std::vector<FreshStart>& starts, Quantity quantity);

/// Medians of the starts, one at least. `memory_mib` is what they took beyond the runtime itself, empty where the
/// system does not say that. Throws Error where memory is the quantity and unknown.
StartRow row_of(const std::vector<FreshStart>& starts, const std::vector<double>& memory_mib, Quantity quantity);

}  // namespace tenshot::datasets
