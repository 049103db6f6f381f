#include "nasbench/support/late_library.h"

#include <dlfcn.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <thread>

#include "nasbench/support/error.h"

namespace tenshot {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20, kibibyte = 1024;
/// What LibTorch's libraries are mapped to, and what they take beside that (seen in the mappings of LibTorch 1.13.1
/// with OpenBLAS 0.3.21): 128 MiB for each thread and as much once for the first matrix product; stacks; small work.
constexpr std::uint64_t mapped = 600 * mebibyte;
constexpr std::uint64_t of_each_thread = (128 + 8) * mebibyte;
constexpr std::uint64_t beside_threads = (128 + 96) * mebibyte;

/// Bytes of address space in use; 0 where that is not known.
std::uint64_t bytes_in_use() {
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * 4 * kibibyte;
}

/// The threads that OpenBLAS uses: what the environment says, at most one for each processor.
std::uint64_t blas_threads() {
  std::uint64_t asked = 0;
  for (const char* name : {"OMP_NUM_THREADS", "GOTO_NUM_THREADS", "OPENBLAS_NUM_THREADS"}) {
    const char* value = std::getenv(name);
    const std::uint64_t number = value == nullptr ? 0 : std::strtoull(value, nullptr, 10);
    if (number > 0) asked = number;  // the last one counts
  }
  const std::uint64_t processors = std::max(1U, std::thread::hardware_concurrency());
  return asked > 0 ? std::min(asked, processors) : processors;
}

void require_address_space() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  const std::uint64_t threads = blas_threads();
  const std::uint64_t needed = bytes_in_use() + mapped + beside_threads + threads * of_each_thread;
  if (limit.rlim_cur >= needed) return;
  throw Error("the address space is limited to " + std::to_string(limit.rlim_cur / kibibyte) +
              " KiB (ulimit -v), and LibTorch needs " + std::to_string(needed / kibibyte) + " KiB with " +
              std::to_string(threads) +
              (threads == 1 ? " thread; raise the limit" : " threads; raise the limit, or set OPENBLAS_NUM_THREADS=1"));
}

/// The libraries of a Python package torch: in the folder that TENSHOT_LIBTORCH names, as the Python module has it do,
/// or beside the Python of the folder that the program is installed in.
std::vector<fs::path> folders_of_torch() {
  if (const char* given = std::getenv("TENSHOT_LIBTORCH")) return {given};
  std::vector<fs::path> folders;
  std::error_code failed;
  const fs::path library = fs::read_symlink("/proc/self/exe", failed).parent_path().parent_path() / "lib";
  for (const fs::directory_entry& entry : fs::directory_iterator(library, failed)) {
    if (entry.path().filename().string().rfind("python3", 0) != 0) continue;
    folders.push_back(entry.path() / "site-packages/torch/lib");
  }
  return folders;
}

/// Loads LibTorch from there, so that a library that is linked with it finds it in this process by its name.
void load_torch_of_python() {
  std::error_code failed;
  for (const fs::path& folder : folders_of_torch()) {
    for (const char* name : {"libc10.so", "libtorch_cpu.so", "libtorch.so"}) {
      for (const fs::directory_entry& entry : fs::directory_iterator(folder, failed)) {
        if (entry.path().filename().string().rfind(name, 0) != 0) continue;
        if (dlopen(entry.path().c_str(), RTLD_NOW | RTLD_GLOBAL) != nullptr) break;  // one file of several versions
      }
    }
  }
}

struct Files {
  const char* file;
  const char* entry;  ///< its one function
};
constexpr Files torch = {TENSHOT_TORCH_LIBRARY, "tenshot_torch_function"};
constexpr Files engines = {TENSHOT_ENGINES_LIBRARY, "tenshot_engines_function"};

constexpr const char* build_engines = " libopencv-dev, libdnnl-dev and libxgboost-dev, and build tenshot again";

void* open(const Files& files) { return dlopen(files.file, RTLD_NOW | RTLD_LOCAL); }

void* open_torch() {
  require_address_space();
  if (void* library = open(torch)) return library;
  const std::string reason = dlerror();
  load_torch_of_python();
  if (void* library = open(torch)) return library;
  throw Error("this needs LibTorch, which cannot be loaded (" + reason +
              "); install libtenshot_torch beside tenshot, and what it is linked with, or name the folder of that "
              "LibTorch by TENSHOT_LIBTORCH");
}

void* open_engines() {
  if (void* library = open(engines)) return library;
  throw InputError("this needs OpenCV, oneDNN or XGBoost, which cannot be loaded (" + std::string(dlerror()) +
                   "); install libtenshot_engines beside tenshot, and what it is linked with, or" + build_engines);
}

using Finder = void* (*)(const char* name, const char* type);

Finder load(const Files& files, void* (*open_it)()) {
  void* found = dlsym(RTLD_DEFAULT, files.entry);  // a program may be linked with the library
  if (found == nullptr) found = dlsym(open_it(), files.entry);
  if (found == nullptr) throw Error(std::string(files.file) + " is not tenshot's: it has no " + files.entry);
  return reinterpret_cast<Finder>(found);
}

Finder finder(LateLibrary library) {
  if (library == LateLibrary::torch) {
    static const Finder find = load(torch, open_torch);
    return find;
  }
  static const Finder find = load(engines, open_engines);
  return find;
}

}  // namespace

void* late_function(LateLibrary library, const char* name, const char* type) {
  if (void* function = finder(library)(name, type)) return function;
  const bool torch_lacks = library == LateLibrary::torch;
  throw InputError(std::string(torch_lacks ? torch.file : engines.file) + " has no function '" + name +
                   "' of the type that this program calls: both must be of one build of tenshot" +
                   (torch_lacks ? "" : std::string(", or install") + build_engines));
}

}  // namespace tenshot
