#pragma once

#include <functional>
#include <string>

#include "datasets/collect/collect_timer.h"
#include "datasets/pool/pool.h"
#include "descriptor/runtimes/runtime.h"
#include "nasbench/spaces/network_space.h"

namespace tenshot::datasets {

/// Where the counters of a descriptor will come from, and why: "perf_event", "callgrind" or "latency_only".
struct CounterChoice {
  std::string source;
  std::string reason;  ///< one line for the user; empty where the source was asked for by name
};

/// Resolves options.counters: "auto" takes the processor's own counters where they count, callgrind's simulation where
/// valgrind and a program to run under it are there, and latencies alone otherwise. Throws InputError on another name,
/// and on callgrind with events other than default_counters.
CounterChoice choose_counters(const DescriptorOptions& options);

/// Who is told how completing a descriptor goes.
struct DescriptorProgress {
  /// What goes on, before each part and after each measured operator; throws to stop.
  std::function<void(const std::string& note)> step;
  /// After each part, once it is in the descriptor.
  std::function<void()> keep;
  /// Whether nothing disturbs the machine where the sentinel takes so long.
  std::function<bool(double sentinel_ms)> steady;
};

/// Adds what is missing to `descriptor`: latencies of the space's operators by `timer`, then what its operations cost
/// inside a network, then, where `source` has them, counts (MAPLE-Edge §2.3). Throws Error when the runtime cannot
/// prepare a network or counting fails; what was measured is in `descriptor` by then.
void complete_descriptor(HardwareDescriptor& descriptor, const CollectOptions& options, const NetworkSpace& space,
                         const descriptor::Runtime& runtime, const std::string& source, CollectTimer& timer,
                         const DescriptorProgress& progress);

/// Whether complete_descriptor would have something to do.
bool descriptor_incomplete(const HardwareDescriptor& descriptor, const std::string& source, const NetworkSpace& space,
                           const nasbench::NetworkShape& shape);

}  // namespace tenshot::datasets
