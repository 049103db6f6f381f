#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "nasbench/graph/network_weights.h"

namespace tenshot::nasbench {

/// The numbers of an ONNX model's weights, read from the file one node at a time. Opening it passes over the
/// numbers of large tensors and keeps where they lie; memory grows with the structure alone.
///
///     const OnnxWeights weights("model.onnx");
///     const LayerWeights conv = weights.read("conv1");   // names as in the Network that read_onnx gives
class OnnxWeights {
 public:
  /// Throws as read_onnx_file does.
  explicit OnnxWeights(const std::filesystem::path& path);

  /// Weights of a convolution (output channels first), a linear layer ({out, in}, transposed where the file has it the
  /// other way, with what is added to a product that nothing else reads), or a batch norm (scale, shift, mean,
  /// variance). Factors of Gemm are multiplied in. Throws InputError, which names the file and the node, where there is
  /// no such node, its weights are computed, lie in another file or are not of 32-bit floats, and FormatError where the
  /// file is shorter than it was when it was opened and the weights are read from it only now.
  LayerWeights read(const std::string& node) const;

 private:
  struct Place {
    std::vector<std::int64_t> shape;
    int element = 0;  ///< onnx::TensorProto::DataType
    std::uint64_t offset = 0, bytes = 0;
    std::vector<float> small;  ///< the numbers of a tensor that needs no second look at the file
  };
  struct Node {
    std::string operation;
    std::vector<std::string> inputs;
    bool transposed = false;     ///< Gemm's transB
    double alpha = 1, beta = 1;  ///< Gemm's
  };

  const Place& place(const std::string& node, const std::string& constant) const;
  std::vector<float> numbers(const std::string& node, const std::string& constant) const;
  std::string where(const std::string& node) const;

  std::filesystem::path path_;
  std::map<std::string, Place> places_;
  std::map<std::string, Node> nodes_;
};

}  // namespace tenshot::nasbench
