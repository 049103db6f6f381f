// A storage of a known speed: a folder in memory, seen through FUSE, whose files are read at so many megabytes a
// second.
//
//   throttled_storage --rate 100 FOLDER MOUNT     in the foreground, until MOUNT is unmounted

#define FUSE_USE_VERSION 35
#include <dirent.h>
#include <fcntl.h>
#include <fuse.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cxxopts.hpp>
#include <iostream>
#include <string>
#include <thread>

namespace {

using Clock = std::chrono::steady_clock;

/// Serves one request after the other, each for as long as its bytes take. A request that comes while an earlier one
/// is served waits for it.
class Throttle {
 public:
  void set_rate(double megabytes_s) { bytes_per_ns_ = megabytes_s * 1e6 / 1e9; }

  /// Returns once `bytes` have come from the storage. What a sleep oversleeps is not added to the next request that
  /// waits.
  void wait_for(std::size_t bytes) {
    const auto takes = std::chrono::nanoseconds(static_cast<std::int64_t>(static_cast<double>(bytes) / bytes_per_ns_));
    busy_until_ = std::max(busy_until_, Clock::now()) + takes;
    std::this_thread::sleep_until(busy_until_);
  }

 private:
  double bytes_per_ns_ = 0;
  Clock::time_point busy_until_;
};

Throttle throttle;
std::string root;  ///< the folder in memory

std::string real(const char* path) { return root + path; }
int result(long returned) { return returned < 0 ? -errno : static_cast<int>(returned); }
int descriptor(const fuse_file_info* file) { return static_cast<int>(file->fh); }

void* start(fuse_conn_info*, fuse_config* config) {
  config->kernel_cache = 1;  // what was read stays in the page cache until somebody drops it, as of any storage
  return nullptr;
}

int attributes(const char* path, struct stat* found, fuse_file_info*) {
  return result(lstat(real(path).c_str(), found));
}

int list(const char* path, void* buffer, fuse_fill_dir_t fill, off_t, fuse_file_info*, fuse_readdir_flags) {
  DIR* folder = opendir(real(path).c_str());
  if (folder == nullptr) return -errno;
  while (const dirent* entry = readdir(folder)) fill(buffer, entry->d_name, nullptr, 0, fuse_fill_dir_flags{});
  return result(closedir(folder));
}

int open_file(const char* path, fuse_file_info* file) {
  const int opened = open(real(path).c_str(), file->flags & ~O_DIRECT);
  file->fh = static_cast<std::uint64_t>(opened);
  return opened < 0 ? -errno : 0;
}

int create_file(const char* path, mode_t mode, fuse_file_info* file) {
  const int opened = open(real(path).c_str(), file->flags & ~O_DIRECT, mode);
  file->fh = static_cast<std::uint64_t>(opened);
  return opened < 0 ? -errno : 0;
}

int read_file(const char*, char* to, std::size_t size, off_t offset, fuse_file_info* file) {
  const ssize_t bytes = pread(descriptor(file), to, size, offset);
  if (bytes > 0) throttle.wait_for(static_cast<std::size_t>(bytes));
  return result(bytes);
}

fuse_operations operations() {
  fuse_operations of{};
  of.init = start;
  of.getattr = attributes;
  of.readdir = list;
  of.open = open_file;
  of.create = create_file;
  of.read = read_file;
  of.write = [](const char*, const char* from, std::size_t size, off_t offset, fuse_file_info* file) {
    return result(pwrite(descriptor(file), from, size, offset));
  };
  of.release = [](const char*, fuse_file_info* file) { return result(close(descriptor(file))); };
  of.fsync = [](const char*, int, fuse_file_info*) { return 0; };  // memory has nothing to write
  of.truncate = [](const char* path, off_t size, fuse_file_info*) {
    return result(truncate(real(path).c_str(), size));
  };
  of.unlink = [](const char* path) { return result(unlink(real(path).c_str())); };
  of.mkdir = [](const char* path, mode_t mode) { return result(mkdir(real(path).c_str(), mode)); };
  of.rmdir = [](const char* path) { return result(rmdir(real(path).c_str())); };
  of.rename = [](const char* from, const char* to, unsigned) {
    return result(rename(real(from).c_str(), real(to).c_str()));
  };
  of.symlink = [](const char* to, const char* path) { return result(symlink(to, real(path).c_str())); };
  of.readlink = [](const char* path, char* to, std::size_t size) {
    const ssize_t length = readlink(real(path).c_str(), to, size - 1);
    if (length >= 0) to[length] = 0;
    return length < 0 ? -errno : 0;
  };
  of.chmod = [](const char* path, mode_t mode, fuse_file_info*) { return result(chmod(real(path).c_str(), mode)); };
  of.utimens = [](const char* path, const timespec times[2], fuse_file_info*) {
    return result(utimensat(AT_FDCWD, real(path).c_str(), times, AT_SYMLINK_NOFOLLOW));
  };
  return of;
}

}  // namespace

int main(int argc, char** argv) {
  cxxopts::Options options("throttled_storage", "A folder in memory whose files are read at a given speed.");
  options.add_options()("rate", "megabytes (10⁶ bytes) a second", cxxopts::value<double>())(
      "folder", "in memory", cxxopts::value<std::string>())("mount", "where it is seen", cxxopts::value<std::string>());
  options.parse_positional({"folder", "mount"});
  try {
    const auto given = options.parse(argc, argv);
    const double rate = given["rate"].as<double>();
    if (!(rate > 0)) throw std::invalid_argument("--rate is more than zero");
    throttle.set_rate(rate);
    root = given["folder"].as<std::string>();
    prctl(PR_SET_TIMERSLACK, 1UL);  // sleeps end when they should, and not up to 50 µs later
    // One thread, so that requests wait for each other as they do at a storage.
    std::string words[] = {"throttled_storage", "-f", "-s", given["mount"].as<std::string>()};
    char* arguments[] = {words[0].data(), words[1].data(), words[2].data(), words[3].data()};
    const fuse_operations of = operations();
    return fuse_main(4, arguments, &of, nullptr);
  } catch (const std::exception& error) {
    std::cerr << "throttled_storage: " << error.what() << "\n";
    return 2;
  }
}
