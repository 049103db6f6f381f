// OpenBLAS takes memory for each of its threads while the program is being loaded, and asks again for ever where the
// limit of the address space (ulimit -v) does not let it: the program would hang before main. What is here runs before
// any library is initialised and says so instead. Nothing of the C++ library is ready yet: only system calls are made.

#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace {

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;
/// What the libraries take beside what they are mapped to (seen in OpenBLAS 0.3.21's mappings): 128 MiB for each thread
/// and as much once for the first matrix product; the threads' stacks; and what small work takes.
constexpr std::uint64_t of_each_thread = (128 + 8) * mebibyte;
constexpr std::uint64_t beside_threads = (128 + 96) * mebibyte;

/// A line in pieces: there is no memory to put it together in.
void say(const char* text) {
  std::size_t length = 0;
  while (text[length] != '\0') ++length;
  if (syscall(SYS_write, STDERR_FILENO, text, length) < 0) return;
}

void say(std::uint64_t number) {
  char digits[24];
  char* first = digits + sizeof digits - 1;
  *first = '\0';
  do {
    *--first = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number != 0);
  say(first);
}

std::uint64_t number_at(const char* text) {
  std::uint64_t number = 0;
  for (; *text >= '0' && *text <= '9'; ++text) number = number * 10 + static_cast<std::uint64_t>(*text - '0');
  return number;
}

/// Bytes of address space in use; 0 where that is not known.
std::uint64_t bytes_in_use() {
  const auto file = static_cast<int>(syscall(SYS_openat, AT_FDCWD, "/proc/self/statm", O_RDONLY));
  if (file < 0) return 0;
  char text[64] = {};
  const long count = syscall(SYS_read, file, text, sizeof text - 1);
  syscall(SYS_close, file);
  constexpr std::uint64_t page = 4096;
  return count > 0 ? number_at(text) * page : 0;
}

/// The threads that OpenBLAS uses: what the environment says, at most one for each processor.
std::uint64_t blas_threads(char** environment) {
  std::uint64_t asked = 0;
  for (const char* name : {"OMP_NUM_THREADS=", "GOTO_NUM_THREADS=", "OPENBLAS_NUM_THREADS="}) {
    for (char** variable = environment; variable != nullptr && *variable != nullptr; ++variable) {
      std::size_t i = 0;
      while (name[i] != '\0' && (*variable)[i] == name[i]) ++i;
      if (name[i] == '\0' && number_at(*variable + i) > 0) asked = number_at(*variable + i);  // the last one counts
    }
  }
  std::uint64_t mask[128] = {};
  const long bytes = syscall(SYS_sched_getaffinity, 0, sizeof mask, mask);
  std::uint64_t processors = 0;
  for (long word = 0; word < bytes / 8; ++word) {
    processors += static_cast<std::uint64_t>(__builtin_popcountll(mask[word]));
  }
  if (processors == 0) processors = 1;
  return asked > 0 && asked < processors ? asked : processors;  // never more than there are processors
}

void require_address_space(int, char**, char** environment) {
  std::uint64_t limit[2] = {};  // as the kernel's struct rlimit64
  if (syscall(SYS_prlimit64, 0, RLIMIT_AS, nullptr, limit) != 0 || limit[0] == ~std::uint64_t{0}) return;
  const std::uint64_t used = bytes_in_use(), threads = blas_threads(environment);
  const std::uint64_t needed = used + beside_threads + threads * of_each_thread;
  if (used == 0 || limit[0] >= needed) return;
  constexpr std::uint64_t kibibyte = 1024;
  say("tenshot: the address space is limited to ");
  say(limit[0] / kibibyte);
  say(" KiB (ulimit -v), and its libraries need ");
  say(needed / kibibyte);
  say(" KiB with ");
  say(threads);
  say(threads == 1 ? " thread; raise the limit\n" : " threads; raise the limit, or set OPENBLAS_NUM_THREADS=1\n");
  syscall(SYS_exit_group, 1);
}

using Function = void (*)(int, char**, char**);
__attribute__((section(".preinit_array"), used)) const Function before_all_libraries = require_address_space;

}  // namespace
