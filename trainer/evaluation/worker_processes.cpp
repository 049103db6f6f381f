#include "trainer/evaluation/worker_processes.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <exception>
#include <list>
#include <thread>
#include <utility>

#include "nasbench/support/error.h"
#include "nasbench/support/temporaries.h"

namespace tenshot::trainer::evaluation {
namespace {

constexpr std::size_t longest_message = 4096;  ///< fits a pipe, so that a failing process never waits for its reader

/// A process at work on one task; ended when it goes out of scope.
class Worker {
 public:
  explicit Worker(const ProcessTask& task) : task_(task) {
    int ends[2];
    if (::pipe(ends) != 0) throw Error(std::string("cannot make a pipe (") + std::strerror(errno) + ")");
    const pid_t parent = ::getpid();
    process_ = ::fork();
    if (process_ == 0) {
      ::close(ends[0]);
      serve(task, ends[1], parent);
    }
    ::close(ends[1]);
    message_ = ends[0];
    if (process_ < 0) {
      ::close(message_);
      throw Error(std::string("cannot start a process (") + std::strerror(errno) + ")");
    }
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker() {
    if (process_ > 0) {
      ::kill(process_, SIGKILL);
      ::waitpid(process_, nullptr, 0);
      clean_up_after(process_);
    }
    ::close(message_);
  }

  const ProcessTask& task() const { return task_; }

  bool finished() {
    int status = 0;
    if (::waitpid(process_, &status, WNOHANG) != process_) return false;
    const pid_t ended = std::exchange(process_, -1);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
    std::string message(longest_message, '\0');
    message.resize(static_cast<std::size_t>(std::max<ssize_t>(::read(message_, message.data(), message.size()), 0)));
    if (WIFSIGNALED(status)) {
      clean_up_after(ended);
      message = "its process was ended by signal " + std::to_string(WTERMSIG(status));
    }
    throw Error(task_.name + ": " + message);
  }

 private:
  [[noreturn]] static void serve(const ProcessTask& task, int message, pid_t parent) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
    // What is sent to the whole group, by a Ctrl-C at the terminal or by timeout, is the caller's to answer.
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, SIG_IGN);
    std::string text;
    try {
      task.run();
      ::_exit(0);
    } catch (const std::exception& error) {
      text = error.what();
    } catch (...) {
      text = "failed";
    }
    const ssize_t ignored = ::write(message, text.data(), std::min(text.size(), longest_message));
    ::_exit(ignored >= 0 ? 1 : 2);
  }

  /// Removes what a process that was killed left beside the files that it was writing.
  void clean_up_after(pid_t process) const {
    std::error_code ignored;
    for (const auto& file : task_.files) std::filesystem::remove(temporary_name(file, process), ignored);
  }

  const ProcessTask& task_;
  pid_t process_ = -1;
  int message_ = -1;
};

}  // namespace

void run_in_processes(const std::vector<ProcessTask>& tasks, int jobs,
                      const std::function<void(const ProcessTask&)>& on_finished, const std::function<bool()>& go_on) {
  std::list<Worker> workers;
  auto next = tasks.begin();
  while (next != tasks.end() || !workers.empty()) {
    if (!go_on()) throw Interrupted("stopped; what was finished is kept, and the same call resumed goes on from there");
    while (next != tasks.end() && workers.size() < static_cast<std::size_t>(std::max(jobs, 1))) {
      workers.emplace_back(*next++);
    }
    auto worker = workers.begin();
    while (worker != workers.end() && !worker->finished()) ++worker;
    if (worker == workers.end()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      continue;
    }
    const ProcessTask& finished = worker->task();
    workers.erase(worker);
    on_finished(finished);
  }
}

}  // namespace tenshot::trainer::evaluation
