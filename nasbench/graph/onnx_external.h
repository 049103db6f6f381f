#pragma once

#include <filesystem>
#include <vector>

namespace tenshot::nasbench {

/// The files beside an ONNX model that hold its weights ("external data"), as paths relative to the model's folder,
/// each once, sorted. Throws as read_onnx_file, FormatError on a path that leads, or is linked, out of that folder,
/// and FormatError that names the file and the weights where one that is there is too short to hold them.
std::vector<std::filesystem::path> external_data_files(const std::filesystem::path& model);

}  // namespace tenshot::nasbench
