// Networks on a runtime, and how far its outputs differ from others.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "descriptor/runtimes/runtime.h"
#include "nasbench/graph/network.h"
#include "nasbench/support/random.h"

namespace tenshot::descriptor {

/// Standard normal numbers for all inputs of a network.
inline std::vector<float> random_values(const nasbench::Network& network, std::uint64_t seed) {
  std::int64_t count = 0;
  for (const nasbench::NetworkInput& input : network.inputs) count += nasbench::element_count(input.type.shape);
  std::vector<float> values(static_cast<std::size_t>(count));
  Rng rng(seed);
  for (float& value : values) value = static_cast<float>(rng.normal());
  return values;
}

inline std::vector<float> infer(const std::string& runtime, const nasbench::Network& network,
                                const std::vector<float>& input, int threads = 1) {
  RuntimeOptions options;
  options.threads = threads;
  return make_runtime(runtime)->prepare(network, options)->infer(input);
}

/// Root mean square of the difference over that of `a`.
inline double relative_rms(const std::vector<float>& a, const std::vector<float>& b) {
  double difference = 0, total = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference += std::pow(static_cast<double>(a[i]) - b[i], 2);
    total += std::pow(static_cast<double>(a[i]), 2);
  }
  return std::sqrt(difference / std::max(total, 1e-30));
}

}  // namespace tenshot::descriptor
