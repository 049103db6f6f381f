#pragma once

#include <filesystem>
#include <string>
#include <unordered_map>

#include "nasbench/graph/network.h"

namespace tenshot::nasbench {

/// Which node of `network`, which read_onnx read of the ONNX file, computes what the file calls by a name: the names of
/// the file's nodes and of their outputs, which profilers of runtimes use. A node that is no operator of its own there
/// (an inner one of a layer normalisation, an identity) counts to the first operator that needs it. Names that lead to
/// no operator are left out. Throws what reading the file throws (onnx_file.h).
std::unordered_map<std::string, int> operators_by_name(const std::filesystem::path& file, const Network& network);

}  // namespace tenshot::nasbench
