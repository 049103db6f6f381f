#include "descriptor/runtimes/runtime.h"

#include <algorithm>

#include "descriptor/runtimes/libtorch_runtime.h"
#include "descriptor/runtimes/opencv_dnn.h"
#include "nasbench/support/error.h"
#include "nasbench/support/text.h"

namespace tenshot::descriptor {

std::vector<std::string> libtorch_runtime_names() {
  return {"libtorch-eager",         "libtorch-frozen", "libtorch-optimized", "libtorch-xnnpack",
          "libtorch-channels-last", "libtorch-int8",   "libtorch-cuda"};
}

std::vector<std::string> runtime_names() {
  std::vector<std::string> names = libtorch_runtime_names();
  if (has_opencv()) names.emplace_back(opencv_runtime_name);
  return names;
}

std::unique_ptr<Runtime> make_runtime(std::string_view name) {
  const std::vector<std::string> names = libtorch_runtime_names();
  if (std::find(names.begin(), names.end(), name) != names.end()) return make_libtorch_runtime(name);
  if (name == opencv_runtime_name) return make_opencv_runtime();
  throw InputError("no runtime '" + std::string(name) + "'; there are " + joined(runtime_names()));
}

}  // namespace tenshot::descriptor
