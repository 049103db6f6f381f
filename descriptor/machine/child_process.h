#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "nasbench/support/error.h"

namespace tenshot::descriptor {

/// A child ended with an exit code other than 0, or by a signal.
class ChildFailed : public Error {
 public:
  ChildFailed(const std::string& message, std::string last_words)
      : Error(message), last_words_(std::move(last_words)) {}
  /// The end of its output; may be empty.
  const std::string& last_words() const { return last_words_; }

 private:
  std::string last_words_;
};

/// A program to run to its end.
struct ChildProcess {
  std::vector<std::string> command;  ///< the program's path first; no shell reads it
  std::filesystem::path output;      ///< file that takes what the child says on stdout and stderr
  double time_limit_s = 0;
  std::vector<std::string> environment = {};  ///< "NAME=value", in place of the caller's
  std::function<bool()> go_on = {};           ///< asked ten times a second; may be empty
};

/// Runs the child in a process group of its own, so that a Ctrl-C at the terminal reaches the caller alone; the group
/// is killed after the time limit (Error), once `go_on` says no (Interrupted), or when it throws. The child is killed
/// with its parent. Throws ChildFailed with the end of the child's output when the child fails.
void run_child(const ChildProcess& child);

/// The executable called `name` in the folders of PATH, or `name` itself when it has a slash; empty when there is none.
std::filesystem::path find_program(const std::string& name);

}  // namespace tenshot::descriptor
