#include "trainer/cli/runtime_choice.h"

#include <algorithm>

namespace tenshot::cli {

void add_runtime_options(OptionParser& options, const std::string& seed_help) {
  options.add()("runtime", "libtorch-eager, libtorch-frozen or libtorch-optimized",
                cxxopts::value<std::string>()->default_value("libtorch-eager"))(
      "threads", "processor threads of the runtime", cxxopts::value<std::string>()->default_value("1"))(
      "batch", "images an inference", cxxopts::value<std::string>()->default_value("1"))(
      "seed", seed_help, cxxopts::value<std::string>()->default_value("1"))(
      "space", "search space", cxxopts::value<std::string>()->default_value("nasbench201"))(
      "resolution", "of the input image", cxxopts::value<std::string>()->default_value("32"));
}

RuntimeChoice runtime_choice(const OptionParser& options) {
  RuntimeChoice choice;
  choice.runtime = options.get("runtime");
  choice.options.threads = options.integer("threads", 1);
  choice.options.batch = options.integer("batch", 1);
  choice.options.weight_seed = static_cast<std::uint64_t>(options.integer("seed", 0));
  choice.shape.resolution = options.integer("resolution", 4);
  choice.space = &nasbench::search_space(options.get("space"));
  const std::vector<std::string> runtimes = descriptor::runtime_names();
  if (std::find(runtimes.begin(), runtimes.end(), choice.runtime) == runtimes.end()) {
    throw UsageError("there is no runtime '" + choice.runtime + "'; see tenshot " + options.verb() + " --help");
  }
  return choice;
}

}  // namespace tenshot::cli
