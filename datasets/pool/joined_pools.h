#pragma once

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

}  // namespace tenshot::datasets
