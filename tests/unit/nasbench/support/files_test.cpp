#include "nasbench/support/files.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "nasbench/support/error.h"

namespace tenshot {
namespace {

namespace fs = std::filesystem;

/// A folder of its own for each test, which may run beside others.
class Files : public ::testing::Test {
 protected:
  Files() {
    std::string pattern = (fs::path(::testing::TempDir()) / "tenshot-files-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~Files() override { fs::remove_all(folder_); }

  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path folder_;
};

/// While it lives, no file can grow past `bytes`: a full disk, as far as write() is concerned.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int);
};

const std::string binary_content("first\r\nsecond\0third\xff", 20);

TEST_F(Files, WrittenContent_IsReadBackByteForByte) {
  write_file_atomically(folder_ / "file", binary_content);
  EXPECT_EQ(read_file(folder_ / "file"), binary_content);
  write_file_quickly(folder_ / "file", "");
  EXPECT_EQ(read_file(folder_ / "file"), "");
  EXPECT_EQ(entries(), 1U);
}

TEST_F(Files, FailedWrite_LeavesOldContentAndNothingElse) {
  write_file_atomically(folder_ / "file", "old");
  const std::string large(1 << 20, 'x');
  {
    const FileSizeLimit limit(4096);
    EXPECT_THROW(write_file_atomically(folder_ / "file", large), FileError);
    EXPECT_THROW(write_file_quickly(folder_ / "file", large), FileError);
  }
  EXPECT_EQ(read_file(folder_ / "file"), "old");
  EXPECT_EQ(entries(), 1U);
}

TEST_F(Files, ErrorMessage_NamesTheFile) {
  const fs::path missing = folder_ / "no-such-file";
  try {
    read_file(missing);
    FAIL() << "a missing file was read";
  } catch (const FileError& error) {
    EXPECT_NE(std::string(error.what()).find(missing.string()), std::string::npos) << error.what();
  }
}

TEST_F(Files, PathBelowAFile_FailsForReadingWritingAndFolders) {
  write_file_quickly(folder_ / "file", "content");
  const fs::path below = folder_ / "file" / "below";
  EXPECT_THROW(read_file(below), FileError);
  EXPECT_THROW(write_file_atomically(below, "x"), FileError);
  EXPECT_THROW(write_file_quickly(below, "x"), FileError);
  EXPECT_THROW(make_folder(below), FileError);
  EXPECT_THROW(make_folder(folder_ / "file"), FileError);
  EXPECT_THROW(require_writable_target(below), FileError);
  EXPECT_EQ(read_file(folder_ / "file"), "content");
}

TEST_F(Files, FolderInPlaceOfAFile_Fails) {
  make_folder(folder_ / "inner");
  EXPECT_THROW(read_file(folder_ / "inner"), FileError);
  EXPECT_THROW(write_file_atomically(folder_ / "inner", "x"), FileError);
  EXPECT_THROW(require_writable_target(folder_ / "inner"), FileError);
  EXPECT_THROW(require_writable_target(folder_ / "new" / ""), FileError);
  EXPECT_THROW(write_file_atomically("", "x"), FileError);
  EXPECT_EQ(entries(), 1U);
}

TEST_F(Files, MissingFolder_FailsForWriting) {
  EXPECT_THROW(write_file_atomically(folder_ / "no" / "file", "x"), FileError);
  EXPECT_EQ(entries(), 0U);
}

TEST_F(Files, WritableTarget_MakesFoldersButNoFile) {
  require_writable_target(folder_ / "a" / "b" / "file");
  EXPECT_TRUE(fs::is_directory(folder_ / "a" / "b"));
  EXPECT_TRUE(fs::is_empty(folder_ / "a" / "b"));
}

TEST_F(Files, WritableTarget_KeepsWhatIsThere) {
  write_file_quickly(folder_ / "file", "content");
  require_writable_target(folder_ / "file");
  EXPECT_EQ(read_file(folder_ / "file"), "content");
  EXPECT_EQ(entries(), 1U);
}

TEST_F(Files, StandardStream_NeedsNoTarget) { EXPECT_NO_THROW(require_writable_target("-")); }

TEST_F(Files, Device_IsWrittenThroughNotReplaced) {
  require_writable_target("/dev/null");
  write_file_atomically("/dev/null", "x");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_EQ(read_file("/dev/null"), "");
}

TEST_F(Files, FileOfUnknownSize_IsReadWhole) {
  if (!fs::exists("/proc/self/status")) GTEST_SKIP() << "no /proc on this system";
  EXPECT_NE(read_file("/proc/self/status").find("Pid:"), std::string::npos);
}

}  // namespace
}  // namespace tenshot
