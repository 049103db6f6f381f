#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace tenshot {

/// What a file is, and what its owner can do with it.
struct FileKind {
  std::string what;    ///< "a Git LFS pointer"
  std::string advice;  ///< "fetch the file itself by git lfs pull"; empty where there is nothing to do
};

/// What the first bytes of a file, or its name, say it is: a download that failed, an archive, or a network of another
/// format; or a folder. Nothing where they say nothing, and where the file cannot be read.
std::optional<FileKind> file_kind(const std::filesystem::path& path);

/// "'net.onnx' is a Git LFS pointer, no ONNX model; fetch the file itself by git lfs pull": a message about a file that
/// should be `expected`. Nothing where file_kind() has nothing to say, or says that it is `expected`.
std::optional<std::string> other_kind_message(const std::filesystem::path& path, const std::string& expected);

}  // namespace tenshot
