#include "nasbench/support/temporaries.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "nasbench/support/error.h"
#include "nasbench/support/files.h"

namespace tenshot {
namespace {

namespace fs = std::filesystem;

/// A process that has ended.
pid_t dead_process() {
  const pid_t process = ::fork();
  if (process == 0) ::_exit(0);
  ::waitpid(process, nullptr, 0);
  return process;
}

/// A folder that is not registered: a child that removes its temporaries leaves it.
class PlainFolder {
 public:
  PlainFolder() {
    std::string pattern = (fs::path(::testing::TempDir()) / "temporaries-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  PlainFolder(const PlainFolder&) = delete;
  PlainFolder& operator=(const PlainFolder&) = delete;
  ~PlainFolder() { fs::remove_all(path_); }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

void put(const fs::path& path, const std::string& text = "x") { std::ofstream(path) << text; }

TEST(Temporaries, OfAProcessThatNobodyWaitedForAreRemovedToo) {
  const TemporaryFolder folder;
  const fs::path target = folder.path() / "file";
  const pid_t zombie = ::fork();
  if (zombie == 0) ::_exit(0);
  siginfo_t ended;
  ::waitid(P_PID, static_cast<id_t>(zombie), &ended, WEXITED | WNOWAIT);  // ended, and still there
  put(temporary_name(target, zombie));
  write_file_atomically(target, "content");
  EXPECT_FALSE(fs::exists(temporary_name(target, zombie)));
  ::waitpid(zombie, nullptr, 0);
}

TEST(Temporaries, OfADeadProcessAreRemovedByTheNextWriteOfTheSameFile) {
  const TemporaryFolder folder;
  const fs::path target = folder.path() / "file";
  const pid_t dead = dead_process();
  put(temporary_name(target, dead));
  put(temporary_name(folder.path() / "other", dead));
  put(temporary_name(target, ::getppid()));  // of a process that lives
  put(target.string() + ".tmp-");
  put(target.string() + ".tmp-12a");
  write_file_atomically(target, "content");
  EXPECT_FALSE(fs::exists(temporary_name(target, dead)));
  EXPECT_TRUE(fs::exists(temporary_name(folder.path() / "other", dead)));
  EXPECT_TRUE(fs::exists(temporary_name(target, ::getppid())));
  EXPECT_TRUE(fs::exists(target.string() + ".tmp-"));
  EXPECT_TRUE(fs::exists(target.string() + ".tmp-12a"));
}

TEST(Temporaries, OfADeadProcessThatSomeoneStillUsesStay) {
  const TemporaryFolder folder;
  const fs::path target = folder.path() / "file", stale = temporary_name(target, dead_process());
  put(stale);
  const int elsewhere =
      ::open(stale.c_str(), O_RDONLY | O_CLOEXEC);  // as in another container, where it has that number
  mark_as_used(elsewhere);
  write_file_atomically(target, "content");
  EXPECT_TRUE(fs::exists(stale));
  ::close(elsewhere);
}

TEST(Temporaries, AreNeverFollowedWhereTheyAreLinks) {
  const TemporaryFolder folder;
  const fs::path target = folder.path() / "file", stale = temporary_name(target, dead_process());
  put(folder.path() / "precious");
  fs::create_symlink(folder.path() / "precious", stale);
  fs::create_symlink(folder.path() / "precious", temporary_name(target, ::getpid()));
  EXPECT_THROW(write_file_atomically(target, "content"), FileError);
  EXPECT_TRUE(fs::is_symlink(stale));
  EXPECT_EQ(read_file(folder.path() / "precious"), "x");
}

TEST(Temporaries, OfThisProcessAreRemovedBeforeItEnds) {
  const PlainFolder folder;
  const pid_t process = ::fork();
  if (process == 0) {
    const RegisteredTemporary file(folder.path() / "file", [&] { put(folder.path() / "file"); });
    const RegisteredTemporary inner(folder.path() / "inner", [&] {
      fs::create_directories(folder.path() / "inner" / "deep");
      put(folder.path() / "inner" / "deep" / "file");
    });
    remove_temporaries();
    ::_exit(fs::is_empty(folder.path()) ? 0 : 1);
  }
  int status = 0;
  ::waitpid(process, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST(Temporaries, ThatAreForgottenStay) {
  const PlainFolder folder;
  const pid_t process = ::fork();
  if (process == 0) {
    {
      const RegisteredTemporary file(folder.path() / "file", [&] { put(folder.path() / "file"); });
    }
    remove_temporaries();
    ::_exit(fs::exists(folder.path() / "file") ? 0 : 1);
  }
  int status = 0;
  ::waitpid(process, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST(Temporaries, FoldersOfDeadProcessesAreRemovedAndNoOthers) {
  const TemporaryFolder parent;
  const std::string dead = std::to_string(dead_process()), alive = std::to_string(::getppid());
  for (const std::string& name : {"a-" + dead + "-XyZ", "a-" + alive + "-XyZ", "b-" + dead + "-XyZ",
                                  std::string("a-12x-XyZ"), std::string("a-XyZ")}) {
    fs::create_directory(parent.path() / name);
    put(parent.path() / name / "file");
  }
  remove_stale_folders(parent.path(), "a");
  EXPECT_FALSE(fs::exists(parent.path() / ("a-" + dead + "-XyZ")));
  EXPECT_TRUE(fs::exists(parent.path() / ("a-" + alive + "-XyZ")));
  EXPECT_TRUE(fs::exists(parent.path() / ("b-" + dead + "-XyZ")));
  EXPECT_TRUE(fs::exists(parent.path() / "a-12x-XyZ"));
  EXPECT_TRUE(fs::exists(parent.path() / "a-XyZ"));
}

TEST(WrittenFiles, KeepTheirPermissions) {
  const TemporaryFolder folder;
  const fs::path target = folder.path() / "file";
  put(target);
  for (const mode_t mode : {0600, 0755, 0664}) {
    ASSERT_EQ(::chmod(target.c_str(), mode), 0);
    write_file_atomically(target, "content");
    struct stat status {};
    ASSERT_EQ(::stat(target.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, mode);
  }
}

TEST(WrittenFiles, ThatAreNewHaveWhatTheUmaskAllows) {
  const TemporaryFolder folder;
  const mode_t before = ::umask(027);
  write_file_atomically(folder.path() / "file", "content");
  ::umask(before);
  struct stat status {};
  ASSERT_EQ(::stat((folder.path() / "file").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0640U);
}

TEST(WrittenFiles, AreWhatALinkLeadsTo) {
  const TemporaryFolder folder;
  fs::create_directory(folder.path() / "inner");
  put(folder.path() / "inner" / "file");
  fs::create_symlink("inner/file", folder.path() / "link");
  fs::create_symlink(folder.path() / "link", folder.path() / "link of a link");
  fs::create_symlink("inner/new", folder.path() / "leads nowhere");
  write_file_atomically(folder.path() / "link of a link", "content");
  write_file_atomically(folder.path() / "leads nowhere", "made");
  EXPECT_TRUE(fs::is_symlink(folder.path() / "link"));
  EXPECT_TRUE(fs::is_symlink(folder.path() / "link of a link"));
  EXPECT_TRUE(fs::is_symlink(folder.path() / "leads nowhere"));
  EXPECT_EQ(read_file(folder.path() / "inner" / "file"), "content");
  EXPECT_EQ(read_file(folder.path() / "inner" / "new"), "made");
}

TEST(WrittenFiles, AreRefusedWhereALinkLeadsInACircle) {
  const TemporaryFolder folder;
  fs::create_symlink("b", folder.path() / "a");
  fs::create_symlink("a", folder.path() / "b");
  EXPECT_THROW(write_file_atomically(folder.path() / "a", "content"), FileError);
}

}  // namespace
}  // namespace tenshot
