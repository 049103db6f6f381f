#include "descriptor/compiled/compiled_kernel.h"

#include <utility>

#include "descriptor/cold/cold_files.h"
#include "descriptor/compiled/kernel_makers.h"

namespace tenshot::descriptor {
namespace {

/// What makes the kernels whose names end so.
constexpr std::pair<const char*, KernelMaker*> makers[] = {
    {" indirect", indirect_convolution}, {" depthwise", depthwise_convolution},
    {" rows", rows_of_weights},          {" pool", compiled_pool},
    {" elements", compiled_elements},    {" copy", compiled_copy}};

constexpr std::pair<const char*, Function> functions[] = {{"leaky_relu", Function::leaky_relu},
                                                          {"linear", Function::linear},
                                                          {"hard_swish", Function::hard_swish},
                                                          {"hard_sigmoid", Function::hard_sigmoid},
                                                          {"sigmoid", Function::sigmoid},
                                                          {"silu", Function::silu},
                                                          {"tanh", Function::tanh},
                                                          {"elu", Function::elu}};

}  // namespace

std::vector<std::string> compiled_kernel_names(const ColdNetwork& network, const ColdLayer& layer) {
  std::vector<std::string> names;
  for (const auto& [suffix, make] : makers) {
    if (make(network, layer, machine_code())) {
      names.push_back(compiled_prefix + machine_code().instruction_set + suffix);
    }
  }
  return names;
}

std::optional<CompiledKernel> compiled_kernel(const ColdNetwork& network, const ColdLayer& layer,
                                              const std::string& name) {
  for (const MachineCode& code : machine_codes()) {
    for (const auto& [suffix, make] : makers) {
      if (name == compiled_prefix + code.instruction_set + suffix) return make(network, layer, code);
    }
  }
  return std::nullopt;
}

std::optional<CompiledActivation> compiled_activation(const ColdActivation& activation) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  constexpr float relu6_high = 6;
  const auto alpha = static_cast<float>(activation.alpha), beta = static_cast<float>(activation.beta);
  const std::string& name = activation.name;
  if (name.empty()) return CompiledActivation{-infinity, infinity, std::nullopt};
  if (name == "relu") return CompiledActivation{0, infinity, std::nullopt};
  if (name == "relu6") return CompiledActivation{0, relu6_high, std::nullopt};
  if (name == "clip") return CompiledActivation{alpha, beta, std::nullopt};
  for (const auto& [known, function] : functions) {
    if (name == known) return CompiledActivation{-infinity, infinity, function, alpha, beta};
  }
  return std::nullopt;
}

}  // namespace tenshot::descriptor
