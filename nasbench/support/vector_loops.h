#pragma once

#include <cstdint>

namespace tenshot {

// The work between the matrix products of a training step, each one pass over memory, and the product of a prediction.
// Compiled for several instruction sets; the machine's best is chosen at start.

/// product = inputs [rows, inner] · weights [inner, columns]. Zeros of the inputs cost nothing: one-hot encodings and
/// what comes out of ReLU are mostly zeros.
void multiply_sparse(const float* inputs, const float* weights, float* product, std::int64_t rows, std::int64_t inner,
                     std::int64_t columns);
/// values[r][c] = max(0, values[r][c] + bias[c]); values is [rows, columns].
void add_bias_and_relu(float* values, const float* bias, std::int64_t rows, std::int64_t columns);
/// values[r][c] += bias[c].
void add_bias(float* values, const float* bias, std::int64_t rows, std::int64_t columns);
/// sums[c] = Σ_r values[r][c].
void sum_columns(const float* values, float* sums, std::int64_t rows, std::int64_t columns);
/// values[i] = 0 where activations[i] ≤ 0: the gradient of ReLU.
void zero_where_not_positive(float* values, const float* activations, std::int64_t count);

/// One step of Adam with β₁ = 0.9, β₂ = 0.999, ε = 1e-8 (Kingma and Ba, ICLR 2015, Algorithm 1); `step` counts from 1.
void adam_step(float* parameters, float* first_moment, float* second_moment, const float* gradient, std::int64_t count,
               std::int64_t step, double learning_rate);

}  // namespace tenshot
