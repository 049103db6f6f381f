#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace tenshot::descriptor {

/// How much of a file the system keeps in memory.
struct CachedPages {
  std::size_t pages = 0;     ///< pages that the file has
  std::size_t resident = 0;  ///< pages of it in the page cache (mincore(2))

  bool dropped() const { return resident == 0; }
};

/// Throws FileError where the file cannot be read or the system does not say.
CachedPages cached_pages(const std::filesystem::path& file);

/// Asks the system to forget the file's pages (fsync(2), then posix_fadvise(2) with POSIX_FADV_DONTNEED), and says what
/// came of it: file systems in memory, and pages that another process has mapped, stay. Throws as cached_pages.
CachedPages drop_from_page_cache(const std::filesystem::path& file);

/// Writes to so many bytes of the system's free memory and frees them again, so that a process that starts now finds
/// them ready. A virtual machine may have given free memory back to its host (free page reporting, a balloon): each
/// page is then fetched when it is first written, which takes milliseconds for a few megabytes and differs from start
/// to start. At most half of the memory that is available. Returns how much.
std::uint64_t touch_free_memory(std::uint64_t bytes);

/// How much the start of a network from a file of so many bytes may take: the file's pages, copies of the weights in
/// two layouts, and 256 MiB for what a runtime takes besides.
std::uint64_t memory_of_start(std::uint64_t file_bytes);

/// The largest resident set that this process has had since its program began, MiB: VmHWM of /proc/self/status. Nothing
/// where the system does not keep it. (getrusage(2) would count what the process was before it became this program.)
std::optional<double> peak_memory_mib();

/// The same of a text of /proc/PID/status.
std::optional<double> peak_memory_mib(std::string_view status);

/// What becomes of freed memory: "kept" by the process, or "given back" to the system as the C library sees fit.
/// The library's own rule depends on what the process has freed before, so that a network's latency would depend on
/// which networks ran before it: a large one makes all later ones find their memory already mapped.
std::string heap_policy();

/// Freed memory stays with the process from now on, whatever has been freed before. Where the C library has no such
/// setting (it is glibc's mallopt(3)), nothing changes. Returns heap_policy().
std::string keep_heap();

}  // namespace tenshot::descriptor
