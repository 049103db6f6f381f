#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iosfwd>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

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

/// A file that is built into a library, so that a program without its source tree knows it.
struct ShippedFile {
  const char* name;  ///< of the file; of a JSON file without ".json"
  std::string_view content;
};

/// The whole content of `path`; "-" reads standard input. Throws FileError (missing, a folder, unreadable).
std::string read_file(const std::filesystem::path& path);

/// Writes `content` so that `path` holds either its old content or all of the new: a temporary file beside it,
/// NAME.tmp-PID, is written, flushed to disk and renamed. A file that is overwritten keeps its permissions; of a
/// symbolic link the file that it leads to is written. "-" writes to standard output; a device or pipe (/dev/null) is
/// written through. Throws FileError and leaves nothing behind when the folder does not exist, the file is protected
/// against writing or the disk is full; what a killed process left behind of an earlier try is removed.
void write_file_atomically(const std::filesystem::path& path, std::string_view content);

/// As write_file_atomically, without forcing the bytes to disk: survives the death of the process, not of the
/// machine. For state that is rewritten many times a minute.
void write_file_quickly(const std::filesystem::path& path, std::string_view content);

/// Whether something, a regular file or a folder is there; false where that cannot be told.
bool is_there(const std::filesystem::path& path);
bool is_file(const std::filesystem::path& path);
bool is_folder(const std::filesystem::path& path);

/// What stands in a folder, by name. Throws FileError where it cannot be listed, unless `unread` is to hold why.
std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder, std::error_code* unread = nullptr);

/// Makes the folder and its parents. Throws FileError where that cannot be done (a file stands in the way).
void make_folder(const std::filesystem::path& path);

/// Makes the folder that will hold `path` ("-" and bare names need none). Call it before long work whose result goes
/// to `path`, so that a path that cannot exist fails at once. Throws FileError.
void require_writable_target(const std::filesystem::path& path);

}  // namespace tenshot
