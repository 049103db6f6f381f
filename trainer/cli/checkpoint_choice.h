#pragma once

#include <string>
#include <vector>

#include "trainer/cli/command.h"
#include "trainer/core/shipped.h"

namespace tenshot::cli {

using trainer::given_or_shipped;

/// What that option names (trainer::checkpoint_named). Says so where a shipped one comes before what has its name.
std::string checkpoint_option(const OptionParser& options, const std::string& name = "checkpoint");

/// What --checkpoint names, or without it the shipped checkpoint that fits what is given, which is said: that of
/// networks by name where --networks or --proposals is given, or `tables` (measurements, lists of architectures) name
/// networks; else that of cells. Throws FileError where none is shipped.
std::string checkpoint_of(const OptionParser& options, const std::vector<std::string>& tables);

/// The values of those of `names` that were given.
std::vector<std::string> files_given(const OptionParser& options, const std::vector<std::string>& names);

}  // namespace tenshot::cli
