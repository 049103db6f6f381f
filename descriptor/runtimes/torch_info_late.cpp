#include "descriptor/runtimes/torch_info.h"
#include "nasbench/support/error.h"
#include "nasbench/support/torch_library.h"

namespace tenshot::descriptor {

std::string torch_summary() try {
  return from_torch_library<decltype(torch_summary)>("torch_summary")();
} catch (const Error& error) {
  return std::string("LibTorch is not loaded, which networks, TorchScript and its runtimes need: ") + error.what();
}

}  // namespace tenshot::descriptor
