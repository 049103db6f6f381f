#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <string_view>

#include "tests/fuzz/fuzz.h"

namespace tenshot::fuzz {

/// The path of a file in memory that holds `content`, for readers that want a path. One for the process.
inline const std::string& path_of(std::string_view content) {
  static const int file = ::memfd_create("input", 0);
  static const std::string path = "/proc/self/fd/" + std::to_string(file);
  require(::ftruncate(file, 0) == 0, "the file is emptied");
  require(::pwrite(file, content.data(), content.size(), 0) == static_cast<ssize_t>(content.size()),
          "the file is written");
  return path;
}

}  // namespace tenshot::fuzz
