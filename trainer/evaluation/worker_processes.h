#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace tenshot::trainer::evaluation {

/// A task for a process of its own: what it does to LibTorch's threads or its memory, no other one sees, so that
/// results do not depend on how the work was divided.
struct ProcessTask {
  std::string name;                          ///< for messages
  std::vector<std::filesystem::path> files;  ///< that it writes: what it leaves beside them when killed is removed
  std::function<void()> run;                 ///< throws what is wrong
};

/// Runs all tasks, in `jobs` processes at a time, which die with the caller; `on_finished` is called after each, in the
/// caller's process. Call it before LibTorch has threads in this process: threads do not survive a fork. Throws Error
/// with what the first failing task threw, after ending the others; Interrupted when `go_on` says no.
void run_in_processes(const std::vector<ProcessTask>& tasks, int jobs,
                      const std::function<void(const ProcessTask&)>& on_finished, const std::function<bool()>& go_on);

}  // namespace tenshot::trainer::evaluation
