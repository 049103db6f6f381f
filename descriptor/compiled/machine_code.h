#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tenshot::descriptor {

/// Rows of an output that is a matrix product: of each row of inputs, pieces that lie anywhere (Dukhan, "The Indirect
/// Convolution Algorithm", 2019, Algorithm 2). A pixel of a convolution is a row, and each of its taps is a piece.
struct ProductTask {
  const float* const* pieces = nullptr;  ///< rows × taps
  int rows = 0, taps = 0;
  int depth = 0;                   ///< numbers of a piece
  std::ptrdiff_t offset = 0;       ///< where in a piece they begin: a group's channels
  const float* weights = nullptr;  ///< packed: blocks of columns × taps × depth × columns of a block
  const float* bias = nullptr;     ///< `columns` of them
  int columns = 0;
  float* output = nullptr;  ///< output of row r begins at r · stride
  std::ptrdiff_t stride = 0;
  float low = 0, high = 0;  ///< outputs are kept between these
};

/// Pixels side by side of a depthwise convolution.
struct DepthwiseTask {
  const float* const* taps = nullptr;     ///< taps of the first pixel that lie within the image
  const float* const* weights = nullptr;  ///< weights of these taps, `channels` each
  int count = 0;                          ///< number of taps
  std::ptrdiff_t step = 0;                ///< from the taps of one pixel to those of the next
  int pixels = 0, channels = 0;
  const float* bias = nullptr;
  float* output = nullptr;  ///< pixels × channels
  float low = 0, high = 0;
};

/// Products of one vector with the rows of a matrix as the model's file has it.
struct DotTask {
  const float* input = nullptr;
  const float* weights = nullptr;  ///< columns × depth
  const float* bias = nullptr;
  int depth = 0, columns = 0;
  float* output = nullptr;
  float low = 0, high = 0;
};

/// Pixels side by side of a pool: the greatest, or the sum times `scale`, of the taps that lie within the image.
struct PoolTask {
  const float* const* taps = nullptr;  ///< taps of the first pixel
  int count = 0;                       ///< number of taps
  std::ptrdiff_t step = 0;             ///< from the taps of one pixel to those of the next
  int pixels = 0, channels = 0;
  bool greatest = false;
  float scale = 1;
  float* output = nullptr;  ///< pixels × channels
};

enum class Function { clamp, leaky_relu, linear, hard_swish, hard_sigmoid, sigmoid, silu, tanh, elu };

/// Routines for one instruction set, made by the compiler. Numbers are 32-bit floats; nothing has to be aligned.
struct MachineCode {
  std::string instruction_set;  ///< "avx512", "avx2", "any"
  int column_step = 0;          ///< columns of a block of packed weights
  void (*product)(const ProductTask&) = nullptr;
  void (*depthwise)(const DepthwiseTask&) = nullptr;
  void (*dot)(const DotTask&) = nullptr;
  void (*pool)(const PoolTask&) = nullptr;
  /// Applied in place to `count` numbers.
  void (*apply)(Function, float alpha, float beta, float* values, std::size_t count) = nullptr;
  /// Sums, or products, of `count` numbers with as many others, or with one number for all.
  void (*add)(const float* a, const float* b, bool one, float* sums, std::size_t count) = nullptr;
  void (*multiply)(const float* a, const float* b, bool one, float* products, std::size_t count) = nullptr;
};

/// For the widest instruction set of this machine.
const MachineCode& machine_code();

/// The routines for each instruction set of this machine, the widest first.
const std::vector<MachineCode>& machine_codes();

}  // namespace tenshot::descriptor
