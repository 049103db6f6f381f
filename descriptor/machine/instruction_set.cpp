#include "descriptor/machine/instruction_set.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "nasbench/support/error.h"
#include "nasbench/support/text.h"

namespace tenshot::descriptor {
namespace {

struct InstructionSet {
  const char* name;
  const char* onednn;    ///< DNNL_MAX_CPU_ISA
  const char* libtorch;  ///< ATEN_CPU_CAPABILITY; its kernels know AVX2, AVX-512 and what every processor has
  const char* openblas;  ///< OPENBLAS_CORETYPE: the processor whose kernels it takes
};

constexpr std::array<InstructionSet, 4> capped = {{
    {"sse4.1", "SSE41", "default", "Nehalem"},
    {"avx", "AVX", "default", "Sandybridge"},
    {"avx2", "AVX2", "avx2", "Haswell"},
    {"avx512", "AVX512_CORE", "avx512", "SkylakeX"},
}};

}  // namespace

std::vector<std::string> instruction_sets() {
  std::vector<std::string> names = {"native"};
  for (const InstructionSet& set : capped) names.emplace_back(set.name);
  return names;
}

std::vector<std::pair<std::string, std::string>> instruction_set_environment(std::string_view name) {
  if (name == "native") return {};
  for (const InstructionSet& set : capped) {
    if (name == set.name) {
      return {
          {"DNNL_MAX_CPU_ISA", set.onednn}, {"ATEN_CPU_CAPABILITY", set.libtorch}, {"OPENBLAS_CORETYPE", set.openblas}};
    }
  }
  throw InputError("no instruction set '" + std::string(name) + "'; there are " + joined(instruction_sets()));
}

bool instruction_set_in_force(std::string_view name) {
  const auto wanted = instruction_set_environment(name);
  return std::all_of(wanted.begin(), wanted.end(), [](const auto& variable) {
    const char* value = std::getenv(variable.first.c_str());
    return value != nullptr && variable.second == value;
  });
}

}  // namespace tenshot::descriptor
