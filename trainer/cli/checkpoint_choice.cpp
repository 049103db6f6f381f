#include "trainer/cli/checkpoint_choice.h"

#include <filesystem>
#include <system_error>

#include "datasets/kit/measured_space.h"
#include "nasbench/spaces/networks.h"
#include "trainer/core/shipped.h"

namespace tenshot::cli {
namespace {

/// The space of what a verb was given, networks by name before cells.
const nasbench::SearchSpace& space_given(const OptionParser& options, const std::vector<std::string>& tables) {
  for (const char* option : {"networks", "proposals"}) {
    if (options.has(option)) return nasbench::networks();
  }
  for (const std::string& argument : options.rest()) {
    if (!datasets::is_cell(argument)) return nasbench::networks();
  }
  for (const std::string& table : tables) {
    if (const nasbench::SearchSpace* space = datasets::space_of(table)) return *space;
  }
  return nasbench::nasbench201();
}

}  // namespace

std::string given_or_shipped(const std::string& path) {
  std::error_code failed;
  if (path.empty() || path.find('/') != std::string::npos || std::filesystem::exists(path, failed)) return path;
  const std::filesystem::path shipped = trainer::shipped_file(path);
  return shipped.empty() ? path : shipped.string();
}

std::string checkpoint_of(const OptionParser& options, const std::vector<std::string>& tables) {
  if (options.has("checkpoint")) return given_or_shipped(options.get("checkpoint"));
  const std::string shipped = trainer::shipped_checkpoint(space_given(options, tables)).lexically_normal().string();
  say("checkpoint: " + shipped, options.has("quiet"));
  return shipped;
}

std::vector<std::string> files_given(const OptionParser& options, const std::vector<std::string>& names) {
  std::vector<std::string> files;
  for (const std::string& name : names) {
    if (name == "measurements") {
      const std::vector<std::string> measurements = options.all(name);
      files.insert(files.end(), measurements.begin(), measurements.end());
    } else if (options.has(name)) {
      files.push_back(options.get(name));
    }
  }
  return files;
}

}  // namespace tenshot::cli
