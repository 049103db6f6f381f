#include "datasets/collect.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "datasets/measurements.h"
#include "descriptor/instruction_set.h"
#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "nasbench/support/numbers.h"
#include "trainer/cli/command.h"

namespace tenshot::cli {
namespace {

/// `--archs` is a file of architectures, or how many to draw: the first N of a fixed order, so that every
/// device-runtime measures the same ones and a larger N extends a smaller one.
std::vector<nasbench::Architecture> architectures_of(const std::string& archs, const nasbench::SearchSpace& space,
                                                     std::uint64_t seed, bool quiet) {
  const auto count = parse_integer(archs);
  if (!count || std::filesystem::exists(archs)) {
    const datasets::ArchitectureList list = datasets::read_architectures(archs, space);
    report(list.findings, quiet);
    if (list.architectures.empty()) throw InputError(archs + ": holds no usable architecture");
    return list.architectures;
  }
  if (*count < 1) throw UsageError("--archs is a file, or a number of at least 1");
  std::vector<nasbench::Architecture> all = space.all();
  Rng rng(seed);
  rng.shuffle(all);
  all.resize(std::min<std::size_t>(all.size(), static_cast<std::size_t>(*count)));
  return all;
}

std::string list_of(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

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
  execv("/proc/self/exe", pointers.data());
  throw Error(std::string("--isa: cannot start again under other environment variables: ") + std::strerror(errno));
}

void run(const std::vector<std::string>& arguments) {
  OptionParser options("collect", "Measures architectures on this machine and writes a device-runtime.",
                       "  tenshot collect --runtime libtorch-frozen --descriptor --archs 50 --out dev/\n");
  options.add()("runtime", list_of(descriptor::runtime_names()),
                cxxopts::value<std::string>()->default_value("libtorch-eager"))(
      "threads", "processor threads of the runtime", cxxopts::value<std::string>()->default_value("1"))(
      "batch", "images an inference", cxxopts::value<std::string>()->default_value("1"))(
      "archs", "CSV with an architecture column, or how many to draw",
      cxxopts::value<std::string>()->default_value("50"))("seed", "of the draw of architectures and of the weights",
                                                          cxxopts::value<std::string>()->default_value("1"))(
      "space", "search space", cxxopts::value<std::string>()->default_value("nasbench201"))(
      "resolution", "of the input image", cxxopts::value<std::string>()->default_value("32"))(
      "isa", "newest instructions the libraries may use: " + list_of(descriptor::instruction_sets()),
      cxxopts::value<std::string>()->default_value("native"))(
      "runs", "of a network at most; it stops earlier, after half of them, once its median is known to 1 %",
      cxxopts::value<std::string>()->default_value("60"))(
      "descriptor", "measure the space's operators too: a hardware descriptor of their latencies")(
      "rounds", "measure the networks of a batch in turn, this often (1: one after the other)",
      cxxopts::value<std::string>()->default_value("6"))(
      "repeat-check", "measure 5 % of the architectures again at the end")("out", "folder to write <id>/device.json to",
                                                                           cxxopts::value<std::string>());
  if (!options.parse(arguments)) return;
  const bool quiet = options.has("quiet");
  const nasbench::SearchSpace& space = nasbench::search_space(options.get("space"));
  datasets::CollectOptions collect;
  collect.folder = options.required("out");
  collect.runtime = options.get("runtime");
  collect.runtime_options.threads = static_cast<int>(options.integer("threads", 1));
  collect.runtime_options.batch = static_cast<int>(options.integer("batch", 1));
  const auto seed = static_cast<std::uint64_t>(options.integer("seed", 0));
  collect.runtime_options.weight_seed = seed;
  collect.shape.resolution = static_cast<int>(options.integer("resolution", 4));
  collect.timing.rounds = static_cast<int>(options.integer("rounds", 1));
  collect.timing.maximum_runs = static_cast<int>(options.integer("runs", 1));
  collect.timing.minimum_runs = (collect.timing.maximum_runs + 1) / 2;
  collect.operator_latencies = options.has("descriptor");
  collect.repeat_check = options.has("repeat-check");
  collect.architectures = architectures_of(options.get("archs"), space, seed, quiet);
  const std::vector<std::string> runtimes = descriptor::runtime_names();
  if (std::find(runtimes.begin(), runtimes.end(), collect.runtime) == runtimes.end()) {
    throw UsageError("there is no runtime '" + collect.runtime + "'; see tenshot collect --help");
  }
  collect.instruction_set = options.get("isa");
  restart_under(collect.instruction_set);
  make_folder(collect.folder);
  ProgressLine progress(quiet);
  const auto device =
      datasets::collect(collect, space, [&](std::size_t done, std::size_t total, const std::string& note) {
        progress.show(std::to_string(done) + " of " + std::to_string(total) + " architectures" +
                      (note.empty() ? "" : "; " + note));
        return !stop_requested();
      });
  say((collect.folder / device.id).string() + ": " + std::to_string(device.latencies.size()) + " architectures", quiet);
}

}  // namespace

const Command collect_command = {"collect", "measure architectures on this machine", run};

}  // namespace tenshot::cli
