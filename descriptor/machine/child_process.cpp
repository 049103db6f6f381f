#include "descriptor/machine/child_process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <sstream>
#include <thread>

#include "nasbench/support/elapsed.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/text.h"

namespace tenshot::descriptor {
namespace {

constexpr int cannot_execute = 127;  // as shells say it

std::string last_lines(const std::filesystem::path& path) {
  constexpr std::size_t most_lines = 3;
  std::ifstream file(path);
  std::deque<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    // Valgrind warns of the host's caches, which it does not even simulate.
    if (trimmed(line).empty() || line.find("-- warning: ") != std::string::npos) continue;
    lines.emplace_back(trimmed(line));
    if (lines.size() > most_lines) lines.pop_front();
  }
  return lines.empty() ? "it said nothing" : joined(lines, "; ");
}

/// As exec wants them; it changes none.
std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  return result;
}

/// Whether one of `settings` ("NAME=value") is of the same name as `setting`.
bool sets_name_of(const std::vector<std::string>& settings, const std::string& setting) {
  const std::string name = setting.substr(0, setting.find('=') + 1);
  return std::any_of(settings.begin(), settings.end(),
                     [&](const std::string& other) { return other.compare(0, name.size(), name) == 0; });
}

/// What runs between fork and exec: system calls alone, since another thread may have held any lock.
[[noreturn]] void become(char* const* arguments, char* const* environment, int output, pid_t parent) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(cannot_execute);  // it died before the line above
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  execve(arguments[0], arguments, environment);
  _exit(cannot_execute);
}

/// A started child; killed with its group and waited for unless it has ended.
class Running {
 public:
  explicit Running(const ChildProcess& child) {
    std::vector<char*> arguments = pointers(child.command), environment = pointers(child.environment);
    for (char** own = environ; *own != nullptr; ++own) {
      if (!sets_name_of(child.environment, *own)) environment.push_back(*own);
    }
    arguments.push_back(nullptr);
    environment.push_back(nullptr);
    const int output = open(child.output.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (output < 0) throw FileError(child.output.string() + ": cannot be written: " + std::strerror(errno));
    const pid_t parent = getpid();
    pid_ = fork();
    if (pid_ == 0) become(arguments.data(), environment.data(), output, parent);
    const int error = errno;
    close(output);
    if (pid_ < 0) throw Error("cannot start " + child.command[0] + ": " + std::strerror(error));
    setpgid(pid_, pid_);  // here too: whoever comes first, the group exists before it is killed
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running() {
    if (ended_) return;
    kill(-pid_, SIGKILL);
    while (waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
    }
  }

  bool ended() {
    const pid_t result = waitpid(pid_, &status_, WNOHANG);
    return ended_ = result == pid_ || (result < 0 && errno == ECHILD);
  }
  std::string failure() const {
    if (WIFSIGNALED(status_)) return std::string("was killed by a signal (") + strsignal(WTERMSIG(status_)) + ")";
    if (WEXITSTATUS(status_) == cannot_execute) return "cannot be executed";
    return WEXITSTATUS(status_) == 0 ? "" : "failed with exit code " + std::to_string(WEXITSTATUS(status_));
  }

 private:
  pid_t pid_ = -1;
  int status_ = 0;
  bool ended_ = false;
};

}  // namespace

void run_child(const ChildProcess& child) {
  const Clock::time_point start = Clock::now();
  Running running(child);
  while (!running.ended()) {
    if (child.go_on && !child.go_on()) throw Interrupted(child.command[0] + " was stopped on request");
    if (seconds_since(start) > child.time_limit_s) {
      throw Error(child.command[0] + " was stopped: it had not ended after " + shortest(child.time_limit_s) +
                  " s; the end of its output: " + last_lines(child.output));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  const std::string failure = running.failure();
  if (!failure.empty()) {
    const std::string last_words = last_lines(child.output);
    throw ChildFailed(child.command[0] + " " + failure + "; the end of its output: " + last_words, last_words);
  }
}

std::filesystem::path find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return access(name.c_str(), X_OK) == 0 ? name : "";
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::filesystem::path candidate = std::filesystem::path(folder) / name;
    std::error_code failed;
    if (std::filesystem::is_regular_file(candidate, failed) && access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return {};
}

}  // namespace tenshot::descriptor
