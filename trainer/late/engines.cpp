// What libtenshot_engines.so offers, by name (nasbench/support/late_library.h): one row for each function.

#include "descriptor/onednn/cold_engine.h"
#include "descriptor/runtimes/opencv_dnn.h"
#include "nasbench/support/late_library.h"
#include "trainer/trees/tree_ensemble.h"

extern "C" __attribute__((visibility("default"))) void* tenshot_engines_function(const char* name, const char* type) {
  using namespace tenshot;
  static const std::vector<LateFunction> functions = {
#ifdef TENSHOT_HAS_OPENCV
      {"make_opencv_runtime", descriptor::make_opencv_runtime},
      {"prepare_opencv_onnx", descriptor::prepare_opencv_onnx},
#endif
#ifdef TENSHOT_HAS_XGBOOST
      {"train_trees", trainer::train_trees},
#endif
#ifdef TENSHOT_HAS_ONEDNN
      {"cold_machine", descriptor::cold_machine},
      {"kernel_names", descriptor::kernel_names},
      {"require_this_machine", descriptor::require_this_machine},
      {"measure_cold_stages", descriptor::measure_cold_stages},
      {"missing_weights", descriptor::missing_weights},
      {"make_weights", descriptor::make_weights},
      {"run_cold_start", descriptor::run_cold_start},
#endif
  };
  return address_of(functions, name, type);
}
