#pragma once

#include <optional>
#include <string_view>

namespace tenshot::descriptor {

/// The largest resident set that this process has had since its program began, MiB: VmHWM of /proc/self/status. Nothing
/// where the system does not keep it. (getrusage(2) would count what the process was before it became this program.)
std::optional<double> peak_memory_mib();

/// The same of a text of /proc/PID/status.
std::optional<double> peak_memory_mib(std::string_view status);

}  // namespace tenshot::descriptor
