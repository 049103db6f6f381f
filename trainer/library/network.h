#pragma once

#include <tenshot/predictor.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace tenshot {

/// The network of an ONNX, TensorFlow Lite or ncnn file, called as the file without its suffix. `shapes` gives the
/// extents of inputs that the file leaves open, by the input's name: {{"image", {1, 3, 224, 224}}}. Weights are not
/// read. Throws FileError, and InputError or FormatError that names the file and the place in it.
TENSHOT_API Network read_network(const std::filesystem::path& file,
                                 const std::map<std::string, std::vector<std::int64_t>>& shapes = {});

}  // namespace tenshot
