#include "descriptor/runtimes/libtorch_runtime.h"
#include "nasbench/support/torch_library.h"

namespace tenshot::descriptor {

std::unique_ptr<Runtime> make_libtorch_runtime(std::string_view name) {
  return from_torch_library<decltype(make_libtorch_runtime)>("make_libtorch_runtime")(name);
}

}  // namespace tenshot::descriptor
