#include "descriptor/compiled/activation.h"

#include <array>

namespace tenshot::descriptor {
namespace {

struct NamedFunction {
  const char* name;
  Function function;
};

constexpr std::array<NamedFunction, 8> functions = {{{"leaky_relu", Function::leaky_relu},
                                                     {"linear", Function::linear},
                                                     {"hard_swish", Function::hard_swish},
                                                     {"hard_sigmoid", Function::hard_sigmoid},
                                                     {"sigmoid", Function::sigmoid},
                                                     {"silu", Function::silu},
                                                     {"tanh", Function::tanh},
                                                     {"elu", Function::elu}}};

}  // namespace

std::optional<CompiledActivation> compiled_activation(const ColdActivation& activation) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  constexpr float relu6_high = 6;
  const auto alpha = static_cast<float>(activation.alpha), beta = static_cast<float>(activation.beta);
  const std::string& name = activation.name;
  if (name.empty()) return CompiledActivation{-infinity, infinity, std::nullopt};
  if (name == "relu") return CompiledActivation{0, infinity, std::nullopt};
  if (name == "relu6") return CompiledActivation{0, relu6_high, std::nullopt};
  if (name == "clip") return CompiledActivation{alpha, beta, std::nullopt};
  for (const NamedFunction& known : functions) {
    if (name == known.name) return CompiledActivation{-infinity, infinity, known.function, alpha, beta};
  }
  return std::nullopt;
}

}  // namespace tenshot::descriptor
