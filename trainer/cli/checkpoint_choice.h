#pragma once

#include <string>
#include <vector>

#include "trainer/cli/command.h"

namespace tenshot::cli {

/// `path`, or the file or folder of that name that came with tenshot: a bare name that is nothing in the working folder
/// is looked for among the shipped checkpoints and pools, in share/tenshot of an installation or in the source tree
/// that the program was built in. "pool.tenshot", "maple-edge.tenshot", "data".
std::string given_or_shipped(const std::string& path);

/// What --checkpoint names, or without it the shipped checkpoint that fits what is given, which is said: that of
/// networks by name where --networks or --proposals is given, or `tables` (measurements, lists of architectures) name
/// networks; else that of cells. Throws FileError where none is shipped.
std::string checkpoint_of(const OptionParser& options, const std::vector<std::string>& tables);

/// The values of those of `names` that were given.
std::vector<std::string> files_given(const OptionParser& options, const std::vector<std::string>& names);

}  // namespace tenshot::cli
