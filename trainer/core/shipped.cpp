#include "trainer/core/shipped.h"

#include <dlfcn.h>

#include <algorithm>
#include <fstream>
#include <system_error>
#include <utility>

#include "nasbench/spaces/networks.h"
#include "nasbench/spaces/search_space.h"
#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "trainer/core/archive_reader.h"

namespace tenshot::trainer {
namespace {

namespace fs = std::filesystem;

constexpr const char* networks_knowledge = "networks.tenshot";
constexpr const char* cells_knowledge = "cells.tenshot";

/// Folders that could be the prefix of an installation or the root of a source tree: those around the program or
/// library that this code is in, the nearest first, then the one around the program, which of a module is Python's.
std::vector<fs::path> prefixes() {
  constexpr int levels = 4;  // PREFIX/lib/python3/dist-packages/tenshot/native.so
  std::vector<fs::path> found;
  std::error_code failed;
  Dl_info own;
  const bool told = ::dladdr(reinterpret_cast<const void*>(&shipped_knowledge), &own) != 0 && own.dli_fname != nullptr;
  fs::path folder = told ? fs::weakly_canonical(own.dli_fname, failed).parent_path() : fs::path();
  for (int level = 0; !failed && level < levels && folder.has_relative_path(); ++level) {
    folder = folder.parent_path();
    found.push_back(folder);
  }
  const fs::path program = fs::read_symlink("/proc/self/exe", failed);
  if (!failed) found.push_back(program.parent_path().parent_path());
  return found;
}

/// The file or folder of that name that came with tenshot: in share/tenshot of an installation, or in the source tree
/// that the program, or the library that this is part of, was built in. Empty where there is none.
fs::path shipped_file(const std::string& name) {
  for (const fs::path& prefix : prefixes()) {
    for (const char* folder : {"share/tenshot/checkpoints", "share/tenshot", "checkpoints", "datasets"}) {
      if (is_there(prefix / folder / name)) return prefix / folder / name;
    }
  }
  return {};
}

/// What came with tenshot under a bare name, whose suffix may be left out; empty where nothing did.
fs::path shipped_named(const std::string& name) {
  if (name.empty() || name.find('/') != std::string::npos) return {};
  for (const char* suffix : {".tenshot", ""}) {
    if (fs::path shipped = shipped_file(name + suffix); !shipped.empty()) return shipped;
  }
  return {};
}

bool is_checkpoint(const fs::path& path) {
  std::string start;
  return is_file(path) &&  // what is wrong with one is said when it is read
         (path.extension() == ".tenshot" || (std::ifstream(path) >> start && start == "TENSHOT"));
}

}  // namespace

std::string given_or_shipped(const std::string& path) {
  const fs::path shipped = is_there(path) ? fs::path() : shipped_named(path);
  return shipped.empty() ? path : shipped.string();
}

std::string checkpoint_named(const std::string& path) {
  const fs::path shipped = shipped_named(path);
  return shipped.empty() || is_checkpoint(path) ? path : shipped.string();
}

std::vector<fs::path> shipped_knowledge() {
  std::vector<fs::path> found;
  for (const char* name : {networks_knowledge, cells_knowledge}) {
    if (fs::path file = shipped_file(name); !file.empty()) found.push_back(std::move(file));
  }
  return found;
}

fs::path shipped_knowledge_of(const std::string& id, const nasbench::NetworkSpace& space) {
  std::vector<fs::path> files = shipped_knowledge();
  if (&space == &nasbench::nasbench201()) std::reverse(files.begin(), files.end());
  for (fs::path& file : files) {
    const Archive archive = load_archive(file);
    for (const JsonField& device : JsonField(archive).at("pool").at("devices").list()) {
      if (device.at("id").text() == id) return std::move(file);
    }
  }
  return {};
}

fs::path shipped_checkpoint(const nasbench::NetworkSpace& space) {
  std::vector<std::string> names;
  if (&space == &nasbench::networks()) names = {networks_knowledge};
  if (&space == &nasbench::nasbench201()) names = {cells_knowledge, "pool.tenshot"};
  for (const std::string& name : names) {
    if (fs::path found = shipped_file(name); !found.empty()) return found;
  }
  throw FileError("no checkpoint of the space " + std::string(space.name()) +
                  (names.empty() ? " comes with tenshot" : " came with this program (" + names.front() + ")") +
                  "; give --checkpoint, or train one on a pool: tenshot train");
}

}  // namespace tenshot::trainer
