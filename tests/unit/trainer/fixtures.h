#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "datasets/pool/pool.h"
#include "nasbench/support/random.h"
#include "nasbench/support/temporaries.h"
#include "trainer/core/predictor.h"

namespace tenshot::test {

using Folder = TemporaryFolder;

/// All that a predictor remarks, one remark a line.
inline std::string explanation_text(const trainer::Predictor& predictor) {
  std::string text;
  for (const trainer::Remark& remark : predictor.explanation()) text += in_words(remark) + "\n";
  return text;
}

inline void write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

/// A made-up device whose latency is base plus a cost for each operation, with `noise` of relative error: what tests of
/// the machinery train on. `speed` scales it.
inline datasets::DeviceRuntime synthetic_device(const std::string& id, double speed, double conv_weight, double noise,
                                                std::size_t rows, std::uint64_t seed) {
  const auto& space = nasbench::nasbench201();
  Rng order(1), rng(seed, 2);
  datasets::DeviceRuntime device;
  device.id = id;
  for (std::size_t i = 0; i < rows; ++i) {
    datasets::Measurement row;
    do {
      row.architecture = space.random(order);
    } while (!space.connected(row.architecture));
    const std::vector<double> counts = space.operation_counts(row.architecture);
    const double cost = 2 + 0.1 * counts[0] + 0.5 * counts[1] + conv_weight * counts[2] + 0.4 * counts[3];
    row.latency_ms = speed * cost * (1 + noise * rng.normal());
    bool known = false;
    for (const auto& other : device.latencies) known = known || other.architecture == row.architecture;
    if (!known) device.latencies.push_back(row);
  }
  return device;
}

/// Gives a device a descriptor in which everything takes as long.
inline void describe(datasets::DeviceRuntime& device) {
  const auto& space = nasbench::nasbench201();
  device.descriptor = {};
  device.descriptor.source = "latency_only";
  for (const auto& op : space.operators({}, 1)) {
    device.descriptor.operators.push_back({op.name, op.key, 0.1, {}});
  }
  for (const auto& chain : space.operation_chains({}, 1)) {
    device.descriptor.in_network.push_back({chain.name, chain.key, 0.1});
  }
}

inline datasets::Pool synthetic_pool(std::size_t rows) {
  datasets::Pool pool;
  pool.space = &nasbench::nasbench201();
  pool.devices = {synthetic_device("slow", 10, 1.5, 0.01, rows, 1), synthetic_device("fast", 1, 0.8, 0.01, rows, 2),
                  synthetic_device("wide", 3, 1.1, 0.01, rows, 3)};
  return pool;
}

}  // namespace tenshot::test
