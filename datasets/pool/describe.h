#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "datasets/pool/pool.h"
#include "datasets/tables/quantity.h"

namespace tenshot::datasets {

/// What `dataset describe` says of one device-runtime. Latencies in ms, or what the pool holds instead.
struct DeviceSummary {
  std::string id;
  std::string descriptor_source;  ///< "callgrind (simulated), in network"
  std::size_t measured = 0;
  std::size_t missing = 0;  ///< architectures other devices of the pool have measured and this one has not
  double minimum_ms = 0, median_ms = 0, maximum_ms = 0;
  bool whole_milliseconds = false;
};

struct PoolSummary {
  std::string space;
  Quantity quantity = Quantity::latency;
  std::size_t architectures = 0;
  std::vector<DeviceSummary> devices;
  std::vector<std::vector<double>> rank_correlation;  ///< as rank_correlations()
  std::string content_hash;
};

PoolSummary describe(const Pool& pool);
std::string to_text(const PoolSummary& summary, const Findings& findings);
/// What is not known, NaN, becomes null as text.
nlohmann::json to_json(const PoolSummary& summary, const Findings& findings);

/// Ranks with ties averaged, 1-based; and Spearman's ρ of two vectors of equal length (NaN when either is constant).
std::vector<double> ranks(const std::vector<double>& values);
double spearman(const std::vector<double>& a, const std::vector<double>& b);

/// Spearman's ρ between all devices, of `latency_ms` [devices][architectures] with NaN where nothing was measured; NaN
/// under three common ones. Ranks of a device are computed once and serve every device that measured the same
/// architectures; others are ranked pair by pair over what they share.
std::vector<std::vector<double>> rank_correlations(const std::vector<std::vector<double>>& latency_ms);

}  // namespace tenshot::datasets
