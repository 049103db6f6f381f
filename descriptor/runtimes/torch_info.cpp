#include "descriptor/runtimes/torch_info.h"

#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <dlfcn.h>
#include <link.h>
#include <torch/version.h>

#include <filesystem>
#include <string_view>

namespace tenshot::descriptor {
namespace {

/// The file that the loaded library called `soname` really is, links followed; "" when none is loaded.
std::string loaded_library(std::string_view soname) {
  struct Search {
    std::string_view soname;
    std::string path;
  } search{soname, ""};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        auto* wanted = static_cast<Search*>(data);
        const std::string_view path = info->dlpi_name == nullptr ? "" : info->dlpi_name;
        if (path.substr(path.rfind('/') + 1).rfind(wanted->soname, 0) != 0) return 0;
        wanted->path = path;
        return 1;
      },
      &search);
  std::error_code failed;
  const std::filesystem::path real = std::filesystem::canonical(search.path, failed);
  return failed ? search.path : real.string();
}

/// A function of a library that is loaded already, whether its names are the whole process's or not.
template <class Function>
Function* symbol(const std::string& path, const char* name) {
  void* library = dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return nullptr;
  auto* found = reinterpret_cast<Function*>(dlsym(library, name));
  dlclose(library);  // it stays loaded: this was one more use of it
  return found;
}

/// What follows `key` in LibTorch's own description, up to a character of `stops`; "" without the key.
std::string shown(std::string_view key, std::string_view stops) {
  const std::string config = at::show_config();
  const std::size_t start = config.find(key);
  if (start == std::string::npos) return "";
  const std::size_t value = start + key.size();
  return config.substr(value, config.find_first_of(stops, value) - value);
}

std::string threading_of(const std::string& path) {
  for (const char* kind : {"openmp", "pthread", "serial"}) {
    if (path.find(kind) != std::string::npos) return kind;
  }
  return "";
}

/// "OpenBLAS 0.3.21 (openmp, SkylakeX)", as far as the library tells.
std::string openblas(const std::string& path) {
  std::string version;
  if (auto* config = symbol<char*()>(path, "openblas_get_config")) {
    const std::string text = config();  // "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH NO_AFFINITY USE_OPENMP SkylakeX …"
    const std::size_t start = text.find(' ');
    if (start != std::string::npos) version = text.substr(start, text.find(' ', start + 1) - start);
  }
  std::string detail = threading_of(path);
  if (auto* core = symbol<char*()>(path, "openblas_get_corename")) {
    detail += (detail.empty() ? "" : ", ") + std::string(core());
  }
  return "OpenBLAS" + version + (detail.empty() ? "" : " (" + detail + ")");
}

}  // namespace

std::string blas_in_use() {
  std::string path = loaded_library("libblas.so");
  if (path.empty()) path = loaded_library("libopenblas");
  if (path.find("openblas") != std::string::npos) return openblas(path);
  for (const char* name : {"blis", "atlas", "mkl"}) {
    if (path.find(name) != std::string::npos) return std::string(name) + " BLAS";
  }
  if (!path.empty()) return "reference BLAS (slow: install libopenblas0-openmp)";
  const std::string built_with = shown("BLAS_INFO=", ", \n");
  return built_with.empty() ? "unknown BLAS" : built_with + " BLAS";
}

std::string torch_versions() {
  std::string versions = "LibTorch " TORCH_VERSION;
  const std::string onednn = shown("MKL-DNN v", " \n");
  versions += onednn.empty() ? ", no oneDNN" : ", oneDNN " + onednn;
  versions += ", " + blas_in_use();
  const std::string capability = shown("CPU capability usage: ", " \n");
  return capability.empty() ? versions : versions + ", " + capability;
}

std::string torch_summary() {
  const int threads = at::get_num_threads();
  return torch_versions() + ", " + std::to_string(threads) + (threads == 1 ? " thread" : " threads");
}

}  // namespace tenshot::descriptor
