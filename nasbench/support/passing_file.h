#pragma once

#include <filesystem>
#include <system_error>

#include "nasbench/support/temporaries.h"

namespace tenshot {

/// A file that somebody else writes: removed with this, or when a signal ends the process.
class PassingFile {
 public:
  explicit PassingFile(const std::filesystem::path& path) : path_(path), registered_(path, [] {}) {}
  ~PassingFile() {
    registered_.finish([this] {
      std::error_code ignored;
      std::filesystem::remove(path_, ignored);
    });
  }
  PassingFile(const PassingFile&) = delete;
  PassingFile& operator=(const PassingFile&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  RegisteredTemporary registered_;
};

}  // namespace tenshot
