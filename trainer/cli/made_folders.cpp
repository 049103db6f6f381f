#include "trainer/cli/made_folders.h"

#include <system_error>

#include "nasbench/support/files.h"

namespace tenshot::cli {

MadeFolders::~MadeFolders() {
  std::error_code ignored;  // a folder that holds something stays
  for (const std::filesystem::path& folder : made_) std::filesystem::remove(folder, ignored);
}

void MadeFolders::remember_missing(std::filesystem::path folder) {
  std::error_code ignored;
  for (; !folder.empty() && !std::filesystem::exists(folder, ignored); folder = folder.parent_path()) {
    if (folder.has_filename()) made_.push_back(folder);
    if (!folder.has_parent_path() || folder.parent_path() == folder) return;
  }
}

void MadeFolders::for_file(const std::filesystem::path& file) {
  remember_missing(file.parent_path());
  require_writable_target(file);
}

void MadeFolders::folder(const std::filesystem::path& folder) {
  remember_missing(folder);
  make_folder(folder);
}

}  // namespace tenshot::cli
