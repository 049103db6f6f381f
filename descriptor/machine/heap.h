#pragma once

#include <string>

namespace tenshot::descriptor {

/// What becomes of freed memory: "kept" by the process, or "given back" to the system as the C library sees fit.
/// The library's own rule depends on what the process has freed before, so that a network's latency would depend on
/// which networks ran before it: a large one makes all later ones find their memory already mapped.
std::string heap_policy();

/// Freed memory stays with the process from now on, whatever has been freed before. Where the C library has no such
/// setting (it is glibc's mallopt(3)), nothing changes. Returns heap_policy().
std::string keep_heap();

}  // namespace tenshot::descriptor
