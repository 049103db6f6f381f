#include "trainer/cli/file_roles.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <system_error>

#include "datasets/kit/kit.h"
#include "nasbench/formats/network_file.h"
#include "nasbench/support/files.h"
#include "trainer/cli/command.h"

namespace tenshot::cli {
namespace {

namespace fs = std::filesystem;

/// `path` with links followed as far as there is anything, and where a last link leads that leads nowhere yet.
fs::path real_path(fs::path path) {
  constexpr int most_links = 40;
  std::error_code error;
  for (int links = 0; links < most_links && !fs::exists(path, error); ++links) {
    if (!fs::is_symlink(fs::symlink_status(path, error))) break;
    const fs::path target = fs::read_symlink(path, error);
    path = target.is_absolute() ? target : path.parent_path() / target;
  }
  fs::path real = fs::weakly_canonical(fs::absolute(path, error), error);
  if (error) real = fs::absolute(path, error).lexically_normal();
  return real.has_filename() ? real : real.parent_path();
}

constexpr std::array<const char*, 2> device_files = {"device.json", "latencies.csv"};
constexpr std::array<const char*, 6> kit_files = {"manifest.json", "models.tsv",  "measure.sh",
                                                  "README.txt",    "run_onnx.py", "run_onnx.js"};
constexpr std::array<const char*, 5> experiment_files = {"experiment.json", "results.json", "results.csv",
                                                         "predictions.csv", "README.md"};
constexpr std::array<const char*, 2> experiment_folders = {"models", "cells"};

std::vector<fs::path> readable_entries(const fs::path& folder) {
  std::error_code error;
  return entries_of(folder, &error);
}

using Role = FileRoles::Role;

/// "-" is `stream`.
Role role_of(const std::string& what, const fs::path& path, bool is_folder, int stream) {
  Role role{what, path, {}, {}, is_folder, path == "-"};
  struct stat status {};
  const int known = role.is_stream ? ::fstat(stream, &status) : ::stat(path.c_str(), &status);
  if (known == 0 && (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode))) {
    role.identity = std::pair(status.st_dev, status.st_ino);
  }
  // A device or a pipe may be read and written by whom it likes.
  const bool special = known == 0 && !role.identity;
  if (!role.is_stream && !special) role.real = real_path(path);
  return role;
}

bool same(const Role& a, const Role& b) {
  if (a.identity && b.identity) return a.identity == b.identity;
  return !a.real.empty() && a.real == b.real;
}

bool is_below(const Role& file, const Role& folder) {
  if (!folder.is_folder || folder.real.empty() || file.real.empty()) return false;
  const auto [of_folder, of_file] =
      std::mismatch(folder.real.begin(), folder.real.end(), file.real.begin(), file.real.end());
  return of_folder == folder.real.end();
}

[[noreturn]] void refuse(const Role& output, const Role& other) {
  const std::string name = output.is_stream ? "standard output" : "'" + output.path.string() + "'";
  if (!same(output, other)) {
    const bool inside = is_below(output, other);
    throw UsageError(output.what + ": " + name + (inside ? " stands in '" : " holds '") + other.path.string() +
                     "', which is " + (inside ? "read" : "needed") + " as " + other.what + "; write it elsewhere");
  }
  throw UsageError(output.what + ": " + name + " is the same " + (output.is_folder ? "folder" : "file") + " as " +
                   other.what + " ('" + other.path.string() + "'), which would be lost; give it another name");
}

void require_apart(const Role& output, const Role& input) {
  if (same(output, input) || is_below(output, input) || is_below(input, output)) refuse(output, input);
}

}  // namespace

FileRoles::FileRoles(const OptionParser& options) {
  for (const char* option : {"archs", "predictor", "predictions", "exclude", "accuracies", "operators"}) {
    if (options.has(option)) reads("--" + std::string(option), options.get(option));
  }
  const std::vector<std::string> measurements = options.all("measurements");
  if (options.has("fleet") && measurements.size() < 2) throw UsageError("--fleet is of several --measurements");
  for (const std::string& path : measurements) reads_measured("--measurements", path);
  reads_networks(options);
  if (options.has("descriptor")) reads_device("--descriptor", options.get("descriptor"));
  for (const char* option : {"rules", "explain"}) {
    for (const std::string& text : options.all(option)) {
      if (is_there(text)) reads("--" + std::string(option), text);
    }
  }
  for (const std::string& text : options.rest()) {
    if (is_there(text)) reads("the network", text);
  }
}

void FileRoles::reads(const std::string& what, const fs::path& path, bool is_folder) {
  const Role input = role_of(what, path, is_folder, STDIN_FILENO);
  for (const Role& output : outputs_) require_apart(output, input);
  inputs_.push_back(input);
}

void FileRoles::writes(const std::string& what, const fs::path& path, bool is_folder) {
  const Role output = role_of(what, path, is_folder, STDOUT_FILENO);
  for (const Role& input : inputs_) require_apart(output, input);
  for (const Role& earlier : outputs_) {
    if (earlier.what == output.what) continue;  // files of one folder
    const bool both_streams = output.is_stream && earlier.is_stream;
    if (both_streams || same(output, earlier) || is_below(output, earlier)) refuse(output, earlier);
    if (is_below(earlier, output)) refuse(earlier, output);
  }
  outputs_.push_back(output);
}

void FileRoles::makes(const std::string& what, const fs::path& path) {
  writes(what, path);
  made_.for_file(path);
}

void FileRoles::reads_folder(const std::string& what, const fs::path& folder) {
  reads(what, folder, true);
  for (const fs::path& entry : readable_entries(folder)) {
    for (const fs::path& inner : readable_entries(entry)) {
      if (is_file(inner)) reads(what, inner);
    }
  }
}

void FileRoles::reads_device(const std::string& what, const fs::path& path) {
  if (!is_folder(path)) reads(what, path);
  for (const char* name : device_files) reads(what, (is_folder(path) ? path : path.parent_path()) / name);
}

void FileRoles::reads_measured(const std::string& what, const fs::path& path) {
  if (!is_folder(path)) return reads(what, path);
  if (!datasets::is_kit(path)) return reads_device(what, path);
  for (const char* part : {"models", "results"}) {
    if (is_folder(path / part)) reads(what, path / part, true);
  }
  for (const char* name : kit_files) {
    if (is_file(path / name)) reads(what, path / name);
  }
}

void FileRoles::reads_networks(const OptionParser& options) {
  if (!options.has("networks")) return;
  const fs::path path = options.get("networks");
  if (!is_folder(path)) return reads("--networks", path);
  for (const fs::path& entry : readable_entries(path)) {
    if (nasbench::is_network_file(entry) || entry.filename() == "networks.json") reads("--networks", entry);
  }
}

void FileRoles::reads_experiment(const std::string& what, const fs::path& folder) {
  for (const char* name : experiment_files) reads(what, folder / name);
  for (const char* name : experiment_folders) reads(what, folder / name, true);
}

void FileRoles::writes_experiment(const std::string& what, const fs::path& folder) {
  for (const char* name : experiment_files) writes(what, folder / name);
  for (const char* name : experiment_folders) writes(what, folder / name, true);
}

void FileRoles::writes_devices(const std::string& what, const fs::path& folder) {
  for (const fs::path& entry : readable_entries(folder)) {
    for (const char* name : device_files) {
      if (is_file(entry / name)) writes(what, entry / name);
    }
  }
}

void FileRoles::makes_training(const std::string& what, const fs::path& path) {
  makes(what, path);
  if (path != "-") writes("the state of " + what, path.string() + ".partial");
}

MadeFolders::~MadeFolders() {
  std::error_code ignored;  // a folder that holds something stays
  for (const std::filesystem::path& folder : made_) std::filesystem::remove(folder, ignored);
}

void MadeFolders::remember_missing(std::filesystem::path folder) {
  for (; !folder.empty() && !is_there(folder); folder = folder.parent_path()) {
    if (folder.has_filename()) made_.push_back(folder);
    if (!folder.has_parent_path() || folder.parent_path() == folder) return;
  }
}

void MadeFolders::for_file(const std::filesystem::path& file) {
  remember_missing(file.parent_path());
  require_writable_target(file);
}

void MadeFolders::folder(const std::filesystem::path& folder) {
  remember_missing(folder);
  make_folder(folder);
}

}  // namespace tenshot::cli
