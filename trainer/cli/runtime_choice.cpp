#include "trainer/cli/runtime_choice.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>

#include "datasets/collect/fresh_start.h"
#include "datasets/tables/space_files.h"
#include "descriptor/callgrind/callgrind.h"
#include "descriptor/machine/instruction_set.h"
#include "descriptor/runtimes/opencv_dnn.h"
#include "nasbench/formats/network_file.h"
#include "nasbench/spaces/networks.h"
#include "trainer/cli/shared_options.h"

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
  execv(own_program().c_str(), pointers.data());  // by its own name, so that ps and pgrep know it
  throw Error(std::string("--isa: cannot start again under other environment variables: ") + std::strerror(errno));
}

}  // namespace

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

// The verbs that `collect` starts in processes of their own.

void run_operators(const OptionParser& options) {
  const RuntimeChoice choice = runtime_choice(options);
  const int runs = options.integer("runs", 1);
  const auto runtime = descriptor::make_runtime(choice.runtime);
  std::vector<std::unique_ptr<descriptor::PreparedNetwork>> prepared;
  for (const nasbench::Operator& op : choice.space->operators(choice.shape, choice.options.batch)) {
    prepared.push_back(runtime->prepare(op.graph, choice.options));
  }
  descriptor::run_for_callgrind(prepared, runs);
  if (descriptor::under_valgrind()) return;  // callgrind has said what there is to say
  say(std::to_string(prepared.size()) + " operators of " + std::string(choice.space->name()) + " ran " +
      std::to_string(runs) + " times each");
}

void run_network(const OptionParser& options) {
  const std::string text = options.required("architecture");
  datasets::StartRequest request;
  request.weights = options.required("weights");
  request.warm_runs = options.integer("warm-runs", 0);
  const RuntimeChoice choice = runtime_choice(options);
  request.options = choice.options;
  const auto runtime = descriptor::make_runtime(choice.runtime);
  nasbench::NetworkReadOptions read = read_options(options);
  read.batch = choice.options.batch;
  read.inputs_of_several = std::make_shared<std::set<std::string>>();
  const bool by_name = nasbench::is_network_file(text);
  const nasbench::NetworkSpace& space = by_name ? nasbench::networks() : *choice.space;
  nasbench::Network network =
      space.computation(datasets::architecture_or_file(text, space, read), choice.shape, choice.options.batch);
  if (options.has("empty")) network = datasets::empty_network(network);
  std::cout << datasets::to_json(datasets::start_network(*runtime, network, request)).dump() << std::endl;
}

}  // namespace tenshot::cli
