#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "datasets/pool/pool.h"

namespace tenshot::datasets {

/// Reads several pools as one, each by read_pool(): its devices in the order of their ids, with the findings of all.
/// Throws InputError that names both folders where they hold a device of one id, devices of different spaces, or
/// different quantities; and what read_pool() throws.
Pool read_pools(const std::vector<std::filesystem::path>& folders, std::optional<Quantity> quantity = std::nullopt);

/// Takes the devices out whose ids fit one of the patterns, in which `*` stands for any characters. Throws InputError
/// for a pattern that fits none, and where nothing would be left.
void leave_out_devices(Pool& pool, const std::vector<std::string>& patterns);

constexpr const char* board_key = "board_id";  ///< under which measure.sh notes which board it ran on

/// Which board a device-runtime is of that was imported from a kit; empty where its environment does not say so.
std::string board_of(const DeviceRuntime& device);

/// Adds to `device` the networks that `earlier`, the device-runtime of that id in a pool, measured and it did not. Of a
/// network that both measured the later value stays, that of `device`; the descriptor, the operators' latencies and the
/// settings are the earlier ones where it has none. Where one of the two does not say which board it is of, the result
/// does not either. Returns a sentence on what was kept, what was replaced and how far the two agree there. Throws
/// InputError where they are unlike in board, runtime, precision, batch, number of threads or quantity.
std::string add_earlier(DeviceRuntime& device, const DeviceRuntime& earlier);

/// Numbers for the device-runtimes of a pool, equal for those of one family, which are held out together: the same
/// device, else ids that begin alike ("pixel4" of "pixel4_gpu"), else each alone. The first that tells three apart.
std::vector<std::size_t> families_of(const Pool& pool);

/// The device-runtimes of its family and its runtime, itself among them, by number: other settings of the same.
std::vector<std::size_t> settings_of(const Pool& pool, std::size_t device);

/// The nearer half of distances from a device: how far one may be from a device that it is said to be like.
std::vector<double> nearer_half(std::vector<double> distances);

}  // namespace tenshot::datasets
