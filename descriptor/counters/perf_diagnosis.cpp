#include "descriptor/counters/perf_diagnosis.h"

#include <cerrno>
#include <cstring>
#include <fstream>

#include "nasbench/support/numbers.h"

namespace tenshot::descriptor {
namespace {

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

Diagnosis no_system_call(const OpenFailure& failure) {
  if (failure.seccomp && failure.paranoid) return by_seccomp();
  return {
      WhyNotCounted::no_kernel_support,
      "this kernel has no perf_event_open: use one that was built with CONFIG_PERF_EVENTS, and no sandbox that hides "
      "it"};
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
    case ENOSYS: return no_system_call(failure);
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

}  // namespace tenshot::descriptor
