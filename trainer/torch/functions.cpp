// What libtenshot_torch.so offers, by name (nasbench/support/torch_library.h): one row for each function.

#include <cstring>
#include <nlohmann/json.hpp>
#include <typeinfo>
#include <vector>

#include "descriptor/runtimes/libtorch_runtime.h"
#include "descriptor/runtimes/torch_info.h"
#include "trainer/core/libtorch_settings.h"
#include "trainer/networks/exporting.h"
#include "trainer/networks/matrix_product.h"
#include "trainer/predictors/described/descriptor_network.h"
#include "trainer/predictors/help/meta_network.h"

namespace tenshot::trainer {
namespace {

struct Function {
  const char* name;
  const char* type;
  void* address;
};

template <class Signature>
Function row(const char* name, Signature* function) {
  return {name, typeid(Signature).name(), reinterpret_cast<void*>(function)};
}

const std::vector<Function>& functions() {
  static const std::vector<Function> rows = {
      row("make_libtorch_runtime", descriptor::make_libtorch_runtime),
      row("torch_summary", descriptor::torch_summary),
      row("set_libtorch_threads", set_libtorch_threads),
      row("set_flush_denormals", set_flush_denormals),
      row("multiply", multiply),
      row("torchscript", torchscript),
      row("structured::fit_descriptor_network", structured::fit_descriptor_network),
      row("make_meta_network", make_meta_network),
  };
  return rows;
}

}  // namespace
}  // namespace tenshot::trainer

extern "C" __attribute__((visibility("default"))) void* tenshot_torch_function(const char* name, const char* type) {
  for (const auto& row : tenshot::trainer::functions()) {
    if (std::strcmp(row.name, name) == 0 && std::strcmp(row.type, type) == 0) return row.address;
  }
  return nullptr;
}
