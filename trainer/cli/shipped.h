#pragma once

#include <string>

namespace tenshot::cli {

/// `path`, or the file or folder of that name that came with tenshot: a bare name that is nothing in the working folder
/// is looked for among the shipped checkpoints and pools, in share/tenshot of an installation or in the source tree
/// that the program was built in. "pool.tenshot", "maple-edge.tenshot", "data".
std::string given_or_shipped(const std::string& path);

}  // namespace tenshot::cli
