#pragma once

#include <filesystem>
#include <vector>

#include "nasbench/graph/network.h"
#include "nasbench/graph/network_reading.h"

namespace tenshot::nasbench {

/// The network in an ncnn `.param` file: what is computed, without the weights of its `.bin`. Most layers that ncnn
/// documents (docs/developer-guide/operators.md) are operators; activations that a layer computes as well are operators
/// of their own, and the copies of `Split` are none, as ONNX has it. Products with scales of int8 compute in bytes. A
/// tensor has a batch of one in front.
///
/// A layer of another type is opaque, with the shape that the file says (ncnnoptimize writes the shapes of all blobs);
/// without one it is refused.
///
/// Throws FileError, and FormatError or InputError, one line that names the file, the line and the layer, where it is
/// of another kind, cut short, contradicts itself, or has an input whose size neither the file nor the options say.
Network read_ncnn(const std::filesystem::path& path, const NetworkReadOptions& options = {});

/// The `.bin` of the same name, where it is there: benchncnn measures without.
std::vector<std::filesystem::path> ncnn_weight_files(const std::filesystem::path& path);

}  // namespace tenshot::nasbench
