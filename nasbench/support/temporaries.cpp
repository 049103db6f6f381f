#include "nasbench/support/temporaries.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <string_view>
#include <vector>

#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "nasbench/support/numbers.h"

namespace tenshot {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view marker = ".tmp-";

/// The paths that this process would leave behind. Never destroyed: a thread may still ask while the program ends.
struct Registry {
  std::timed_mutex mutex;
  std::multiset<std::string> paths;
};

Registry& registry() {
  static auto* const only = new Registry;
  return *only;
}

std::optional<pid_t> process_of(std::string_view digits) {
  const auto number = parse_integer(digits);
  const bool plain = !digits.empty() && digits.find_first_not_of("0123456789") == std::string_view::npos;
  if (!plain || !number || *number < 1 || *number > 0x7fffffff) return std::nullopt;
  return static_cast<pid_t>(*number);
}

/// True of a process that has ended and that nobody has waited for yet: it has no files any more.
bool is_zombie(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string status;
  std::getline(file, status);
  const std::size_t name_end = status.rfind(')');  // "28114 (tenshot) Z …"
  return name_end != std::string::npos && status.size() > name_end + 2 && status[name_end + 2] == 'Z';
}

bool is_dead(pid_t process) { return (::kill(process, 0) != 0 && errno == ESRCH) || is_zombie(process); }

/// Whether no process has marked the file or folder as used. It must not be a link.
bool is_unused(const fs::path& path, int flags) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | flags);
  if (descriptor < 0) return false;
  const bool unused = ::flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
  ::close(descriptor);
  return unused;
}

std::vector<std::string> temporary_names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const fs::path& entry : entries_of(folder, &error)) {
    std::string name = entry.filename().string();
    const std::size_t at = name.rfind(marker);
    if (at == std::string::npos || at == 0) continue;
    if (process_of(std::string_view(name).substr(at + marker.size()))) names.push_back(std::move(name));
  }
  return names;
}

void remove_if_stale(const fs::path& path) {
  const std::string name = path.filename().string();
  const auto process = process_of(std::string_view(name).substr(name.rfind(marker) + marker.size()));
  struct stat status {};
  if (!process || !is_dead(*process)) return;
  if (::lstat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode) || !is_unused(path, 0)) return;
  ::unlink(path.c_str());
}

}  // namespace

RegisteredTemporary::RegisteredTemporary(fs::path path, const std::function<void()>& make) : path_(std::move(path)) {
  const std::lock_guard lock(registry().mutex);
  const auto entry = registry().paths.insert(path_.string());
  try {
    make();
  } catch (...) {
    registry().paths.erase(entry);
    throw;
  }
}

RegisteredTemporary::~RegisteredTemporary() {
  const std::lock_guard lock(registry().mutex);
  const auto entry = registry().paths.find(path_.string());
  if (entry != registry().paths.end()) registry().paths.erase(entry);
}

void RegisteredTemporary::finish(const std::function<void()>& finish) const {
  const std::lock_guard lock(registry().mutex);
  finish();
}

void remove_temporaries() {
  // A thread that holds the lock is about to make or rename a file; a file system that hangs must not keep us alive.
  constexpr auto patience = std::chrono::milliseconds(200);
  constexpr int attempts = 3;  // a child may write into a folder while it is being removed
  if (!registry().mutex.try_lock_for(patience)) return;
  for (const std::string& path : registry().paths) {
    std::error_code error;
    for (int attempt = 0; attempt < attempts; ++attempt) {
      fs::remove_all(path, error);
      if (!error) break;
    }
  }
}

fs::path temporary_name(const fs::path& target, pid_t process) {
  return target.string() + std::string(marker) + std::to_string(process);
}

void mark_as_used(int descriptor) { ::flock(descriptor, LOCK_SH | LOCK_NB); }

void remove_stale_temporaries_of(const fs::path& target) {
  static std::mutex mutex;
  static auto* const found = new std::map<std::string, std::vector<std::string>>;
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  const std::string prefix = target.filename().string() + std::string(marker);
  const std::lock_guard lock(mutex);
  const auto [names, is_new] = found->try_emplace(folder.string());
  if (is_new) names->second = temporary_names_in(folder);
  for (const std::string& name : names->second) {
    if (name.compare(0, prefix.size(), prefix) == 0) remove_if_stale(folder / name);
  }
}

PassingFile::~PassingFile() {
  registered_.finish([this] {
    std::error_code ignored;
    fs::remove(path_, ignored);
  });
}

void remove_stale_folders(const fs::path& parent, const std::string& prefix) {
  const std::string start = prefix + "-";
  std::error_code error;
  for (const fs::path& entry : entries_of(parent, &error)) {
    const std::string name = entry.filename().string();
    const std::size_t dash = name.find('-', start.size());
    if (name.compare(0, start.size(), start) != 0 || dash == std::string::npos) continue;
    const auto process = process_of(std::string_view(name).substr(start.size(), dash - start.size()));
    struct stat status {};
    if (!process || !is_dead(*process) || ::lstat(entry.c_str(), &status) != 0) continue;
    if (!S_ISDIR(status.st_mode) || status.st_uid != ::geteuid() || !is_unused(entry, O_DIRECTORY)) continue;
    std::error_code ignored;
    fs::remove_all(entry, ignored);
  }
}

TemporaryFolder::TemporaryFolder() {
  const std::string prefix = "tenshot";
  std::error_code failed;
  const fs::path parent = fs::temp_directory_path(failed);
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
  fs::remove_all(path_, ignored);
  if (in_use_ >= 0) ::close(in_use_);
}

}  // namespace tenshot
