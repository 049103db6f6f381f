#pragma once

#include <cstdint>
#include <string>

#include "nasbench/graph/layer_graph.h"

namespace tenshot::nasbench {

constexpr int onnx_opset = 13;
constexpr const char* onnx_input_name = "input";
constexpr const char* onnx_output_name = "output";

struct OnnxOptions {
  int batch = 1;
  std::uint64_t weight_seed = 1;  ///< of random_weights: the same seed gives what the runtimes of descriptor/ run
  std::string name = "tenshot";   ///< of the graph
};

/// The network as the bytes of an ONNX model: opset 13, IR version 7, batch × channels × height × width in
/// (`onnx_input_name`), `onnx_output_name` out, both of fixed shape and float; weights inside. Layers stay as they are:
/// `zero` is a multiplication by a constant 0, batch normalisation is not folded, and a graph of its input alone is an
/// Identity. The same graph and options give the same bytes. Throws InputError where the graph is empty, the batch not
/// positive, or ONNX's own checker refuses the model.
std::string onnx_model(const LayerGraph& graph, const OnnxOptions& options);

}  // namespace tenshot::nasbench
