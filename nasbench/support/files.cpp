#include "nasbench/support/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iostream>
#include <optional>

#include "nasbench/support/error.h"
#include "nasbench/support/temporaries.h"

namespace tenshot {
namespace {

namespace fs = std::filesystem;

std::string reason(int error_number) { return std::generic_category().message(error_number); }

/// The file that `path` stands for: what a symbolic link leads to, whether that exists or not.
fs::path resolved(fs::path path) {
  constexpr int most_links = 40;  // as Linux follows
  std::error_code error;
  for (int links = 0; fs::is_symlink(fs::symlink_status(path, error)); ++links) {
    if (links == most_links) throw FileError(path.string() + ": is a link that leads in a circle");
    const fs::path target = fs::read_symlink(path, error);
    if (error) throw FileError(path.string() + ": cannot read this link (" + error.message() + ")");
    path = target.is_absolute() ? target : path.parent_path() / target;
  }
  return path;
}

/// Owns a temporary file until it is renamed over its target, or removes it. An existing target keeps its permissions.
class TemporaryFile {
 public:
  explicit TemporaryFile(const fs::path& named) : target_(resolved(named)), path_(temporary_name(target_, ::getpid())) {
    remove_stale_temporaries_of(target_);
    struct stat target {};
    const bool exists = ::stat(target_.c_str(), &target) == 0;
    if (exists && ::access(target_.c_str(), W_OK) != 0) fail("cannot replace");
    constexpr mode_t usual = 0666, bits = 07777;  // what the umask allows of the first; all that chmod sets
    registered_.emplace(path_, [&] {
      descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, usual);
      if (descriptor_ < 0) fail("cannot create");
      mark_as_used(descriptor_);
    });
    if (!exists) return;
    const bool same_owner = ::fchown(descriptor_, target.st_uid, target.st_gid) == 0;
    // Without the owner, bits that act in the owner's name are not kept.
    static_cast<void>(::fchmod(descriptor_, target.st_mode & (same_owner ? bits : mode_t{0777})));
  }
  ~TemporaryFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!renamed_) registered_->finish([this] { ::unlink(path_.c_str()); });
  }

  void write(std::string_view content) {
    while (!content.empty()) {
      const ssize_t written = ::write(descriptor_, content.data(), content.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail("cannot write");
      content.remove_prefix(static_cast<std::size_t>(written));
    }
  }

  void flush_to_disk() {
    if (::fsync(descriptor_) != 0) fail("cannot write");
  }

  void rename_over_target() {
    const int closed = ::close(descriptor_);
    descriptor_ = -1;
    if (closed != 0) fail("cannot write");
    registered_->finish([this] {
      if (::rename(path_.c_str(), target_.c_str()) != 0) fail("cannot replace");
      renamed_ = true;
    });
  }

 private:
  [[noreturn]] void fail(const char* what) const {
    throw FileError(target_.string() + ": " + what + " this file (" + reason(errno) + ")");
  }

  fs::path target_;
  std::string path_;
  std::optional<RegisteredTemporary> registered_;
  int descriptor_ = -1;
  bool renamed_ = false;
};

/// A device or pipe (/dev/null, /dev/stdout): to be written through, never to be replaced.
bool is_special_file(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  return fs::exists(status) && fs::is_other(status);
}

void require_file_name(const fs::path& path) {
  std::error_code error;
  if (path.has_filename() && !fs::is_directory(path, error)) return;
  throw FileError("'" + path.string() + "' is a folder, expected a file to write");
}

void write_through(const fs::path& path, std::string_view content) {
  std::ofstream stream(path, std::ios::binary);
  stream.write(content.data(), static_cast<std::streamsize>(content.size()));
  stream.flush();
  if (!stream) throw FileError(path.string() + ": cannot write (" + reason(errno) + ")");
}

void replace_file(const fs::path& path, std::string_view content, bool flush) {
  require_file_name(path);
  if (is_special_file(path)) return write_through(path, content);
  TemporaryFile file(path);
  file.write(content);
  if (flush) file.flush_to_disk();
  file.rename_over_target();
}

void write_to_standard_output(std::string_view content) {
  std::cout.write(content.data(), static_cast<std::streamsize>(content.size()));
  std::cout.flush();
  if (!std::cout) throw FileError("standard output: cannot write (is the reader gone, or the disk full?)");
}

}  // namespace

FileBlocks::FileBlocks(const fs::path& path) : name_(path.string()), stream_(&std::cin) {
  if (path == "-") return;
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) throw FileError(name_ + ": no such file");
  if (fs::is_directory(status)) throw FileError(name_ + ": is a folder, expected a file");
  file_.open(path, std::ios::binary);
  if (!file_) throw FileError(name_ + ": cannot open this file (" + reason(errno) + ")");
  stream_ = &file_;
}

bool FileBlocks::append_to(std::string& content, std::size_t most) {
  if (stream_->eof()) return false;
  const std::size_t before = content.size();
  content.resize(before + most);
  stream_->read(content.data() + before, static_cast<std::streamsize>(most));
  content.resize(before + static_cast<std::size_t>(stream_->gcount()));
  if (stream_->bad()) throw FileError(name_ + ": cannot read this file");
  return content.size() > before;
}

std::string read_file(const fs::path& path) {
  constexpr std::size_t block = 1 << 16;
  FileBlocks file(path);
  std::error_code error;
  // The size only saves time: files below /proc say 0 and pipes have none. One byte more finds the end at once.
  const std::uintmax_t size = fs::file_size(path, error);
  std::string content;
  if (!error) file.append_to(content, static_cast<std::size_t>(size) + 1);
  while (file.append_to(content, block)) {
  }
  return content;
}

void write_file_atomically(const fs::path& path, std::string_view content) {
  if (path == "-") return write_to_standard_output(content);
  replace_file(path, content, true);
}

void write_file_quickly(const fs::path& path, std::string_view content) { replace_file(path, content, false); }

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

std::vector<fs::path> entries_of(const fs::path& folder, std::error_code* unread) {
  std::error_code error;
  std::vector<fs::path> entries;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    entries.push_back(entry->path());
  }
  if (error && !unread) throw FileError(folder.string() + ": cannot list this folder (" + error.message() + ")");
  if (unread) *unread = error;
  std::sort(entries.begin(), entries.end());
  return entries;
}

void make_folder(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error || !fs::is_directory(path)) {
    throw FileError(path.string() + ": cannot make this folder (" +
                    (error ? error.message() : std::string("a file stands in the way")) + ")");
  }
}

void require_writable_target(const fs::path& path) {
  if (path == "-" || is_special_file(path)) return;
  require_file_name(path);
  if (path.has_parent_path()) make_folder(path.parent_path());
  TemporaryFile probe(path);
}

}  // namespace tenshot
