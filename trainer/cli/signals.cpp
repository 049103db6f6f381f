#include "trainer/cli/signals.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <system_error>
#include <thread>

#include "nasbench/support/temporaries.h"

namespace tenshot::cli {
namespace {

constexpr std::array<int, 3> watched = {SIGINT, SIGTERM, SIGHUP};
constexpr int time_to_stop_ms = 700;

volatile std::sig_atomic_t stop_signal = 0;
std::atomic<bool> somebody_asks = false;
std::array<int, 2> wake_up = {-1, -1};  ///< a pipe from the handler to the thread

/// Does what a handler may: sets a flag and writes to a pipe.
void on_signal(int signal) {
  const int before = errno;
  stop_signal = signal;
  const char byte = 0;
  const ssize_t ignored = ::write(wake_up[1], &byte, 1);
  static_cast<void>(ignored);
  errno = before;
}

void end_by(int signal) {
  remove_temporaries();
  std::signal(signal, SIG_DFL);
  ::kill(::getpid(), signal);
  sigset_t own;
  sigemptyset(&own);
  sigaddset(&own, signal);
  pthread_sigmask(SIG_UNBLOCK, &own, nullptr);
  constexpr int shells_add = 128;
  ::_exit(shells_add + signal);  // where the signal is held back from this process
}

void wait_for_signals() {
  char byte = 0;
  if (TEMP_FAILURE_RETRY(::read(wake_up[0], &byte, 1)) != 1) return;
  pollfd second = {wake_up[0], POLLIN, 0};
  if (somebody_asks) TEMP_FAILURE_RETRY(::poll(&second, 1, time_to_stop_ms));
  end_by(stop_signal);
}

/// A thread that takes no signals itself: they interrupt whom they always did. False where none is to be had.
bool start_watching() {
  std::signal(SIGXFSZ, SIG_IGN);  // a file that is too large is an error of its writing
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  bool started = true;
  try {
    std::thread(wait_for_signals).detach();
  } catch (const std::system_error&) {
    started = false;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

}  // namespace

void watch_signals() {
  if (::pipe2(wake_up.data(), O_CLOEXEC | O_NONBLOCK) != 0) return;
  ::fcntl(wake_up[0], F_SETFL, 0);  // the thread waits; the handler never does
  if (!start_watching()) return;    // a signal ends the program as it ends any other
  for (const int signal : watched) {
    struct sigaction action {};
    if (signal == SIGHUP && ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN) continue;
    action = {};
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    sigfillset(&action.sa_mask);
    ::sigaction(signal, &action, nullptr);
  }
}

bool stop_requested() {
  somebody_asks = true;
  return stop_signal != 0;
}

void end_by_signal() {
  if (stop_signal != 0) end_by(stop_signal);
}

}  // namespace tenshot::cli
