#pragma once

#include <filesystem>
#include <string>
#include <unordered_map>

#include "nasbench/graph/network.h"
#include "nasbench/graph/network_reading.h"

namespace tenshot::nasbench {

using OnnxReadOptions = NetworkReadOptions;

/// The network in an ONNX file, opset 7 or newer: what is computed, without weights. Memory and time grow with the
/// structure, not with the weights: they are passed over, and files of external data need not be there.
///
/// - Constants and computations of shapes are folded; nodes that no output needs, identities and dropout are left out.
/// - Several nodes that exporters write for one operator become that operator: SiLU, hard-swish, GELU, layer and group
///   normalisation, channel shuffle, a linear layer with its bias, a global pool with its flattening.
/// - Quantise and dequantise nodes, and QLinear operators, become the operators of bytes that they stand for.
/// - Branches, loops of known length, scans and functions of the model are read where they are run.
/// - An operator that is unknown or recurrent, and a loop of unknown length, is opaque: it has a name and shapes. Its
///   output's shape is what the file says of it.
///
/// Throws FileError where the file cannot be read, FormatError or InputError, one line that names the file and the node
/// or input, where it is damaged, cyclic, too large (onnx_file.h), contradicts itself, or has a dimension that neither
/// the file nor the options say.
Network read_onnx(const std::filesystem::path& path, const OnnxReadOptions& options = {});

/// Which node of `network`, which read_onnx read of the ONNX file, computes what the file calls by a name: the names of
/// the file's nodes and of their outputs, which profilers of runtimes use. A node that is no operator of its own there
/// (an inner one of a layer normalisation, an identity) counts to the first operator that needs it. Names that lead to
/// no operator are left out. Throws what reading the file throws (onnx_file.h).
std::unordered_map<std::string, int> operators_by_name(const std::filesystem::path& file, const Network& network);

}  // namespace tenshot::nasbench
