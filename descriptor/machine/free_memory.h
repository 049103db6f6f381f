#pragma once

#include <cstdint>

namespace tenshot::descriptor {

/// Writes to so many bytes of the system's free memory and frees them again, so that a process that starts now finds
/// them ready. A virtual machine may have given free memory back to its host (free page reporting, a balloon): each
/// page is then fetched when it is first written, which takes milliseconds for a few megabytes, differs from one start
/// to the next, and is nothing that a machine of its own knows. At most half of the memory that is available. Returns
/// how much.
std::uint64_t touch_free_memory(std::uint64_t bytes);

/// How much the start of a network from a file of so many bytes may take: the file's pages, copies of the weights in
/// two layouts, and 256 MiB for what a runtime takes besides.
std::uint64_t memory_of_start(std::uint64_t file_bytes);

}  // namespace tenshot::descriptor
