#include "descriptor/runtime.h"

#include "descriptor/libtorch_runtime.h"
#include "nasbench/support/error.h"

namespace tenshot::descriptor {

std::vector<std::string> runtime_names() { return {"libtorch-eager", "libtorch-frozen", "libtorch-optimized"}; }

std::unique_ptr<Runtime> make_runtime(std::string_view name) {
  if (name == "libtorch-eager") return make_libtorch_eager();
  if (name == "libtorch-frozen") return make_libtorch_frozen();
  if (name == "libtorch-optimized") return make_libtorch_optimized();
  std::string names;
  for (const std::string& known : runtime_names()) names += (names.empty() ? "" : ", ") + known;
  throw InputError("no runtime '" + std::string(name) + "'; there are " + names);
}

}  // namespace tenshot::descriptor
