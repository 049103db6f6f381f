#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "nasbench/formats/flat_file.h"
#include "nasbench/graph/network.h"

namespace tenshot::nasbench {

// The parts of TensorFlow Lite's schema (tensorflow/lite/schema/schema.fbs, version 3c) that a network is made of.

struct TfliteTensor {
  std::string name;
  Shape shape;      ///< as the file has it, channels last; 1 where it is open
  Shape signature;  ///< −1 where it is open; empty where nothing is
  ElementType type = ElementType::float32;
  bool has_data = false;
  bool variable = false;  ///< a state, which an operator may write
  FlatVector data;        ///< bytes of a constant
  int file_type = 0;
};

struct TfliteOperator {
  std::int32_t code = 0;                      ///< BuiltinOperator
  std::string custom;                         ///< name of a custom operator
  std::vector<std::int32_t> inputs, outputs;  ///< tensors; −1 for one that is left out
  std::optional<FlatTable> options;           ///< BuiltinOptions
  /// The operators of an If's branches: numbers `branches[0]` to before `branches[1]`, and from there to before
  /// `branches[2]`. The If's inputs are an output of each, of which a condition chooses one.
  std::array<std::size_t, 3> branches = {};
  std::uint64_t custom_bytes = 0;  ///< of a custom operator's options, which may hold a compiled network
};

struct TfliteFile {
  std::unique_ptr<FlatFile> bytes;
  std::vector<TfliteTensor> tensors;
  std::vector<TfliteOperator> operators;  ///< in order of execution
  std::vector<std::int32_t> inputs, outputs;
  std::vector<std::string> remarks;  ///< on what is not as the file has it
};

/// Reads the first subgraph, and in their places those that its calls, composite operators, branches and loops run: a
/// loop as often as it runs, or once where the data say how often. Throws FileError,
/// and FormatError that says what is wrong with the file: of another kind, another version, damaged, or with more than
/// operator_limit operators.
TfliteFile read_tflite_file(const std::filesystem::path& path);

/// The numbers of a constant of integers; nothing where it has none, more than 1,024, or other types.
std::optional<std::vector<std::int64_t>> integers_of(const TfliteFile& file, const TfliteTensor& tensor);

}  // namespace tenshot::nasbench
