#include "descriptor/cold/page_cache.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "nasbench/support/error.h"

namespace tenshot::descriptor {
namespace {

class OpenFile {
 public:
  explicit OpenFile(const std::filesystem::path& path)
      : path_(path.string()), descriptor_(::open(path_.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (descriptor_ < 0) fail();
  }
  ~OpenFile() { ::close(descriptor_); }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  [[noreturn]] void fail() const { throw FileError("cannot read '" + path_ + "': " + std::strerror(errno)); }
  int descriptor() const { return descriptor_; }

 private:
  std::string path_;
  int descriptor_;
};

PageCacheState state_of(const OpenFile& file) {
  struct stat status {};
  if (::fstat(file.descriptor(), &status) != 0) file.fail();
  const auto bytes = static_cast<std::size_t>(status.st_size);
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  PageCacheState state;
  state.pages = (bytes + page - 1) / page;
  if (bytes == 0) return state;
  void* map = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file.descriptor(), 0);
  if (map == MAP_FAILED) file.fail();
  std::vector<unsigned char> resident(state.pages);
  const int result = ::mincore(map, bytes, resident.data());
  ::munmap(map, bytes);
  if (result != 0) file.fail();
  for (const unsigned char flags : resident) state.resident += flags & 1U;
  return state;
}

}  // namespace

PageCacheState page_cache_state(const std::filesystem::path& path) { return state_of(OpenFile(path)); }

PageCacheState drop_page_cache(const std::filesystem::path& path) {
  const OpenFile file(path);
  static_cast<void>(::fsync(file.descriptor()));  // pages that are not on disk yet would stay
  static_cast<void>(::posix_fadvise(file.descriptor(), 0, 0, POSIX_FADV_DONTNEED));
  return state_of(file);
}

}  // namespace tenshot::descriptor
