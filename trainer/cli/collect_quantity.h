#pragma once

#include <filesystem>

#include "datasets/collect/collect.h"
#include "datasets/tables/quantity.h"
#include "nasbench/spaces/network_space.h"
#include "trainer/cli/command.h"
#include "trainer/cli/runtime_choice.h"

namespace tenshot::cli {

/// --cold and --quantity of collect.
void add_collected_quantity(OptionParser& options);

/// What they ask for. Throws UsageError where they contradict each other, or with options of latencies alone.
datasets::Quantity collected_quantity(const OptionParser& options);

/// The last line of `collect`: the device-runtime in the folder `pool`, and how to adapt to it; with --json what it is.
void tell_collected(const std::filesystem::path& pool, const datasets::DeviceRuntime& device,
                    const OptionParser& options);

/// Measures another quantity than latency of architectures of `space`, which may be the one of networks by name, as
/// `collect` says of runtime, architectures and folder, and says what it wrote.
void collect_quantity(const OptionParser& options, const RuntimeChoice& choice, const nasbench::NetworkSpace& space,
                      datasets::CollectOptions collect, const datasets::CollectProgress& progress);

}  // namespace tenshot::cli
