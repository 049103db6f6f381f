#pragma once

#include <filesystem>
#include <optional>

#include "nasbench/support/temporaries.h"

namespace tenshot {

/// A folder of its own below the system's temporary one, tenshot-PID-…, removed with all that is in it. Making one
/// removes those that killed processes of the same user left.
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
  std::optional<RegisteredTemporary> registered_;
  int in_use_ = -1;  ///< the folder, open and marked
};

}  // namespace tenshot
