#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tenshot::cli {

/// The files that a verb reads and writes. An output must not be an input, nor another output: whatever they are
/// called, by identity of the files (device and inode), so that links count as what they lead to. Whichever
/// of two is named last throws UsageError that names both.
///
///   FileRoles files("--checkpoint", checkpoint);
///   files.reads("--archs", archs);
///   files.writes("--out", out);
class FileRoles {
 public:
  FileRoles() = default;
  /// The first file that is read.
  FileRoles(const std::string& what, const std::filesystem::path& path) { reads(what, path); }

  /// `path` is a file, "-" for standard input, or may not exist. `what` names the option in messages.
  void reads(const std::string& what, const std::filesystem::path& path) { add_input(what, path, false); }
  /// A folder of which everything is read: nothing may be written below it, nor over what its links lead to.
  void reads_folder(const std::string& what, const std::filesystem::path& folder);
  /// A device-runtime, by its folder or its device.json: that and the latencies beside it.
  void reads_device(const std::string& what, const std::filesystem::path& path);
  /// Measurements: a file, a device-runtime's folder, or a kit with its manifest, its models and its results.
  void reads_measured(const std::string& what, const std::filesystem::path& path);
  /// Networks: a file, or a folder of which every ONNX file and networks.json is read.
  void reads_networks(const std::string& what, const std::filesystem::path& path);
  /// A file, or a name of something that is shipped and no file at all.
  void reads_file_or_name(const std::string& what, const std::string& text);
  void reads_experiment(const std::string& what, const std::filesystem::path& folder);

  /// `path` is a file, whether it exists or not, or "-" for standard output.
  void writes(const std::string& what, const std::filesystem::path& path) { add_output(what, path, false); }
  /// What training writes: the result, and its state beside it.
  void writes_training(const std::string& what, const std::filesystem::path& path);
  void writes_experiment(const std::string& what, const std::filesystem::path& folder);
  /// A pool's folder, to which device-runtimes are added: what is there already of any.
  void writes_devices(const std::string& what, const std::filesystem::path& folder);
  /// A folder that belongs to the verb alone: nothing that is read may stand below it.
  void writes_folder(const std::string& what, const std::filesystem::path& folder) { add_output(what, folder, true); }

 private:
  using Identity = std::pair<dev_t, ino_t>;

  struct Role {
    std::string what;
    std::filesystem::path path;        ///< as given
    std::filesystem::path real;        ///< absolute, without links; of a file that does not exist, where it would be
    std::optional<Identity> identity;  ///< of a regular file or folder that exists
    bool is_folder = false;
    bool is_stream = false;  ///< standard input or output
  };

  /// "-" is `stream`.
  static Role role_of(const std::string& what, const std::filesystem::path& path, bool is_folder, int stream);
  void add_input(const std::string& what, const std::filesystem::path& path, bool is_folder);
  void add_output(const std::string& what, const std::filesystem::path& path, bool is_folder);
  static bool same(const Role& a, const Role& b);
  static bool is_below(const Role& file, const Role& folder);
  static void require_apart(const Role& output, const Role& input);
  [[noreturn]] static void refuse(const Role& output, const Role& other);

  std::vector<Role> inputs_, outputs_;
};

/// The folders that a verb makes for what it will write. Those that are still empty when it ends are removed again: a
/// refused run leaves nothing behind.
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

}  // namespace tenshot::cli
