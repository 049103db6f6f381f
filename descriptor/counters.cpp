#include "descriptor/counters.h"

#include <perfmon/pfmlib.h>
#include <perfmon/pfmlib_perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include "nasbench/support/error.h"

namespace tenshot::descriptor {
namespace {

/// libpfm4 wants to be initialised once a process; its result stays.
int initialised() {
  static const int result = pfm_initialize();
  return result;
}

std::string paranoid_level() {
  std::ifstream file("/proc/sys/kernel/perf_event_paranoid");
  std::string level;
  return file >> level ? level : "absent";
}

std::string why_not_opened(int error) {
  switch (error) {
    case ENOENT:
    case EOPNOTSUPP:
    case ENODEV:
      return "this machine has no such counter (a virtual machine without a performance monitoring unit?)";
    case EACCES:
    case EPERM:
      return "not permitted (perf_event_paranoid is " + paranoid_level() +
             ", 2 or less is needed; or a container's seccomp filter forbids perf_event_open)";
    case ENOSYS:
      return "this kernel has no perf_event_open, or a sandbox hides it";
    case EMFILE:
      return "too many open files";
    default:
      return std::string("perf_event_open failed: ") + std::strerror(error);
  }
}

perf_event_attr encode(const std::string& event) {
  if (initialised() != PFM_SUCCESS) {
    throw Error("libpfm cannot start: " + std::string(pfm_strerror(initialised())));
  }
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  pfm_perf_encode_arg_t request{};
  request.size = sizeof request;
  request.attr = &attributes;
  const int result = pfm_get_os_event_encoding(event.c_str(), PFM_PLM3, PFM_OS_PERF_EVENT, &request);
  if (result != PFM_SUCCESS) {
    throw Error("event '" + event + "' is not known to libpfm on this processor: " + pfm_strerror(result));
  }
  attributes.disabled = 1;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  return attributes;
}

}  // namespace

EventCounter::EventCounter(std::string event, int descriptor) : event_(std::move(event)), descriptor_(descriptor) {}

EventCounter EventCounter::open(std::string_view event) {
  const std::string name(event);
  perf_event_attr attributes = encode(name);
  constexpr int this_thread = 0, any_cpu = -1, no_group = -1;
  const long descriptor =
      syscall(SYS_perf_event_open, &attributes, this_thread, any_cpu, no_group, PERF_FLAG_FD_CLOEXEC);
  if (descriptor < 0) throw Error("cannot count '" + name + "': " + why_not_opened(errno));
  return EventCounter(name, static_cast<int>(descriptor));
}

EventCounter::EventCounter(EventCounter&& other) noexcept
    : event_(std::move(other.event_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

EventCounter& EventCounter::operator=(EventCounter&& other) noexcept {
  std::swap(event_, other.event_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

EventCounter::~EventCounter() {
  if (descriptor_ >= 0) close(descriptor_);
}

void EventCounter::start() {
  if (ioctl(descriptor_, PERF_EVENT_IOC_RESET, 0) != 0 || ioctl(descriptor_, PERF_EVENT_IOC_ENABLE, 0) != 0) {
    throw Error("cannot start counting '" + event_ + "': " + std::strerror(errno));
  }
}

std::uint64_t EventCounter::stop() {
  std::array<std::uint64_t, 3> result{};  // count, time enabled, time running: the order of read_format
  if (ioctl(descriptor_, PERF_EVENT_IOC_DISABLE, 0) != 0 ||
      read(descriptor_, result.data(), sizeof result) != static_cast<ssize_t>(sizeof result)) {
    throw Error("cannot read the count of '" + event_ + "': " + std::strerror(errno));
  }
  if (result[2] < result[1]) {
    throw Error("'" + event_ + "' was counted during " + std::to_string(result[2]) + " of " +
                std::to_string(result[1]) + " ns only: too many events share the hardware's counters");
  }
  return result[0];
}

std::string libpfm_version() {
  const int version = pfm_get_version();
  return "libpfm " + std::to_string(PFM_MAJ_VERSION(version)) + "." + std::to_string(PFM_MIN_VERSION(version));
}

std::string perf_event_status() {
  try {
    EventCounter cycles = EventCounter::open("perf::PERF_COUNT_HW_CPU_CYCLES");
    cycles.start();
    const std::uint64_t count = cycles.stop();
    if (count == 0) return "no hardware counters: cycles open but never count (a virtual machine's stub?)";
    return "hardware counters available";
  } catch (const Error& error) {
    return std::string("no hardware counters: ") + error.what();
  }
}

}  // namespace tenshot::descriptor
