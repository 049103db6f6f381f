#include "trainer/cli/runtime_choice.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "datasets/tables/space_files.h"
#include "descriptor/machine/instruction_set.h"
#include "descriptor/runtimes/opencv_dnn.h"
#include "nasbench/support/error.h"
#include "nasbench/support/text.h"

namespace tenshot::cli {
namespace {

/// The libraries read what caps their instructions when they are loaded: this program starts again with it.
void restart_under(const std::string& instruction_set) {
  if (descriptor::instruction_set_in_force(instruction_set)) return;
  for (const auto& [variable, value] : descriptor::instruction_set_environment(instruction_set)) {
    setenv(variable.c_str(), value.c_str(), 1);
  }
  std::ifstream own("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(own, word, '\0');) words.push_back(word);
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  std::error_code unknown;  // by its own name where there is one, so that ps and pgrep know it
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", unknown);
  execv(unknown ? "/proc/self/exe" : self.c_str(), pointers.data());
  throw Error(std::string("--isa: cannot start again under other environment variables: ") + std::strerror(errno));
}

}  // namespace

void add_runtime_options(OptionParser& options, const std::string& seed_help) {
  options.text("runtime", joined(descriptor::runtime_names()), "libtorch-eager");
  options.text("threads", "processor threads of the runtime", "1");
  options.text("batch", "images an inference", "1");
  options.text("seed", seed_help, "1");
  options.text("space", "search space: a name, or FILE.json", "nasbench201");
  options.text("resolution", "of the input image (default: the space's own)");
  options.text("isa", "newest instructions the libraries may use: " + joined(descriptor::instruction_sets()), "native");
}

RuntimeChoice runtime_choice(const OptionParser& options) {
  RuntimeChoice choice;
  choice.runtime = options.get("runtime");
  choice.options.threads = options.integer("threads", 1);
  choice.options.batch = options.integer("batch", 1);
  choice.options.weight_seed = static_cast<std::uint64_t>(options.integer("seed", 0));
  choice.space = &datasets::named_space(options.get("space"));
  choice.shape = choice.space->default_shape();
  if (options.has("resolution")) choice.shape.resolution = options.integer("resolution", 4);
  const std::vector<std::string> runtimes = descriptor::runtime_names();
  if (choice.runtime == descriptor::opencv_runtime_name && !descriptor::has_opencv()) descriptor::make_opencv_runtime();
  if (std::find(runtimes.begin(), runtimes.end(), choice.runtime) == runtimes.end()) {
    throw UsageError("there is no runtime '" + choice.runtime + "'; see tenshot " + options.verb() + " --help");
  }
  choice.instruction_set = options.get("isa");
  restart_under(choice.instruction_set);
  return choice;
}

}  // namespace tenshot::cli
