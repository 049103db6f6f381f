#include "datasets/pool/column_spool.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>

#include "nasbench/support/error.h"

namespace tenshot::datasets {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t values_of_block = std::size_t{1} << 21;  // 16 MB

fs::path nearest_existing(fs::path folder) {
  std::error_code error;
  folder = fs::absolute(folder);
  while (!fs::is_directory(folder, error) && folder.has_relative_path()) folder = folder.parent_path();
  return folder;
}

[[noreturn]] void fail(const fs::path& folder, const char* what) {
  throw FileError(folder.string() + ": " + what + " a temporary file here (" + std::generic_category().message(errno) +
                  ")");
}

/// A file in `folder` that has no name.
int open_nameless(const fs::path& folder) {
  constexpr mode_t own = 0600;
  const int file = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, own);
  if (file >= 0) return file;
  std::string name = (folder / ".tenshot-XXXXXX").string();  // where the file system has no such files
  const int named = ::mkstemp(name.data());
  if (named >= 0) ::unlink(name.c_str());
  return named;
}

}  // namespace

ColumnSpool::ColumnSpool(const fs::path& folder, std::size_t columns)
    : folder_(nearest_existing(folder)),
      columns_(columns),
      rows_of_block_(std::max<std::size_t>(values_of_block / std::max<std::size_t>(columns, 1), 1)) {}

ColumnSpool::~ColumnSpool() {
  if (file_ >= 0) ::close(file_);
}

void ColumnSpool::append(const std::vector<double>& row) {
  buffer_.insert(buffer_.end(), row.begin(), row.end());
  if (buffer_.size() == rows_of_block_ * columns_) write_block();
}

/// The block's columns, one after the other.
void ColumnSpool::write_block() {
  if (file_ < 0) file_ = open_nameless(folder_);
  if (file_ < 0) fail(folder_, "cannot make");
  std::vector<double> block(buffer_.size());
  for (std::size_t r = 0; r < rows_of_block_; ++r) {
    for (std::size_t c = 0; c < columns_; ++c) block[c * rows_of_block_ + r] = buffer_[r * columns_ + c];
  }
  const char* bytes = reinterpret_cast<const char*>(block.data());
  for (std::size_t left = block.size() * sizeof(double); left > 0;) {
    const ssize_t written = ::write(file_, bytes, left);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(folder_, "cannot write");
    bytes += written;
    left -= static_cast<std::size_t>(written);
  }
  buffer_.clear();
  ++blocks_;
}

std::vector<double> ColumnSpool::column(std::size_t column) const {
  std::vector<double> values(blocks_ * rows_of_block_);
  for (std::size_t b = 0; b < blocks_; ++b) {
    char* into = reinterpret_cast<char*>(values.data() + b * rows_of_block_);
    auto offset = static_cast<off_t>((b * columns_ + column) * rows_of_block_ * sizeof(double));
    for (std::size_t left = rows_of_block_ * sizeof(double); left > 0;) {
      const ssize_t read = ::pread(file_, into, left, offset);
      if (read < 0 && errno == EINTR) continue;
      if (read <= 0) fail(folder_, "cannot read");
      into += read;
      offset += read;
      left -= static_cast<std::size_t>(read);
    }
  }
  for (std::size_t at = column; at < buffer_.size(); at += columns_) values.push_back(buffer_[at]);
  return values;
}

}  // namespace tenshot::datasets
