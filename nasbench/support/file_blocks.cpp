#include "nasbench/support/file_blocks.h"

#include <cerrno>
#include <iostream>
#include <system_error>

#include "nasbench/support/error.h"

namespace tenshot {

namespace fs = std::filesystem;

FileBlocks::FileBlocks(const fs::path& path) : name_(path.string()), stream_(&std::cin) {
  if (path == "-") return;
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) throw FileError(name_ + ": no such file");
  if (fs::is_directory(status)) throw FileError(name_ + ": is a folder, expected a file");
  file_.open(path, std::ios::binary);
  if (!file_) throw FileError(name_ + ": cannot open this file (" + std::generic_category().message(errno) + ")");
  stream_ = &file_;
}

bool FileBlocks::append_to(std::string& content, std::size_t most) {
  const std::size_t before = content.size();
  content.resize(before + most);
  stream_->read(content.data() + before, static_cast<std::streamsize>(most));
  content.resize(before + static_cast<std::size_t>(stream_->gcount()));
  if (stream_->bad()) throw FileError(name_ + ": cannot read this file");
  return content.size() > before;
}

}  // namespace tenshot
