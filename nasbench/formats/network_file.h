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

}  // namespace tenshot::nasbench
