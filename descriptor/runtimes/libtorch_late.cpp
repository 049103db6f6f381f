#include "descriptor/runtimes/libtorch_runtime.h"
#include "nasbench/support/error.h"
#include "nasbench/support/late_library.h"

namespace tenshot::descriptor {

std::unique_ptr<Runtime> make_libtorch_runtime(std::string_view name) {
  return from_torch_library("make_libtorch_runtime", make_libtorch_runtime)(name);
}

std::string torch_summary() try {
  return from_torch_library("torch_summary", torch_summary)();
} catch (const Error& error) {
  return std::string("LibTorch is not loaded, which networks, TorchScript and its runtimes need: ") + error.what();
}

}  // namespace tenshot::descriptor
