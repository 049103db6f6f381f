#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "nasbench/spaces/network_space.h"

namespace tenshot::trainer {

/// `path`, or the file or folder of that name that came with tenshot: a bare name that is nothing in the working folder
/// is looked for among the shipped checkpoints and pools: "networks" (its suffix may be left out), "data".
std::string given_or_shipped(const std::string& path);

/// The same of a checkpoint: of a bare name only a file *.tenshot, or another file that is a checkpoint, comes
/// before what came with tenshot. A folder of that name holds networks or a pool.
std::string checkpoint_named(const std::string& path);

/// The checkpoints of knowledge that came with tenshot, those that are there of networks.tenshot and cells.tenshot.
std::vector<std::filesystem::path> shipped_knowledge();

/// The one of them that knows the device-runtime of that id, that of `space` first; else empty. Throws as reading does.
std::filesystem::path shipped_knowledge_of(const std::string& id, const nasbench::NetworkSpace& space);

/// The checkpoint that came with tenshot for a space: networks.tenshot for networks by name, cells.tenshot for
/// NAS-Bench-201, else the pool.tenshot of earlier releases. Throws FileError where there is none.
std::filesystem::path shipped_checkpoint(const nasbench::NetworkSpace& space);

}  // namespace tenshot::trainer
