#pragma once

#include <cstddef>
#include <filesystem>

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
/// came of it: file systems that live in memory, and pages that another process has mapped, stay. Throws FileError as
/// cached_pages.
CachedPages drop_from_page_cache(const std::filesystem::path& file);

}  // namespace tenshot::descriptor
