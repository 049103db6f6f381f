#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace tenshot::nasbench {

// What the sources of the ONNX reader share. Needs ONNX's headers: for those sources only.

/// Where the numbers of a tensor lie in the file; no bytes of one that was read whole, or has none.
struct OnnxData {
  std::uint64_t offset = 0, bytes = 0;
};

/// An ONNX model without the data of its large tensors.
struct OnnxFile {
  std::map<std::string, std::int64_t> opsets;  ///< version by domain; "" is ONNX's own
  std::vector<onnx::NodeProto> nodes;
  std::vector<onnx::TensorProto> initializers;  ///< without data where the tensor takes more than 4 KiB
  std::vector<OnnxData> left_out;               ///< the data of each initializer that were passed over
  std::vector<onnx::ValueInfoProto> inputs, outputs, values;
  std::vector<onnx::FunctionProto> functions;  ///< operators that the model defines itself
};

/// Most nodes that a model may have, and most bytes of it besides weights.
constexpr std::size_t onnx_node_limit = 100'000;
constexpr std::uint64_t onnx_byte_limit = 64U << 20;

/// Sparse weights are counted by their shape, as if they were dense; what their numbers are stays unknown.
onnx::TensorProto as_dense(onnx::SparseTensorProto sparse);

/// Reads the structure of the model at `path` and passes over its weights: memory grows with the structure alone, and
/// files of external data are not opened. Throws FileError where the file cannot be read, and FormatError that names
/// the file and the byte where it is cut short, no ONNX model, nested over 16 graphs deep, or above the limits.
OnnxFile read_onnx_file(const std::filesystem::path& path);

}  // namespace tenshot::nasbench
