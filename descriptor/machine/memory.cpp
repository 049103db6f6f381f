#include "descriptor/machine/memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <vector>

#include "nasbench/support/error.h"

#ifdef __GLIBC__
#include <malloc.h>

#include <climits>
#endif

namespace tenshot::descriptor {
namespace {

[[noreturn]] void fail(const std::filesystem::path& file, const char* what) {
  throw FileError(file.string() + ": " + what + " (" + std::strerror(errno) + ")");
}

using OpenFile = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

OpenFile opened(const std::filesystem::path& file) {
  OpenFile result(std::fopen(file.c_str(), "rb"), std::fclose);
  if (result == nullptr) fail(file, "cannot be opened");
  return result;
}

CachedPages cached_pages(const std::filesystem::path& file, int descriptor) {
  struct stat status {};
  if (fstat(descriptor, &status) != 0) fail(file, "its size cannot be read");
  const auto size = static_cast<std::size_t>(status.st_size), page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  CachedPages found;
  if (size == 0) return found;
  void* mapped = mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor, 0);
  if (mapped == MAP_FAILED) fail(file, "cannot be mapped");
  found.pages = (size + page - 1) / page;
  std::vector<unsigned char> resident(found.pages);
  const bool known = mincore(mapped, size, resident.data()) == 0;
  const int error = errno;
  munmap(mapped, size);
  errno = error;
  if (!known) fail(file, "the system does not say whether its pages are in memory");
  found.resident = static_cast<std::size_t>(
      std::count_if(resident.begin(), resident.end(), [](unsigned char state) { return (state & 1) != 0; }));
  return found;
}

/// MemAvailable of /proc/meminfo; 0 where the system does not say.
std::uint64_t available_bytes() {
  std::ifstream file("/proc/meminfo");
  std::string key, unit;
  for (std::uint64_t kibibytes = 0; file >> key >> kibibytes; std::getline(file, unit)) {
    if (key == "MemAvailable:") return kibibytes << 10;
  }
  return 0;
}

bool keeps_heap = false;

}  // namespace

CachedPages cached_pages(const std::filesystem::path& file) { return cached_pages(file, fileno(opened(file).get())); }

CachedPages drop_from_page_cache(const std::filesystem::path& file) {
  const OpenFile held = opened(file);
  const int descriptor = fileno(held.get());
  fsync(descriptor);  // a page that is not on the disk yet is not dropped
  posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED);
  return cached_pages(file, descriptor);
}

std::uint64_t touch_free_memory(std::uint64_t bytes) {
  bytes = std::min(bytes, available_bytes() / 2);
  if (bytes == 0) return 0;
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 0;
  static_cast<void>(::madvise(memory, bytes, MADV_HUGEPAGE));
  auto* first = static_cast<volatile char*>(memory);
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  for (std::uint64_t at = 0; at < bytes; at += page) first[at] = 1;
  ::munmap(memory, bytes);
  return bytes;
}

std::uint64_t memory_of_start(std::uint64_t file_bytes) {
  constexpr std::uint64_t besides = 256U << 20, copies = 4;
  return besides + copies * file_bytes;
}

std::optional<double> peak_memory_mib(std::string_view status) {
  constexpr std::string_view key = "VmHWM:";
  constexpr double kib_per_mib = 1024;
  const std::size_t start = status.find(key);
  if (start == std::string_view::npos) return std::nullopt;
  std::istringstream rest{std::string(status.substr(start + key.size()))};
  std::string unit;
  double kib = 0;
  if (!(rest >> kib >> unit) || unit != "kB") return std::nullopt;
  return kib / kib_per_mib;
}

std::optional<double> peak_memory_mib() {
  std::ifstream file("/proc/self/status");
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  return peak_memory_mib(text);
}

std::string heap_policy() { return keeps_heap ? "kept" : "given back"; }

std::string keep_heap() {
#ifdef __GLIBC__
  constexpr int largest_threshold = 32 << 20;  // bytes; above, glibc takes no value on 64 bits
  constexpr int padding = 64 << 20;            // bytes by which the heap grows at a time
  keeps_heap = mallopt(M_MMAP_THRESHOLD, largest_threshold) == 1 && mallopt(M_TRIM_THRESHOLD, INT_MAX) == 1 &&
               mallopt(M_TOP_PAD, padding) == 1;
#endif
  return heap_policy();
}

}  // namespace tenshot::descriptor
