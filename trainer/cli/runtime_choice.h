#pragma once

#include <string>

#include "descriptor/runtimes/runtime.h"
#include "nasbench/spaces/network_space.h"
#include "trainer/cli/command.h"

namespace tenshot::cli {

/// What runs which space's networks, and how.
struct RuntimeChoice {
  std::string runtime;
  descriptor::RuntimeOptions options;
  nasbench::NetworkShape shape;
  const nasbench::NetworkSpace* space = nullptr;
  std::string instruction_set;
};

/// The values of --runtime, --threads, --batch, --seed, --space, --resolution and --isa. Throws UsageError on a runtime
/// that there is not or a number that is none, InputError on a space that there is not. `options.weight_seed` is the
/// seed. Starts this program again where the instruction set needs other environment variables.
RuntimeChoice runtime_choice(const OptionParser& options);

}  // namespace tenshot::cli
