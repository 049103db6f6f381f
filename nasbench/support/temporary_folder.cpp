#include "nasbench/support/temporary_folder.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "nasbench/support/error.h"

namespace tenshot {

TemporaryFolder::TemporaryFolder() {
  std::error_code failed;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(failed);
  if (failed) throw FileError("there is no folder for temporary files: set TMPDIR to one (" + failed.message() + ")");
  std::string name = (parent / "tenshot-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) {
    throw FileError(parent.string() + ": cannot make a temporary folder there: " + std::strerror(errno));
  }
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace tenshot
