#include "descriptor/counters/counters.h"

#include <perfmon/pfmlib.h>
#include <perfmon/pfmlib_perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "nasbench/support/numbers.h"

namespace tenshot::descriptor {
namespace {

/// libpfm4 wants to be initialised once a process; its result stays.
int initialised() {
  static const int result = pfm_initialize();
  return result;
}

struct KnownEvent {
  const char* name;    // perf's
  const char* libpfm;  // libpfm4's, of the kernel's generic events
  bool never_zero;
  bool in_kernel;  // happens in the kernel only: counted in user mode it is zero
};

constexpr std::array<KnownEvent, 9> known_events = {{
    {"cycles", "perf::PERF_COUNT_HW_CPU_CYCLES", true, false},
    {"instructions", "perf::PERF_COUNT_HW_INSTRUCTIONS", true, false},
    {"cache-references", "perf::PERF_COUNT_HW_CACHE_REFERENCES", true, false},
    {"cache-misses", "perf::PERF_COUNT_HW_CACHE_MISSES", false, false},
    {"L1-dcache-loads", "perf::L1-DCACHE-LOADS", true, false},
    {"L1-dcache-load-misses", "perf::L1-DCACHE-LOAD-MISSES", false, false},
    {"task-clock", "perf::PERF_COUNT_SW_TASK_CLOCK", false, false},
    {"page-faults", "perf::PERF_COUNT_SW_PAGE_FAULTS", false, false},
    {"context-switches", "perf::PERF_COUNT_SW_CONTEXT_SWITCHES", false, true},
}};

const KnownEvent* known(std::string_view name) {
  const auto* found = std::find_if(known_events.begin(), known_events.end(),
                                   [&](const KnownEvent& event) { return name == event.name; });
  return found == known_events.end() ? nullptr : found;
}

perf_event_attr encode(const std::string& name) {
  if (initialised() != PFM_SUCCESS) throw Error("libpfm cannot start: " + std::string(pfm_strerror(initialised())));
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  pfm_perf_encode_arg_t request{};
  request.size = sizeof request;
  request.attr = &attributes;
  const KnownEvent* event = known(name);
  const int result =
      pfm_get_os_event_encoding(event ? event->libpfm : name.c_str(), PFM_PLM3, PFM_OS_PERF_EVENT, &request);
  if (result != PFM_SUCCESS) {
    throw InputError("event '" + name + "' is not known to libpfm on this processor: " + pfm_strerror(result) +
                     "; expected one of perf's (cycles, cache-misses, ...) or of libpfm4's names");
  }
  attributes.disabled = 1;
  attributes.inherit = 1;
  attributes.exclude_kernel = event != nullptr && event->in_kernel ? 0 : 1;
  attributes.exclude_hv = 1;
  attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  return attributes;
}

std::vector<int> threads_of_this_process() {
  std::vector<int> threads;
  std::error_code error;
  for (const std::filesystem::path& entry : entries_of("/proc/self/task", &error)) {
    if (const auto thread = parse_integer(entry.filename().string())) threads.push_back(static_cast<int>(*thread));
  }
  if (error || threads.empty()) throw Error("cannot list this process's threads in /proc/self/task: is /proc mounted?");
  return threads;
}

constexpr int most_paranoid_for_user_mode = 2, most_paranoid_for_the_kernel = 1;

Diagnosis too_paranoid(int found, int wanted) {
  return {WhyNotCounted::paranoid,
          "kernel.perf_event_paranoid is " + std::to_string(found) + ", " + std::to_string(wanted) +
              " or less is needed: run 'sysctl kernel.perf_event_paranoid=" + std::to_string(wanted) +
              "' as root, or give the program the capability CAP_PERFMON"};
}

Diagnosis by_seccomp() {
  return {WhyNotCounted::seccomp,
          "a seccomp filter, as containers have, forbids perf_event_open: allow it in the container's seccomp profile, "
          "start the container with CAP_PERFMON, or measure outside of it"};
}

Diagnosis not_permitted(const OpenFailure& failure) {
  const int wanted = failure.kernel_mode ? most_paranoid_for_the_kernel : most_paranoid_for_user_mode;
  const bool paranoid = failure.paranoid && *failure.paranoid > wanted;
  if (paranoid && (failure.error == EACCES || !failure.seccomp)) return too_paranoid(*failure.paranoid, wanted);
  if (failure.seccomp) return by_seccomp();
  return {WhyNotCounted::other,
          "not permitted, though kernel.perf_event_paranoid is " +
              (failure.paranoid ? std::to_string(*failure.paranoid) : std::string("absent")) +
              " and no seccomp filter is active: ask the system's security module (SELinux, AppArmor), or run as root"};
}

Diagnosis no_such_event(const OpenFailure& failure) {
  if (!failure.hardware_pmu) {
    return {WhyNotCounted::no_pmu,
            "this machine shows no performance monitoring unit, as most virtual machines: measure on the bare machine, "
            "or give the guest a virtual PMU"};
  }
  return {WhyNotCounted::event_unknown, std::string("this core has no such event (") + std::strerror(failure.error) +
                                            "): leave it out, or name the core's own event as libpfm4 does"};
}

}  // namespace

Diagnosis diagnose(const OpenFailure& failure) {
  switch (failure.error) {
    case ENOENT:
    case EOPNOTSUPP:
    case ENODEV:
    case ENXIO: return no_such_event(failure);
    case EINVAL:  // what a core's driver says of an encoding it does not know
      if (failure.hardware_pmu) return no_such_event(failure);
      break;
    case EACCES:
    case EPERM: return not_permitted(failure);
    case ENOSYS:
      if (failure.seccomp && failure.paranoid) return by_seccomp();
      return {WhyNotCounted::no_kernel_support,
              "this kernel has no perf_event_open: use one that was built with CONFIG_PERF_EVENTS, and no sandbox that "
              "hides it"};
    case EMFILE:
    case ENFILE:
      return {WhyNotCounted::file_limit,
              "too many open files: each event takes one a thread; raise the limit ('ulimit -n') or count fewer events "
              "a pass"};
    default: break;
  }
  return {WhyNotCounted::other, std::string("perf_event_open failed: ") + std::strerror(failure.error)};
}

OpenFailure observe_failure(int error, bool kernel_mode, const std::filesystem::path& proc,
                            const std::filesystem::path& sources) {
  OpenFailure failure;
  failure.error = error;
  failure.kernel_mode = kernel_mode;
  failure.hardware_pmu = !core_types(sources).empty();
  std::ifstream paranoid(proc / "sys/kernel/perf_event_paranoid");
  int level = 0;
  if (paranoid >> level) failure.paranoid = level;
  std::ifstream status(proc / "self/status");
  for (std::string line; std::getline(status, line);) {
    constexpr std::string_view key = "Seccomp:";  // 0 off, 1 strict, 2 filter
    if (line.rfind(key, 0) == 0) failure.seccomp = parse_integer(line.substr(key.size())).value_or(0) != 0;
  }
  return failure;
}

CountedValue interpret(std::string_view event, const RawCount& raw) {
  const KnownEvent* rules = known(event);
  if (raw.running_ns == 0 || (raw.count == 0 && rules != nullptr && rules->never_zero)) return {};
  CountedValue value;
  value.scaled = raw.running_ns < raw.enabled_ns;
  value.count = static_cast<double>(raw.count);
  if (value.scaled) value.count *= static_cast<double>(raw.enabled_ns) / static_cast<double>(raw.running_ns);
  return value;
}

void CounterGroup::Close::operator()(const int* descriptor) const {
  close(*descriptor);
  delete descriptor;
}

CounterGroup::Event CounterGroup::open_event(const std::string& name, const std::vector<int>& threads, int cpu) {
  perf_event_attr attributes = encode(name);
  Event event;
  event.name = name;
  event.descriptors.reserve(threads.size());
  for (const int thread : threads) {
    constexpr int no_group = -1;
    const long number = syscall(SYS_perf_event_open, &attributes, thread, cpu, no_group, PERF_FLAG_FD_CLOEXEC);
    if (number >= 0) {
      event.descriptors.emplace_back(new int(static_cast<int>(number)));
      continue;
    }
    if (errno == ESRCH && threads.size() > 1) continue;  // it has ended since it was listed
    const Diagnosis diagnosis = diagnose(observe_failure(errno, attributes.exclude_kernel == 0));
    if (diagnosis.why != WhyNotCounted::event_unknown) throw Error("cannot count '" + name + "': " + diagnosis.text);
    event.unavailable = diagnosis.text;
    event.descriptors.clear();
    break;
  }
  return event;
}

CounterGroup CounterGroup::open(const std::vector<std::string>& events, const CounterOptions& options) {
  constexpr int calling_thread = 0;
  const std::vector<int> threads =
      options.running_threads ? threads_of_this_process() : std::vector<int>{calling_thread};
  CounterGroup group;
  for (const std::string& name : events) group.events_.push_back(open_event(name, threads, options.cpu));
  return group;
}

RawCount CounterGroup::total(const Event& event) {
  RawCount sum;
  for (const auto& descriptor : event.descriptors) {
    RawCount one;  // in the order of read_format
    static_assert(sizeof one == 3 * sizeof(std::uint64_t));
    if (::read(*descriptor, &one, sizeof one) != static_cast<ssize_t>(sizeof one)) {
      throw Error("cannot read the count of '" + event.name + "': " + std::strerror(errno));
    }
    sum.count += one.count;
    sum.enabled_ns += one.enabled_ns;
    sum.running_ns += one.running_ns;
  }
  return sum;
}

void CounterGroup::command(unsigned long request, const char* what) {
  for (const Event& event : events_) {
    for (const auto& descriptor : event.descriptors) {
      if (ioctl(*descriptor, request, 0) != 0) {
        throw Error(std::string("cannot ") + what + " counting '" + event.name + "': " + std::strerror(errno));
      }
    }
  }
}

void CounterGroup::start() {
  command(PERF_EVENT_IOC_DISABLE, "stop");
  for (Event& event : events_) event.at_start = total(event);
  command(PERF_EVENT_IOC_ENABLE, "start");
}

std::vector<CountedValue> CounterGroup::read() const {
  std::vector<CountedValue> values;
  for (const Event& event : events_) {
    const RawCount now = total(event);
    const RawCount& then = event.at_start;
    values.push_back(interpret(
        event.name, {now.count - then.count, now.enabled_ns - then.enabled_ns, now.running_ns - then.running_ns}));
  }
  return values;
}

std::vector<CountedValue> CounterGroup::stop() {
  command(PERF_EVENT_IOC_DISABLE, "stop");
  return read();
}

std::vector<std::string> CounterGroup::unavailable() const {
  std::vector<std::string> reasons;
  for (const Event& event : events_) reasons.push_back(event.unavailable);
  return reasons;
}

std::string libpfm_version() {
  const int version = pfm_get_version();
  return "libpfm " + std::to_string(PFM_MAJ_VERSION(version)) + "." + std::to_string(PFM_MIN_VERSION(version));
}

std::string perf_event_status() {
  try {
    CounterGroup group = CounterGroup::open({"cycles"});
    if (!group.unavailable()[0].empty()) return "no hardware counters: " + group.unavailable()[0];
    group.start();
    if (group.stop()[0].missing()) {
      return "no hardware counters: cycles open but never count (a virtual machine's stub?)";
    }
    return "hardware counters available";
  } catch (const Error& error) {
    return std::string("no hardware counters: ") + error.what();
  }
}

}  // namespace tenshot::descriptor
