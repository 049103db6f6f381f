#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace tenshot {

// What this process puts beside its results while it makes them: temporary files called NAME.tmp-PID, which are renamed
// to NAME once they are whole, and temporary folders. They are known by path, so that a process that a signal ends
// leaves none of them behind, and by the process that owns them, so that a later one removes what a killed one left.

/// A file or folder that is removed when the process ends by remove_temporaries().
class RegisteredTemporary {
 public:
  /// Runs `make`, which creates `path`, unless the process is about to end.
  RegisteredTemporary(std::filesystem::path path, const std::function<void()>& make);
  /// Forgets the path, without removing anything.
  ~RegisteredTemporary();
  RegisteredTemporary(const RegisteredTemporary&) = delete;
  RegisteredTemporary& operator=(const RegisteredTemporary&) = delete;

  /// Runs `finish`, which renames or removes the path, unless the process is about to end.
  void finish(const std::function<void()>& finish) const;

 private:
  std::filesystem::path path_;
};

/// Removes every registered file and folder, and lets no thread make, rename or remove one any more: whoever tries
/// waits for ever. For a process that ends next.
void remove_temporaries();

/// "NAME.tmp-PID": what process `process` calls its temporary file of `target`.
std::filesystem::path temporary_name(const std::filesystem::path& target, pid_t process);

/// Marks an open temporary file or folder as in use, so that no other process takes it for a dead one's, whatever
/// container or machine that one runs in.
void mark_as_used(int descriptor);

/// Removes the temporary files of `target` that dead processes left. The folder is listed once for each process, so
/// that writing thousands of files into one folder does not list it thousands of times.
void remove_stale_temporaries_of(const std::filesystem::path& target);

/// Removes temporary folders called PREFIX-PID-… below `parent` that dead processes of this user left.
void remove_stale_folders(const std::filesystem::path& parent, const std::string& prefix);

/// A file that somebody else writes: removed with this, or when a signal ends the process.
class PassingFile {
 public:
  explicit PassingFile(const std::filesystem::path& path) : path_(path), registered_(path, [] {}) {}
  ~PassingFile();

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  RegisteredTemporary registered_;
};

/// A folder of its own below the system's temporary one, tenshot-PID-…, removed with all that is in it. Making one
/// removes those that killed processes of the same user left.
class TemporaryFolder {
 public:
  /// Throws FileError where none can be made.
  TemporaryFolder();
  ~TemporaryFolder();

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  std::optional<RegisteredTemporary> registered_;
  int in_use_ = -1;  ///< the folder, open and marked
};

}  // namespace tenshot
