#pragma once

#include "trainer/cli/command.h"

namespace tenshot::cli {

extern const Command cold_command;

}  // namespace tenshot::cli
