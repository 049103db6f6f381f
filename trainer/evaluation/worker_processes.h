#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace tenshot::trainer::evaluation {

/// Work that is done in processes of its own: what one does to LibTorch's threads or its memory, no other one sees, so
/// that results do not depend on how the work was divided.
struct ProcessWork {
  std::size_t tasks = 0;
  int jobs = 1;                                  ///< processes at a time
  std::function<void(std::size_t)> run;          ///< one task, in its process; throws what is wrong with it
  std::function<std::string(std::size_t)> name;  ///< name of a task, for messages
  /// The files that a task writes: what a process that is killed leaves beside them is removed.
  std::function<std::vector<std::filesystem::path>(std::size_t)> files;
  std::function<void(std::size_t)> on_finished = {};  ///< in the caller's process, after each task
  std::function<bool()> go_on = {};                   ///< asked many times a second; false stops
};

/// Runs all tasks. The processes die with the caller. Call it before LibTorch has threads in this process: threads do
/// not survive a fork. Throws Error with what the first failing task threw, after ending the others; Interrupted when
/// `go_on` said stop.
void run_in_processes(const ProcessWork& work);

}  // namespace tenshot::trainer::evaluation
