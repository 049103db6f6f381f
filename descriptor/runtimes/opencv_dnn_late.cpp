#include "descriptor/runtimes/opencv_dnn.h"
#include "nasbench/support/late_library.h"

namespace tenshot::descriptor {

bool has_opencv() { return TENSHOT_HAS_OPENCV; }

std::unique_ptr<Runtime> make_opencv_runtime() {
  return from_engines_library("make_opencv_runtime", make_opencv_runtime)();
}

std::unique_ptr<PreparedNetwork> prepare_opencv_onnx(const std::string& onnx, const nasbench::Network& network,
                                                     const RuntimeOptions& options) {
  return from_engines_library("prepare_opencv_onnx", prepare_opencv_onnx)(onnx, network, options);
}

}  // namespace tenshot::descriptor
