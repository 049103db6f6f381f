#include "descriptor/machine/page_cache.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "nasbench/support/error.h"

namespace tenshot::descriptor {
namespace {

class OpenFile {
 public:
  explicit OpenFile(const std::filesystem::path& path) : path_(path), descriptor_(open(path.c_str(), O_RDONLY)) {
    if (descriptor_ < 0) fail("cannot be opened");
  }
  ~OpenFile() { close(descriptor_); }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  int descriptor() const { return descriptor_; }

  std::size_t size() const {
    struct stat status {};
    if (fstat(descriptor_, &status) != 0) fail("its size cannot be read");
    return static_cast<std::size_t>(status.st_size);
  }

  [[noreturn]] void fail(const char* what) const {
    throw FileError(path_.string() + ": " + what + " (" + std::strerror(errno) + ")");
  }

 private:
  const std::filesystem::path& path_;
  int descriptor_;
};

CachedPages cached_pages(const OpenFile& file) {
  const std::size_t size = file.size(), page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  CachedPages found;
  if (size == 0) return found;
  void* mapped = mmap(nullptr, size, PROT_READ, MAP_SHARED, file.descriptor(), 0);
  if (mapped == MAP_FAILED) file.fail("cannot be mapped");
  found.pages = (size + page - 1) / page;
  std::vector<unsigned char> resident(found.pages);
  const bool known = mincore(mapped, size, resident.data()) == 0;
  const int error = errno;
  munmap(mapped, size);
  errno = error;
  if (!known) file.fail("the system does not say whether its pages are in memory");
  found.resident = static_cast<std::size_t>(
      std::count_if(resident.begin(), resident.end(), [](unsigned char state) { return (state & 1) != 0; }));
  return found;
}

}  // namespace

CachedPages cached_pages(const std::filesystem::path& file) { return cached_pages(OpenFile(file)); }

CachedPages drop_from_page_cache(const std::filesystem::path& file) {
  const OpenFile opened(file);
  fsync(opened.descriptor());  // a page that is not on the disk yet is not dropped
  posix_fadvise(opened.descriptor(), 0, 0, POSIX_FADV_DONTNEED);
  return cached_pages(opened);
}

}  // namespace tenshot::descriptor
