#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tenshot::cli {

class OptionParser;

/// The folders that a verb makes for what it will write. Those that are empty when it ends, as after a refusal, go.
///
///   const MadeFolders made(out);  // before long work, so that a path that cannot exist fails at once
class MadeFolders {
 public:
  MadeFolders() = default;
  explicit MadeFolders(const std::filesystem::path& file) : MadeFolders() { for_file(file); }
  ~MadeFolders();
  MadeFolders(const MadeFolders&) = delete;
  MadeFolders& operator=(const MadeFolders&) = delete;

  /// Makes the folder that will hold `file`, as require_writable_target() does. Throws FileError.
  void for_file(const std::filesystem::path& file);
  /// Makes `folder`. Throws FileError.
  void folder(const std::filesystem::path& folder);

 private:
  void remember_missing(std::filesystem::path folder);

  std::vector<std::filesystem::path> made_;  ///< the innermost first
};

/// The files that a verb reads and writes. An output must not be an input, nor another output: whatever they are
/// called, by identity of the files (device and inode), so that links count as what they lead to. Naming the second of
/// two that must not be the same throws UsageError, which names both.
class FileRoles {
 public:
  /// A file or folder that a verb names.
  struct Role {
    std::string what;
    std::filesystem::path path;  ///< as given
    std::filesystem::path real;  ///< absolute, without links; of a file that does not exist, where it would be
    std::optional<std::pair<dev_t, ino_t>> identity;  ///< of a regular file or folder that exists
    bool is_folder = false;
    bool is_stream = false;  ///< standard input or output
  };

  FileRoles() = default;
  /// The first file that is read.
  FileRoles(const std::string& what, const std::filesystem::path& path) { reads(what, path); }
  /// What is named by options that were given is read: files by --archs, --predictor, --predictions, --exclude,
  /// --accuracies and --operators, networks, measurements, a device by --descriptor, files or names by --rules,
  /// --explain and arguments without names. Throws UsageError where --fleet is given without several measurements.
  explicit FileRoles(const OptionParser& options);

  /// `path` is a file, "-" for standard input, or may not exist, or a folder that is only read. `what` is the option.
  void reads(const std::string& what, const std::filesystem::path& path, bool is_folder = false);
  /// A folder of which everything is read: nothing may be written below it, nor over what its links lead to.
  void reads_folder(const std::string& what, const std::filesystem::path& folder);
  /// A device-runtime, by its folder or its device.json: that and the latencies beside it.
  void reads_device(const std::string& what, const std::filesystem::path& path);
  /// Measurements: a file, a device-runtime's folder, or a kit with its manifest, its models and its results.
  void reads_measured(const std::string& what, const std::filesystem::path& path);
  /// What --networks names, where it is given: a file, or a folder of which network files and networks.json are read.
  void reads_networks(const OptionParser& options);
  void reads_experiment(const std::string& what, const std::filesystem::path& folder);

  /// `path` is a file, there or not, or "-" for standard output; or a folder of the verb's alone, not read below.
  void writes(const std::string& what, const std::filesystem::path& path, bool is_folder = false);
  /// The same, and makes the folder that will hold the file (MadeFolders::for_file).
  void makes(const std::string& what, const std::filesystem::path& path);
  /// The same of what training writes: the result, and its state beside it.
  void makes_training(const std::string& what, const std::filesystem::path& path);
  void writes_experiment(const std::string& what, const std::filesystem::path& folder);
  /// A pool's folder, to which device-runtimes are added: what is there already of any.
  void writes_devices(const std::string& what, const std::filesystem::path& folder);

 private:
  std::vector<Role> inputs_, outputs_;
  MadeFolders made_;
};

}  // namespace tenshot::cli
