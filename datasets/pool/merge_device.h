#pragma once

#include <string>

#include "datasets/pool/pool.h"

namespace tenshot::datasets {

constexpr const char* board_key = "board_id";  ///< under which measure.sh notes which board it ran on

/// Which board a device-runtime is of that was imported from a kit; empty where its environment does not say so.
std::string board_of(const DeviceRuntime& device);

/// Adds to `device` the networks that `earlier`, the device-runtime of that id in a pool, measured and it did not. Of a
/// network that both measured the later value stays, that of `device`; the descriptor and the operators' latencies are
/// the earlier ones where it has none. Where one of the two does not say which board it is of, the result does not
/// either. Returns a sentence on what was kept, what was replaced and how far the two agree there. Throws InputError
/// where they are not one device-runtime: another board, runtime, precision, batch, number of threads or quantity.
std::string add_earlier(DeviceRuntime& device, const DeviceRuntime& earlier);

}  // namespace tenshot::datasets
