#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "nasbench/graph/network.h"
#include "nasbench/graph/network_reading.h"

namespace tenshot::nasbench {

/// A format of network files, and all that is particular to it. What reads networks asks for nothing else: a further
/// format is a row of network_formats().
struct NetworkFormat {
  std::string suffix;  ///< of file names: ".onnx"
  std::string name;    ///< "ONNX"
  /// What the file computes, without weights. Throws FileError where it cannot be read, FormatError or InputError, one
  /// line that names the file and the place in it, where it is of another format, damaged, or leaves open what the
  /// options do not say.
  Network (*read)(const std::filesystem::path& file, const NetworkReadOptions& options);
  /// The files beside it that hold its weights, relative to its folder. Throws as `read`.
  std::vector<std::filesystem::path> (*weight_files)(const std::filesystem::path& file);
  /// What keeps a runtime from loading those, in one line; nothing where they are whole. Throws as `read`.
  std::optional<std::string> (*weights_problem)(const std::filesystem::path& file);
};

const std::vector<NetworkFormat>& network_formats();

/// The format that the file's name says; of other names the one that its first bytes say, else ONNX.
const NetworkFormat& network_format(const std::filesystem::path& file);

/// Whether the name ends as one of a format.
bool is_network_file(const std::filesystem::path& file);

/// "*.onnx", "*.tflite", "*.param".
std::vector<std::string> network_suffixes();

/// What network_format() reads.
Network read_network_file(const std::filesystem::path& file, const NetworkReadOptions& options = {});

/// The network in a TensorFlow Lite file (schema version 3, "TFL3"): what its first subgraph computes, without weights.
/// Memory and time grow with the structure, not with the weights: they are passed over.
///
/// - Images, which the file has as batch × height × width × channels, are batch × channels × height × width, as in
///   ONNX: one network has the same operators in either format. Where a tensor of four dimensions is no image (it is
///   made by reshaping, or transposed), the axes of what reads it follow.
/// - Activations that an operator computes as well are operators of their own. Quantise and dequantise operators become
///   the bytes of what reads and writes them.
/// - Constants that shapes, axes and paddings are made of are read; computations of shapes take what the file says.
/// - Where an input leaves more open than its batch, the options have to say its shape, in the order of the file. The
///   shapes of what is computed from it are worked out; an operator of which nobody can say it is refused.
/// - An operator that is unknown, recurrent or custom is opaque: it has a name, shapes and weights.
///
/// Throws as NetworkFormat::read; the line names the operator or input.
Network read_tflite(const std::filesystem::path& path, const NetworkReadOptions& options = {});

/// The network in an ncnn `.param` file: what is computed, without the weights of its `.bin`. Most layers that ncnn
/// documents (docs/developer-guide/operators.md) are operators; activations that a layer computes as well are operators
/// of their own, and the copies of `Split` are none, as ONNX has it. Products with scales of int8 compute in bytes. A
/// tensor has a batch of one in front.
///
/// A layer of another type is opaque, with the shape that the file says (ncnnoptimize writes the shapes of all blobs);
/// without one it is refused.
///
/// Throws as NetworkFormat::read, also where it contradicts itself; the line names that of the file, and the layer.
Network read_ncnn(const std::filesystem::path& path, const NetworkReadOptions& options = {});

/// The `.bin` of the same name, where it is there: benchncnn measures without.
std::vector<std::filesystem::path> ncnn_weight_files(const std::filesystem::path& path);

/// That the `.bin` is shorter than the weights that its layers say, of four bits each at the least.
std::optional<std::string> ncnn_weights_problem(const std::filesystem::path& path);

}  // namespace tenshot::nasbench
