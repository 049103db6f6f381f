// What libtenshot_torch.so offers, by name (nasbench/support/late_library.h): one row for each function.

#include <nlohmann/json.hpp>

#include "descriptor/runtimes/libtorch_runtime.h"
#include "nasbench/support/late_library.h"
#include "trainer/core/libtorch.h"
#include "trainer/networks/exporting.h"
#include "trainer/networks/regression_network.h"
#include "trainer/predictors/described/descriptor_prior.h"
#include "trainer/predictors/help/meta_network.h"

extern "C" __attribute__((visibility("default"))) void* tenshot_torch_function(const char* name, const char* type) {
  using namespace tenshot;
  static const std::vector<LateFunction> functions = {
      {"make_libtorch_runtime", descriptor::make_libtorch_runtime},
      {"torch_summary", descriptor::torch_summary},
      {"set_libtorch_threads", trainer::set_libtorch_threads},
      {"set_flush_denormals", trainer::set_flush_denormals},
      {"multiply", trainer::multiply},
      {"torchscript", trainer::torchscript},
      {"structured::fit_descriptor_network", trainer::structured::fit_descriptor_network},
      {"make_meta_network", trainer::make_meta_network},
  };
  return address_of(functions, name, type);
}
