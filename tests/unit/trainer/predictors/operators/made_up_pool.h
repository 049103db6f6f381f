#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "datasets/pool/pool.h"
#include "nasbench/spaces/networks.h"
#include "nasbench/support/random.h"
#include "tests/unit/trainer/predictors/operators/specifications.h"
#include "trainer/core/predictor.h"

namespace tenshot::test {

/// Latency of a made-up device: a base, and for each operator a cost for its arithmetic and for its bytes.
inline double latency_ms(const nasbench::NetworkSpace& space, const nasbench::Architecture& architecture, double speed,
                         double bandwidth) {
  double sum = 0.3 * speed;
  for (const nasbench::OperatorSpecification& op : space.operator_list(architecture)) {
    sum += speed * 1e-8 * static_cast<double>(nasbench::multiply_adds(op)) +
           bandwidth * 1e-7 * static_cast<double>(nasbench::input_bytes(op) + nasbench::output_bytes(op));
  }
  return sum;
}

inline datasets::Pool pool_of(const nasbench::NetworkSpace& space,
                              const std::vector<nasbench::Architecture>& architectures) {
  datasets::Pool pool;
  pool.space = &space;
  Rng rng(5);
  for (int d = 0; d < 6; ++d) {
    datasets::DeviceRuntime device;
    device.id = "board" + std::to_string(d) + "_cpu";
    device.device = device.id;
    const double speed = std::exp(rng.normal()), bandwidth = std::exp(rng.normal());
    for (const nasbench::Architecture& architecture : architectures) {
      datasets::Measurement row;
      row.architecture = architecture;
      row.latency_ms = latency_ms(space, architecture, speed, bandwidth) * std::exp(0.01 * rng.normal());
      device.latencies.push_back(row);
    }
    pool.devices.push_back(std::move(device));
  }
  return pool;
}

inline std::vector<nasbench::Architecture> made_up_networks(std::size_t count) {
  Rng rng(1);
  std::vector<nasbench::Architecture> identities;
  for (std::size_t n = 0; n < count; ++n) {
    std::vector<nasbench::OperatorSpecification> operators;
    const auto layers = 3 + rng.below(20);
    for (std::uint64_t l = 0; l < layers; ++l) {
      const auto channels = static_cast<std::int64_t>(8 << rng.below(5)), size = std::int64_t{7} << rng.below(4);
      const bool depthwise = rng.below(3) == 0;
      operators.push_back(convolution(rng.below(2) == 0 && !depthwise ? 1 : 3,
                                      depthwise ? static_cast<int>(channels) : 1, channels, channels, size));
    }
    identities.push_back(
        nasbench::add_network(nasbench::named_network("made-up-" + std::to_string(n), operators, "test")));
  }
  return identities;
}

inline trainer::AdaptationSet measured(const nasbench::NetworkSpace& space,
                                       const std::vector<nasbench::Architecture>& architectures) {
  trainer::AdaptationSet set;
  set.architectures = architectures;
  for (const nasbench::Architecture& a : architectures) set.latency_ms.push_back(latency_ms(space, a, 2, 0.5));
  return set;
}

}  // namespace tenshot::test
