#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iosfwd>
#include <string>

namespace tenshot {

/// Reads a file piece by piece, for content that memory may be too small for; "-" is standard input.
class FileBlocks {
 public:
  /// Throws FileError (missing, a folder, unreadable).
  explicit FileBlocks(const std::filesystem::path& path);
  FileBlocks(const FileBlocks&) = delete;
  FileBlocks& operator=(const FileBlocks&) = delete;

  /// Appends at most `most` further bytes to `content`; false at the end of the file. Throws FileError.
  bool append_to(std::string& content, std::size_t most);

 private:
  std::string name_;
  std::ifstream file_;
  std::istream* stream_;
};

}  // namespace tenshot
