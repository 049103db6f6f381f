#pragma once

#include <filesystem>

namespace tenshot {

/// A folder of its own below the system's temporary one, removed with all that is in it.
class TemporaryFolder {
 public:
  /// Throws FileError where none can be made.
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace tenshot
