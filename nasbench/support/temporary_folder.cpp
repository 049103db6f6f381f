#include "nasbench/support/temporary_folder.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "nasbench/support/error.h"

namespace tenshot {
TemporaryFolder::TemporaryFolder() {
  const std::string prefix = "tenshot";
  std::error_code failed;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(failed);
  if (failed) throw FileError("there is no folder for temporary files: set TMPDIR to one (" + failed.message() + ")");
  remove_stale_folders(parent, prefix);
  std::string name = (parent / (prefix + "-" + std::to_string(::getpid()) + "-XXXXXX")).string();
  if (::mkdtemp(name.data()) == nullptr) {
    throw FileError(parent.string() + ": cannot make a temporary folder there: " + std::strerror(errno));
  }
  path_ = name;
  registered_.emplace(path_, [this] {
    in_use_ = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (in_use_ >= 0) mark_as_used(in_use_);
  });
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
  if (in_use_ >= 0) ::close(in_use_);
}

}  // namespace tenshot
