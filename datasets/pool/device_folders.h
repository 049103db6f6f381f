#pragma once

#include <filesystem>
#include <vector>

namespace tenshot::datasets {

/// The folders directly in a pool's folder, sorted, without hidden ones and pools of other spaces. Throws FileError
/// where it is no folder.
std::vector<std::filesystem::path> device_folders(const std::filesystem::path& folder);

}  // namespace tenshot::datasets
