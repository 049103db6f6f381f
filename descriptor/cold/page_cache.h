#pragma once

#include <cstdint>
#include <filesystem>

namespace tenshot::descriptor {

/// How much of a file the system holds in memory.
struct PageCacheState {
  std::uint64_t pages = 0;     ///< of the file
  std::uint64_t resident = 0;  ///< pages of it in memory, as mincore says
  bool is_cold() const { return resident == 0; }
};

/// Throws FileError where the file cannot be read.
PageCacheState page_cache_state(const std::filesystem::path& path);

/// Asks the system to forget the file's pages (posix_fadvise, DONTNEED, after flushing them to disk), and says what
/// is left: a file in memory (tmpfs), or mapped by another process, stays. Throws FileError where the file cannot be
/// read.
PageCacheState drop_page_cache(const std::filesystem::path& path);

}  // namespace tenshot::descriptor
