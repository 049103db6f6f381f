#include "descriptor/compiled/compiled_kernel.h"

#include "descriptor/cold/stages.h"
#include "descriptor/compiled/kernel_makers.h"

namespace tenshot::descriptor {
namespace {

struct Maker {
  const char* suffix;  ///< what the kernel's name ends with
  KernelMaker* make;
};

const std::vector<Maker>& makers() {
  static const std::vector<Maker> makers = {{" indirect", indirect_convolution}, {" depthwise", depthwise_convolution},
                                            {" rows", rows_of_weights},          {" pool", compiled_pool},
                                            {" elements", compiled_elements},    {" copy", compiled_copy}};
  return makers;
}

}  // namespace

std::vector<std::string> compiled_kernel_names(const ColdNetwork& network, const ColdLayer& layer) {
  std::vector<std::string> names;
  for (const Maker& maker : makers()) {
    if (maker.make(network, layer, machine_code())) {
      names.push_back(compiled_prefix + machine_code().instruction_set + maker.suffix);
    }
  }
  return names;
}

std::unique_ptr<CompiledKernel> compiled_kernel(const ColdNetwork& network, const ColdLayer& layer,
                                                const std::string& name) {
  for (const MachineCode& code : machine_codes()) {
    for (const Maker& maker : makers()) {
      if (name == compiled_prefix + code.instruction_set + maker.suffix) return maker.make(network, layer, code);
    }
  }
  return nullptr;
}

}  // namespace tenshot::descriptor
