#pragma once

#include <optional>
#include <string>
#include <vector>

#include "datasets/kit/conditions.h"
#include "datasets/pool/pool.h"
#include "datasets/tables/fleet.h"
#include "datasets/tables/operator_latencies.h"
#include "datasets/tables/quantity.h"
#include "nasbench/spaces/search_space.h"

namespace tenshot::trainer {

/// The few architectures measured on the new device-runtime, and its descriptor and what its operators take inside them
/// where that was measured.
struct AdaptationSet {
  std::vector<nasbench::Architecture> architectures;  ///< distinct
  std::vector<double> latency_ms;                     ///< finite and positive, one for each architecture
  bool whole_milliseconds = false;                    ///< the device's clock counts whole milliseconds
  std::optional<datasets::HardwareDescriptor> descriptor = std::nullopt;
  /// What runs the networks on the device, as device-runtimes of the pool are labelled ("ncnn, Vulkan"): those of
  /// other runtimes then count less. Empty: nobody said so.
  std::string runtime = {};
  std::optional<datasets::Quantity> quantity = std::nullopt;  ///< of `latency_ms`; nothing: what the pool holds
  std::vector<datasets::OperatorLatency> operator_latencies = {};
  datasets::MeasuringConditions conditions = {};        ///< how `latency_ms` were measured, as far as that is known
  std::optional<datasets::Fleet> fleet = std::nullopt;  ///< of latencies of the typical one of several boards

  void add(const nasbench::Architecture& architecture, double ms) {
    architectures.push_back(architecture);
    latency_ms.push_back(ms);
  }
};

}  // namespace tenshot::trainer
