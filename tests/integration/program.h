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

/// A made-up device that no synthetic_pool() holds, with twelve measured architectures.
datasets::DeviceRuntime new_device();

/// Writes into `folder` what most verbs start from: a pool (pool/), a checkpoint of it (pool.tenshot), measurements of
/// new_device() (measured.csv) and its predictor (device.tenshot).
void write_adapted_device(const std::filesystem::path& folder);

}  // namespace tenshot::test
