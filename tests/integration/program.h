#pragma once

#include <string>

#include "tests/unit/trainer/fixtures.h"

namespace tenshot::test {

struct Outcome {
  int exit_code = -1;
  std::string out;
  std::string err;
};

/// Runs `command` in a shell; `tenshot` in it is the built program.
Outcome run(const std::string& command);

/// `text` in single quotes for the shell.
std::string quoted(const std::filesystem::path& text);

std::string slurp(const std::filesystem::path& path);

}  // namespace tenshot::test
