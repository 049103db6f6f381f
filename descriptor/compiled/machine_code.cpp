#include "descriptor/compiled/machine_code.h"

#include "descriptor/compiled/routines.h"

// Each routine is compiled once for each instruction set. Its template is inlined into a function of that instruction
// set, so that no code of another one is shared with the rest of the program.
#define TENSHOT_ROUTINES(name, lanes, rows, target)                                                           \
  target void product_##name(const ProductTask& task) { routines::product<lanes, rows>(task); }               \
  target void depthwise_##name(const DepthwiseTask& task) { routines::depthwise<lanes>(task); }               \
  target void dot_##name(const DotTask& task) { routines::dot<lanes>(task); }                                 \
  target void pool_##name(const PoolTask& task) { routines::pool<lanes>(task); }                              \
  target void apply_##name(Function function, float alpha, float beta, float* values, std::size_t count) {    \
    routines::apply<lanes>(function, alpha, beta, values, count);                                             \
  }                                                                                                           \
  target void add_##name(const float* a, const float* b, bool one, float* sums, std::size_t count) {          \
    routines::pairwise<lanes, false>(a, b, one, sums, count);                                                 \
  }                                                                                                           \
  target void multiply_##name(const float* a, const float* b, bool one, float* products, std::size_t count) { \
    routines::pairwise<lanes, true>(a, b, one, products, count);                                              \
  }                                                                                                           \
  MachineCode code_##name() {                                                                                 \
    return {#name,       2 * (lanes),  product_##name, depthwise_##name, dot_##name,                          \
            pool_##name, apply_##name, add_##name,     multiply_##name};                                      \
  }

namespace tenshot::descriptor {
namespace {

#define TENSHOT_ANY_TARGET
TENSHOT_ROUTINES(any, 4, 4, TENSHOT_ANY_TARGET)
#if defined(__x86_64__)
TENSHOT_ROUTINES(avx2, 8, 6, __attribute__((target("avx2,fma"))))
TENSHOT_ROUTINES(avx512, 16, 7, __attribute__((target("avx512f,avx512vl,avx512bw,avx512dq,avx2,fma"))))
#endif

std::vector<MachineCode> codes_here() {
  std::vector<MachineCode> codes;
#if defined(__x86_64__)
  const bool has_avx2 = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  const bool has_avx512 = __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512vl") != 0 &&
                          __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512dq") != 0;
  if (has_avx2 && has_avx512) codes.push_back(code_avx512());
  if (has_avx2) codes.push_back(code_avx2());
#endif
  codes.push_back(code_any());
  return codes;
}

}  // namespace

const std::vector<MachineCode>& machine_codes() {
  static const std::vector<MachineCode> codes = codes_here();
  return codes;
}

const MachineCode& machine_code() { return machine_codes().front(); }

}  // namespace tenshot::descriptor
