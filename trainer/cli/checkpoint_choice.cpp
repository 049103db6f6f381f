#include <filesystem>

#include "datasets/kit/measured_source.h"
#include "nasbench/spaces/networks.h"
#include "trainer/cli/shared_options.h"

namespace tenshot::cli {
namespace {

/// The space of what a verb was given, networks by name before cells.
const nasbench::NetworkSpace& space_given(const OptionParser& options, const std::vector<std::string>& tables) {
  if (options.has("networks")) return nasbench::networks();
  return datasets::space_given(options.rest(), {tables.begin(), tables.end()});
}

}  // namespace

std::string checkpoint_option(const OptionParser& options, const std::string& name) {
  const std::string given = options.get(name), file = trainer::checkpoint_named(given);
  if (file != given && std::filesystem::exists(given)) {
    say("--" + name + " " + given + ": the shipped checkpoint " + file + " is read; ./" + given + " is none",
        options.has("quiet"));
  }
  return file;
}

std::string checkpoint_of(const OptionParser& options, const std::vector<std::string>& tables) {
  if (options.has("checkpoint")) return checkpoint_option(options);
  const nasbench::NetworkSpace& space = space_given(options, tables);
  std::filesystem::path found;
  const char* known = options.has("like") ? "like" : "device";
  if (options.has(known)) found = trainer::shipped_knowledge_of(options.get(known), space);
  if (found.empty()) found = trainer::shipped_checkpoint(space);
  const std::string shipped = found.lexically_normal().string();
  say("checkpoint: " + shipped, options.has("quiet"));
  return shipped;
}

std::vector<std::string> files_given(const OptionParser& options, const std::vector<std::string>& names) {
  std::vector<std::string> files;
  for (const std::string& name : names) {
    const std::vector<std::string> given = options.all(name);
    files.insert(files.end(), given.begin(), given.end());
  }
  return files;
}

}  // namespace tenshot::cli
