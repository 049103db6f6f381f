#pragma once

#include <string>

#include "datasets/pool/pool.h"
#include "nasbench/spaces/network_space.h"
#include "trainer/cli/command.h"

namespace tenshot::cli {

/// `dataset import` of --kit and --measurements: one device-runtime of all that they hold, in the pool's folder `out`.
/// One of that id that the pool has already is added to (datasets/pool/joined_pools.h).
void import_measured(const OptionParser& options, const std::string& out);

/// Writes the device-runtime to the pool's folder `out`, adds what the pool has of that id already, and says so.
void write_or_add(const std::string& out, datasets::DeviceRuntime device, const nasbench::NetworkSpace& space,
                  bool quiet);

}  // namespace tenshot::cli
