#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tenshot::nasbench {

/// A line of an ncnn network: `type name inputs outputs blobs… key=value…`.
struct NcnnLayer {
  std::string type;
  std::string name;
  std::vector<std::string> inputs, outputs;  ///< names of blobs
  std::map<std::int64_t, std::vector<double>>
      parameters;                          ///< by key; of an array the key is k where the file has −23300 − k
  std::optional<std::int64_t> expression;  ///< a parameter that is computed from the sizes of the inputs
  std::size_t line = 0;                    ///< 1-based
};

/// Reads the layers of a `.param` file as ncnn's documentation has them ("param and model file structure"): the number
/// 7767517, how many layers and blobs, and a line for each layer. Throws FileError, and FormatError that names the file
/// and the line where it is of another kind, cut short, or has more than operator_limit layers.
std::vector<NcnnLayer> read_ncnn_file(const std::filesystem::path& path);

}  // namespace tenshot::nasbench
