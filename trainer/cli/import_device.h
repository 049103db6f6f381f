#pragma once

#include <string>

#include "trainer/cli/command.h"

namespace tenshot::cli {

/// `dataset import` of --kit and --measurements: one device-runtime of all that they hold, in the pool's folder `out`.
/// One of that id that the pool has already is added to (datasets/pool/merge_device.h).
void import_measured(const OptionParser& options, const std::string& out);

}  // namespace tenshot::cli
