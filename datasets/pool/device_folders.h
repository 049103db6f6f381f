#pragma once

#include <filesystem>
#include <vector>

namespace tenshot::datasets {

/// The folders directly in a pool's, sorted, without hidden ones and pools of other spaces. FileError where it is none.
std::vector<std::filesystem::path> device_folders(const std::filesystem::path& folder);

}  // namespace tenshot::datasets
