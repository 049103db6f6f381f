#pragma once

#include <cstdint>
#include <string>

#include "nasbench/graph/network.h"

namespace tenshot::nasbench {

constexpr int onnx_opset = 13;
constexpr const char* onnx_input_name = "input";
constexpr const char* onnx_output_name = "output";

struct OnnxOptions {
  std::uint64_t weight_seed = 1;  ///< of random_weights: the same seed gives what the runtimes of descriptor/ run
  std::string name = "tenshot";   ///< of the graph
  /// Bounds of Clip and sizes of Split as attributes, as ONNX had them before opsets 11 and 13, for readers that know
  /// no others (OpenCV 4.6); ONNX's own checker is not asked then.
  bool constants_as_attributes = false;
};

/// The network as the bytes of an ONNX model: opset 13, IR version 7, inputs by their names, `onnx_output_name` out (a
/// second output has a 2 behind it, and so on), all of fixed shape; weights inside. Operators stay as they are: a
/// multiplication by 0 is one, and batch normalisation is not folded; a network without nodes is an Identity. What
/// read_onnx reads of it is the same network. The same network and options give the same bytes. Throws InputError where
/// the network is not sound or has an opaque operator, numbers of another type than float32, or anything else that
/// ONNX's own checker refuses.
std::string onnx_model(const Network& network, const OnnxOptions& options);

}  // namespace tenshot::nasbench
