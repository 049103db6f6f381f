#include "descriptor/machine/free_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

namespace tenshot::descriptor {
namespace {

/// MemAvailable of /proc/meminfo; 0 where the system does not say.
std::uint64_t available_bytes() {
  std::ifstream file("/proc/meminfo");
  std::string key, unit;
  for (std::uint64_t kibibytes = 0; file >> key >> kibibytes; std::getline(file, unit)) {
    if (key == "MemAvailable:") return kibibytes << 10;
  }
  return 0;
}

}  // namespace

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

}  // namespace tenshot::descriptor
