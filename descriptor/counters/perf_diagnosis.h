#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "descriptor/counters/core_types.h"

namespace tenshot::descriptor {

/// Why perf_event_open(2) refuses an event.
enum class WhyNotCounted { no_pmu, paranoid, seccomp, event_unknown, file_limit, no_kernel_support, other };

/// What is known when perf_event_open(2) failed.
struct OpenFailure {
  int error = 0;                ///< errno
  std::optional<int> paranoid;  ///< kernel.perf_event_paranoid; nothing where the kernel has no such setting
  bool hardware_pmu = false;    ///< whether the kernel lists a PMU of the cores (core_types)
  bool seccomp = false;         ///< whether a seccomp filter watches this process
  bool kernel_mode = false;     ///< whether the event counts in the kernel too, which needs more rights
};

struct Diagnosis {
  WhyNotCounted why = WhyNotCounted::other;
  std::string text;  ///< one line: what it is, and what to do
};

/// Which of the reasons it is, by what perf_event_open(2) says of its errors. A seccomp filter answers EPERM (Docker,
/// Podman, systemd) or ENOSYS, and the kernel itself EACCES where perf_event_paranoid forbids, which tells them apart:
/// - no such event and no PMU of the cores at all: a virtual machine; with a PMU: the core lacks the event;
/// - EACCES and perf_event_paranoid over what the event needs (2 in user mode, 1 in the kernel): paranoid;
/// - other refusals and ENOSYS on a kernel that has the setting, under a filter: seccomp;
/// - ENOSYS otherwise: the kernel was built without perf events.
Diagnosis diagnose(const OpenFailure& failure);

/// Gathers what `diagnose` wants about this process and machine. `proc` and `sources` are other folders in tests.
OpenFailure observe_failure(int error, bool kernel_mode, const std::filesystem::path& proc = "/proc",
                            const std::filesystem::path& sources = event_sources);

}  // namespace tenshot::descriptor
