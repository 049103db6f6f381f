#pragma once

#include <filesystem>
#include <vector>

namespace tenshot::cli {

/// The folders that a verb makes for what it will write. Those that are still empty when it ends are removed again: a
/// refused run leaves nothing behind.
///
///   const MadeFolders made(out);  // before long work, so that a path that cannot exist fails at once
class MadeFolders {
 public:
  MadeFolders() = default;
  explicit MadeFolders(const std::filesystem::path& file) : MadeFolders() { for_file(file); }
  ~MadeFolders();
  MadeFolders(const MadeFolders&) = delete;
  MadeFolders& operator=(const MadeFolders&) = delete;

  /// Makes the folder that will hold `file`, as require_writable_target() does. Throws FileError.
  void for_file(const std::filesystem::path& file);
  /// Makes `folder`. Throws FileError.
  void folder(const std::filesystem::path& folder);

 private:
  void remember_missing(std::filesystem::path folder);

  std::vector<std::filesystem::path> made_;  ///< the innermost first
};

}  // namespace tenshot::cli
