#include "descriptor/runtimes/libtorch_runtime.h"

#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <dlfcn.h>
#include <link.h>
#include <torch/version.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "descriptor/runtimes/libtorch_network.h"
#include "nasbench/support/error.h"

namespace tenshot::descriptor {
namespace {

using nasbench::Network;

struct Execution {
  std::string_view name;
  Prepare* prepare;
  std::string_view precision = "fp32";
  double tolerance = 1e-4;
  bool follows_instruction_set = true;
};

/// In the order of libtorch_runtime_names().
constexpr std::array<Execution, 7> executions = {{
    {"libtorch-eager", prepare_eager},
    {"libtorch-frozen", prepare_scripted},
    {"libtorch-optimized", prepare_scripted},
    {"libtorch-xnnpack", prepare_scripted, "fp32", 1e-4, false},
    {"libtorch-channels-last", prepare_eager},
    {"libtorch-int8", prepare_int8, "int8", 0.15},
    {"libtorch-cuda", prepare_eager, "fp32", 1e-2, false},
}};

class LibTorchRuntime final : public Runtime {
 public:
  explicit LibTorchRuntime(const Execution& execution) : execution_(execution) {}

  std::string_view name() const override { return execution_.name; }
  std::string_view precision() const override { return execution_.precision; }
  double tolerance() const override { return execution_.tolerance; }
  bool follows_instruction_set() const override { return execution_.follows_instruction_set; }

  void require_supported(const Network& network, const RuntimeOptions& /*options*/) const override {
    require_runnable(network);
    if (execution_.precision == "int8") require_images(network, name());
  }

  std::string version() const override {
    const bool bytes = execution_.precision == "int8";
    return torch_versions() + (bytes ? ", int8 by " + int8_engine() : "");
  }

  std::unique_ptr<PreparedNetwork> prepare(const Network& network, const RuntimeOptions& options) const override {
    require_runnable(network);
    const at::NoGradGuard no_gradients;
    at::set_num_threads(options.threads);
    try {
      return execution_.prepare(name(), network, options);
    } catch (const c10::Error& error) {
      const std::string reason = error.what_without_backtrace();
      throw Error(std::string(name()) + " cannot prepare the network: " + reason.substr(0, reason.find('\n')));
    }
  }

 private:
  const Execution& execution_;
};

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

/// "OpenBLAS 0.3.21 (openmp, SkylakeX)", as far as the library tells.
std::string openblas(const std::string& path) {
  std::string version;
  if (auto* config = symbol<char*()>(path, "openblas_get_config")) {
    const std::string text = config();  // "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH NO_AFFINITY USE_OPENMP SkylakeX …"
    const std::size_t start = text.find(' ');
    if (start != std::string::npos) version = text.substr(start, text.find(' ', start + 1) - start);
  }
  std::string detail;
  for (const char* threading : {"openmp", "pthread", "serial"}) {
    if (detail.empty() && path.find(threading) != std::string::npos) detail = threading;
  }
  if (auto* core = symbol<char*()>(path, "openblas_get_corename")) {
    detail += (detail.empty() ? "" : ", ") + std::string(core());
  }
  return "OpenBLAS" + version + (detail.empty() ? "" : " (" + detail + ")");
}

}  // namespace

std::unique_ptr<Runtime> make_libtorch_runtime(std::string_view name) {
  const auto found = std::find_if(executions.begin(), executions.end(),
                                  [&](const Execution& execution) { return execution.name == name; });
  return found == executions.end() ? nullptr : std::make_unique<LibTorchRuntime>(*found);
}

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
