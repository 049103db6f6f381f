#pragma once

#include <vector>

#include "tests/unit/trainer/fixtures.h"
#include "trainer/core/metrics.h"
#include "trainer/core/predictor.h"
#include "trainer/predictors/maple_edge/maple_edge.h"

namespace tenshot::trainer {

/// A network that is taught in seconds.
inline MapleEdgeSettings quick_settings() {
  MapleEdgeSettings settings = simulated_options.read(nullptr);
  settings.hidden = {48, 32};
  settings.fit.epochs = 8;
  settings.fit.batch = 128;
  settings.fit.learning_rate = 5e-3;
  settings.simulation.rows = 4000;
  return settings;
}

/// A device between those of the synthetic pool: the first `measured` of its architectures, and all of them as truth.
struct NewDevice {
  AdaptationSet set;
  std::vector<Architecture> architectures;
  std::vector<double> latency_ms;
};

inline NewDevice new_device(std::size_t measured) {
  NewDevice device;
  for (const auto& row : test::synthetic_device("new", 5, 1.0, 0.01, 200, 9).latencies) {
    device.architectures.push_back(row.architecture);
    device.latency_ms.push_back(row.latency_ms);
    if (device.set.architectures.size() == measured) continue;
    device.set.architectures.push_back(row.architecture);
    device.set.latency_ms.push_back(row.latency_ms);
  }
  return device;
}

inline double acc10(const Predictor& predictor, const NewDevice& device) {
  return evaluate(predictor.predict(device.architectures, 0.9), device.latency_ms).acc10;
}

}  // namespace tenshot::trainer
