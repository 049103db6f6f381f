#pragma once

#include <filesystem>

#include "nasbench/graph/network.h"
#include "nasbench/graph/network_reading.h"

namespace tenshot::nasbench {

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
/// - An operator that is unknown, recurrent, custom or of control flow is opaque: it has a name, shapes and weights. Of
///   a Call, an If or a While those are the weights of the subgraphs that it runs, not of those that they run again.
///
/// Throws FileError where the file cannot be read, FormatError or InputError, one line that names the file and the
/// operator or input, where it is of another kind, damaged, contradicts itself, or leaves a dimension open that the
/// options do not say.
Network read_tflite(const std::filesystem::path& path, const NetworkReadOptions& options = {});

}  // namespace tenshot::nasbench
