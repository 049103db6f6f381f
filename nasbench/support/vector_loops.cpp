#include "nasbench/support/vector_loops.h"

#include <cmath>

// Clones per instruction set need the loader's indirect functions; sanitizers and other processors do without.
#if defined(__x86_64__) && defined(__linux__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && \
    !defined(TENSHOT_NO_CLONES)
#define TENSHOT_FOR_EACH_CPU __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define TENSHOT_FOR_EACH_CPU
#endif

namespace tenshot {

TENSHOT_FOR_EACH_CPU
void multiply_sparse(const float* inputs, const float* weights, float* product, std::int64_t rows, std::int64_t inner,
                     std::int64_t columns) {
  for (std::int64_t r = 0; r < rows; ++r, inputs += inner, product += columns) {
    for (std::int64_t c = 0; c < columns; ++c) product[c] = 0;
    for (std::int64_t i = 0; i < inner; ++i) {
      const float factor = inputs[i];
      if (factor == 0) continue;
      const float* row = weights + i * columns;
      for (std::int64_t c = 0; c < columns; ++c) product[c] += factor * row[c];
    }
  }
}

TENSHOT_FOR_EACH_CPU
void add_bias_and_relu(float* values, const float* bias, std::int64_t rows, std::int64_t columns) {
  for (std::int64_t r = 0; r < rows; ++r, values += columns) {
    for (std::int64_t c = 0; c < columns; ++c) {
      const float value = values[c] + bias[c];
      values[c] = value > 0 ? value : 0;
    }
  }
}

TENSHOT_FOR_EACH_CPU
void add_bias(float* values, const float* bias, std::int64_t rows, std::int64_t columns) {
  for (std::int64_t r = 0; r < rows; ++r, values += columns) {
    for (std::int64_t c = 0; c < columns; ++c) values[c] += bias[c];
  }
}

TENSHOT_FOR_EACH_CPU
void sum_columns(const float* values, float* sums, std::int64_t rows, std::int64_t columns) {
  for (std::int64_t c = 0; c < columns; ++c) sums[c] = 0;
  for (std::int64_t r = 0; r < rows; ++r, values += columns) {
    for (std::int64_t c = 0; c < columns; ++c) sums[c] += values[c];
  }
}

TENSHOT_FOR_EACH_CPU
void zero_where_not_positive(float* values, const float* activations, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) values[i] = activations[i] > 0 ? values[i] : 0;
}

TENSHOT_FOR_EACH_CPU
void adam_step(float* parameters, float* first_moment, float* second_moment, const float* gradient, std::int64_t count,
               std::int64_t step, double learning_rate) {
  constexpr float beta1 = 0.9F, beta2 = 0.999F, epsilon = 1e-8F;
  const double correction1 = 1 - std::pow(0.9, static_cast<double>(step));
  const double correction2 = 1 - std::pow(0.999, static_cast<double>(step));
  const auto rate = static_cast<float>(learning_rate / correction1);
  const auto scale = static_cast<float>(1 / std::sqrt(correction2));
  for (std::int64_t i = 0; i < count; ++i) {
    const float g = gradient[i];
    const float m = beta1 * first_moment[i] + (1 - beta1) * g;
    const float v = beta2 * second_moment[i] + (1 - beta2) * g * g;
    first_moment[i] = m;
    second_moment[i] = v;
    parameters[i] -= rate * m / (std::sqrt(v) * scale + epsilon);
  }
}

}  // namespace tenshot
