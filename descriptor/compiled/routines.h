#pragma once

#include <cstring>
#include <limits>

#include "descriptor/compiled/machine_code.h"

// Templates of the routines, over the lanes of a vector and the rows that are computed at once. They are inlined into
// functions of an instruction set (machine_code.cpp), and call nothing that could be shared between instruction sets.
#define TENSHOT_INLINE inline __attribute__((always_inline))

namespace tenshot::descriptor::routines {

template <int lanes>
struct Lanes {
  typedef float Vector __attribute__((vector_size(lanes * sizeof(float))));
  typedef std::int32_t Integers __attribute__((vector_size(lanes * sizeof(float))));
  typedef float Stored __attribute__((vector_size(lanes * sizeof(float)), aligned(4), may_alias));
};

template <int lanes>
using Vector = typename Lanes<lanes>::Vector;

template <int lanes>
TENSHOT_INLINE void load(const float* from, Vector<lanes>& to) {
  to = *reinterpret_cast<const typename Lanes<lanes>::Stored*>(from);
}

template <int lanes>
TENSHOT_INLINE void store(const Vector<lanes>& from, float* to) {
  *reinterpret_cast<typename Lanes<lanes>::Stored*>(to) = from;
}

/// Copies fewer than `lanes` numbers, in pieces of powers of two.
template <int lanes>
TENSHOT_INLINE void copy_some(const float* from, int count, float* to) {
#pragma GCC unroll 8
  for (int piece = lanes / 2; piece > 0; piece /= 2) {
    if ((count & piece) == 0) continue;
    std::memcpy(to, from, static_cast<std::size_t>(piece) * sizeof(float));
    from += piece;
    to += piece;
  }
}

/// The first `count` lanes; zeros behind them.
template <int lanes>
TENSHOT_INLINE void load_some(const float* from, int count, Vector<lanes>& to) {
  if (count >= lanes) return load<lanes>(from, to);
  float padded[lanes] = {};
  copy_some<lanes>(from, count, padded);
  load<lanes>(padded, to);
}

template <int lanes>
TENSHOT_INLINE void store_some(const Vector<lanes>& from, int count, float* to) {
  if (count >= lanes) return store<lanes>(from, to);
  float padded[lanes];
  store<lanes>(from, padded);
  if (count > 0) copy_some<lanes>(padded, count, to);
}

template <int lanes>
TENSHOT_INLINE void clamp(float low, float high, Vector<lanes>& x) {
  const Vector<lanes> least = low - Vector<lanes>{}, most = high - Vector<lanes>{};
  x = x > least ? x : least;
  x = x < most ? x : most;
}

/// Vectors of a row of packed weights.
constexpr int packed_vectors = 2;

/// A block of `rows` × `vectors` · lanes of a product, kept in registers. `whole`: all of its columns are the task's.
template <int lanes, int rows, int vectors, bool whole>
TENSHOT_INLINE void product_tile(const ProductTask& task, int row, int column, const float* weights) {
  const int columns = whole ? vectors * lanes : task.columns - column;
  Vector<lanes> sums[rows][vectors];
  for (int v = 0; v < vectors; ++v) {
    load_some<lanes>(task.bias + column + v * lanes, columns - v * lanes, sums[0][v]);
    for (int r = 1; r < rows; ++r) sums[r][v] = sums[0][v];
  }
  const float* const* pieces = task.pieces + static_cast<std::ptrdiff_t>(row) * task.taps;
  for (int tap = 0; tap < task.taps; ++tap) {
    const float* inputs[rows];
    for (int r = 0; r < rows; ++r) inputs[r] = pieces[static_cast<std::ptrdiff_t>(r) * task.taps + tap] + task.offset;
    for (int d = 0; d < task.depth; ++d, weights += packed_vectors * lanes) {
      Vector<lanes> weight[vectors];
      for (int v = 0; v < vectors; ++v) load<lanes>(weights + v * lanes, weight[v]);
#pragma GCC unroll 16
      for (int r = 0; r < rows; ++r) {
        for (int v = 0; v < vectors; ++v) sums[r][v] += inputs[r][d] * weight[v];
      }
    }
  }
  float* output = task.output + row * task.stride + column;
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r) {
    for (int v = 0; v < vectors; ++v) {
      clamp<lanes>(task.low, task.high, sums[r][v]);
      store_some<lanes>(sums[r][v], columns - v * lanes, output + r * task.stride + v * lanes);
    }
  }
}

/// All rows of a block of columns. The last rows are computed together with some before them, a second time.
template <int lanes, int rows, int vectors, bool whole>
TENSHOT_INLINE void product_block(const ProductTask& task, int column, const float* weights) {
  int row = 0;
  for (; row + rows <= task.rows; row += rows) product_tile<lanes, rows, vectors, whole>(task, row, column, weights);
  if (row == task.rows) return;
  if (task.rows >= rows) return product_tile<lanes, rows, vectors, whole>(task, task.rows - rows, column, weights);
  for (; row < task.rows; ++row) product_tile<lanes, 1, vectors, whole>(task, row, column, weights);
}

template <int lanes, int rows>
TENSHOT_INLINE void product(const ProductTask& task) {
  constexpr int step = packed_vectors * lanes;
  const float* weights = task.weights;
  int column = 0;
  for (; column + step <= task.columns; column += step) {
    product_block<lanes, rows, packed_vectors, true>(task, column, weights);
    weights += static_cast<std::ptrdiff_t>(step) * task.taps * task.depth;
  }
  const int left = task.columns - column;
  if (left > lanes) return product_block<lanes, rows, packed_vectors, false>(task, column, weights);
  if (left == lanes) return product_block<lanes, rows, 1, true>(task, column, weights);
  if (left > 0) product_block<lanes, rows, 1, false>(task, column, weights);
}

/// `pixels` side by side, lanes of channels.
template <int lanes, int pixels, bool whole>
TENSHOT_INLINE void depthwise_tile(const DepthwiseTask& task, int pixel, int channel) {
  const int count = whole ? lanes : task.channels - channel;
  Vector<lanes> sums[pixels];
  load_some<lanes>(task.bias + channel, count, sums[0]);
  for (int p = 1; p < pixels; ++p) sums[p] = sums[0];
  for (int tap = 0; tap < task.count; ++tap) {
    Vector<lanes> weight;
    load_some<lanes>(task.weights[tap] + channel, count, weight);
    const float* inputs = task.taps[tap] + pixel * task.step + channel;
#pragma GCC unroll 16
    for (int p = 0; p < pixels; ++p, inputs += task.step) {
      Vector<lanes> input;
      load_some<lanes>(inputs, count, input);
      sums[p] += input * weight;
    }
  }
  float* output = task.output + static_cast<std::ptrdiff_t>(pixel) * task.channels + channel;
#pragma GCC unroll 16
  for (int p = 0; p < pixels; ++p, output += task.channels) {
    clamp<lanes>(task.low, task.high, sums[p]);
    store_some<lanes>(sums[p], count, output);
  }
}

/// All channels of some pixels. The last channels are computed together with some before them, a second time.
template <int lanes, int pixels>
TENSHOT_INLINE void depthwise_channels(const DepthwiseTask& task, int pixel) {
  int channel = 0;
  for (; channel + lanes <= task.channels; channel += lanes) depthwise_tile<lanes, pixels, true>(task, pixel, channel);
  if (channel == task.channels) return;
  if (task.channels >= lanes) return depthwise_tile<lanes, pixels, true>(task, pixel, task.channels - lanes);
  depthwise_tile<lanes, pixels, false>(task, pixel, 0);
}

template <int lanes>
TENSHOT_INLINE void depthwise(const DepthwiseTask& task) {
  constexpr int at_once = 4;
  int pixel = 0;
  for (; pixel + at_once <= task.pixels; pixel += at_once) depthwise_channels<lanes, at_once>(task, pixel);
  if (pixel == task.pixels) return;
  if (task.pixels >= at_once) return depthwise_channels<lanes, at_once>(task, task.pixels - at_once);
  for (; pixel < task.pixels; ++pixel) depthwise_channels<lanes, 1>(task, pixel);
}

template <int lanes>
TENSHOT_INLINE void dot(const DotTask& task) {
  constexpr int at_once = 4;
  for (int column = 0; column < task.columns; column += at_once) {
    const int columns = task.columns - column < at_once ? task.columns - column : at_once;
    const float* weights[at_once];
    for (int k = 0; k < at_once; ++k) {  // surplus columns are computed again, and not stored
      weights[k] = task.weights + static_cast<std::ptrdiff_t>(column + (k < columns ? k : 0)) * task.depth;
    }
    Vector<lanes> sums[at_once] = {};
    int d = 0;
    for (; d + lanes <= task.depth; d += lanes) {
      Vector<lanes> input, weight;
      load<lanes>(task.input + d, input);
      for (int k = 0; k < at_once; ++k) {
        load<lanes>(weights[k] + d, weight);
        sums[k] += input * weight;
      }
    }
    for (int k = 0; k < columns; ++k) {
      float sum = task.bias[column + k];
      for (int lane = 0; lane < lanes; ++lane) sum += sums[k][lane];
      for (int rest = d; rest < task.depth; ++rest) sum += task.input[rest] * weights[k][rest];
      sum = sum > task.low ? sum : task.low;
      task.output[column + k] = sum < task.high ? sum : task.high;
    }
  }
}

template <int lanes>
TENSHOT_INLINE void pool_lanes(const PoolTask& task, std::ptrdiff_t place, int count, float* output) {
  Vector<lanes> result;
  load_some<lanes>(task.taps[0] + place, count, result);
  for (int tap = 1; tap < task.count; ++tap) {
    Vector<lanes> input;
    load_some<lanes>(task.taps[tap] + place, count, input);
    if (task.greatest) {
      result = result > input ? result : input;
    } else {
      result += input;
    }
  }
  if (!task.greatest) result *= task.scale;
  store_some<lanes>(result, count, output);
}

template <int lanes>
TENSHOT_INLINE void pool(const PoolTask& task) {
  float* output = task.output;
  for (int pixel = 0; pixel < task.pixels; ++pixel, output += task.channels) {
    const std::ptrdiff_t place = pixel * task.step;
    int channel = 0;
    for (; channel + lanes <= task.channels; channel += lanes) {
      pool_lanes<lanes>(task, place + channel, lanes, output + channel);
    }
    if (channel == task.channels) continue;
    // The last channels, together with some before them a second time, where there are enough.
    const int first = task.channels >= lanes ? task.channels - lanes : 0;
    pool_lanes<lanes>(task, place + first, task.channels - first, output + first);
  }
}

template <int lanes, bool multiplies>
TENSHOT_INLINE void pairwise(const float* a, const float* b, bool one, float* results, std::size_t count) {
  Vector<lanes> second = (one ? *b : 0) - Vector<lanes>{};
  for (std::size_t i = 0; i < count; i += lanes) {
    const std::size_t left = count - i;
    const int some = left < lanes ? static_cast<int>(left) : lanes;
    Vector<lanes> first;
    load_some<lanes>(a + i, some, first);
    if (!one) load_some<lanes>(b + i, some, second);
    store_some<lanes>(multiplies ? first * second : first + second, some, results + i);
  }
}

/// e to the x, as exactly as the tests of the activations ask (1e-6): 2 to the nearest whole number of x / ln 2, times
/// a polynomial for the rest (the coefficients are those of the Taylor series; the rest is at most ln 2 / 2).
template <int lanes>
TENSHOT_INLINE void exponential(Vector<lanes>& x) {
  using Integers = typename Lanes<lanes>::Integers;
  clamp<lanes>(-87.0F, 88.0F, x);
  constexpr float shift = 12582912.0F;  // 1.5 · 2^23: adding it leaves the whole number in the lowest bits
  const Vector<lanes> shifted = x * 1.44269504F + shift;
  const Vector<lanes> whole = shifted - shift;
  const Vector<lanes> rest = (x - whole * 0.693145752F) - whole * 1.42860677e-6F;
  Vector<lanes> value = rest * (1.0F / 720) + 1.0F / 120;
  value = value * rest + 1.0F / 24;
  value = value * rest + 1.0F / 6;
  value = value * rest + 0.5F;
  value = value * rest + 1.0F;
  value = value * rest + 1.0F;
  constexpr int mantissa_bits = 23, exponent_bias = 127;
  // A cast between vectors of one size keeps the bits.
  const Integers exponent = ((Integers)shifted << mantissa_bits) + (exponent_bias << mantissa_bits);
  x = value * (Vector<lanes>)exponent;
}

/// 1 / (1 + e^-x)
template <int lanes>
TENSHOT_INLINE void logistic(Vector<lanes>& x) {
  x = -x;
  exponential<lanes>(x);
  x = 1.0F / (1.0F + x);
}

template <int lanes>
TENSHOT_INLINE void apply_to(Function function, float alpha, float beta, Vector<lanes>& x) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  Vector<lanes> y = x;
  switch (function) {
    case Function::clamp: return clamp<lanes>(alpha, beta, x);
    case Function::leaky_relu:
      y = x * alpha;
      x = x > 0 ? x : y;
      return;
    case Function::linear: x = x * alpha + beta; return;
    case Function::hard_swish:
      y = x + 3.0F;
      clamp<lanes>(0, 6, y);
      x = x * y * (1.0F / 6);
      return;
    case Function::hard_sigmoid: x = x * alpha + beta; return clamp<lanes>(0, 1, x);
    case Function::sigmoid: return logistic<lanes>(x);
    case Function::silu:
      logistic<lanes>(y);
      x *= y;
      return;
    case Function::tanh:
      x *= 2.0F;
      logistic<lanes>(x);
      x = x * 2.0F - 1.0F;
      return;
    case Function::elu:
      clamp<lanes>(-infinity, 0, y);
      exponential<lanes>(y);
      y = (y - 1.0F) * alpha;
      x = x > 0 ? x : y;
      return;
  }
}

template <int lanes>
TENSHOT_INLINE void apply(Function function, float alpha, float beta, float* values, std::size_t count) {
  for (std::size_t i = 0; i < count; i += lanes) {
    const std::size_t left = count - i;
    const int some = left < lanes ? static_cast<int>(left) : lanes;
    Vector<lanes> x;
    load_some<lanes>(values + i, some, x);
    apply_to<lanes>(function, alpha, beta, x);
    store_some<lanes>(x, some, values + i);
  }
}

}  // namespace tenshot::descriptor::routines
