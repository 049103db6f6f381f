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

std::pair<datasets::CollectOptions, const nasbench::NetworkSpace*> runtime_choice(const OptionParser& options) {
  datasets::CollectOptions collect;
  collect.runtime = options.get("runtime");
  collect.runtime_options.threads = options.integer("threads", 1);
  collect.runtime_options.batch = options.integer("batch", 1);
  collect.runtime_options.weight_seed = static_cast<std::uint64_t>(options.integer("seed", 0));
  const nasbench::NetworkSpace& space = datasets::named_space(options.get("space"));
  collect.shape = space.default_shape();
  if (options.has("resolution")) collect.shape.resolution = options.integer("resolution", 4);
  const std::vector<std::string> runtimes = descriptor::runtime_names();
  if (collect.runtime == descriptor::opencv_runtime_name && !descriptor::has_opencv())
    descriptor::make_opencv_runtime();
  if (std::find(runtimes.begin(), runtimes.end(), collect.runtime) == runtimes.end()) {
    throw UsageError("there is no runtime '" + collect.runtime + "'; see tenshot " + options.verb() + " --help");
  }
  collect.instruction_set = options.get("isa");
  restart_under(collect.instruction_set);
  return {std::move(collect), &space};
}

// The verbs that `collect` starts in processes of their own.

void run_operators(const OptionParser& options) {
  const auto [collect, space] = runtime_choice(options);
  const int runs = options.integer("runs", 1);
  const auto runtime = descriptor::make_runtime(collect.runtime);
  std::vector<std::unique_ptr<descriptor::PreparedNetwork>> prepared;
  for (const nasbench::Operator& op : space->operators(collect.shape, collect.runtime_options.batch)) {
    prepared.push_back(runtime->prepare(op.graph, collect.runtime_options));
  }
  descriptor::run_for_callgrind(prepared, runs);
  if (descriptor::under_valgrind()) return;  // callgrind has said what there is to say
  say(std::to_string(prepared.size()) + " operators of " + std::string(space->name()) + " ran " + std::to_string(runs) +
      " times each");
}

void run_network(const OptionParser& options) {
  const std::string text = options.required("architecture"), weights = options.required("weights");
  const int warm_runs = options.integer("warm-runs", 0);
  const auto [collect, space_of_cells] = runtime_choice(options);
  const auto runtime = descriptor::make_runtime(collect.runtime);
  nasbench::NetworkReadOptions read = read_options(options);
  read.batch = collect.runtime_options.batch;
  read.inputs_of_several = std::make_shared<std::set<std::string>>();
  const bool by_name = nasbench::is_network_file(text);
  const nasbench::NetworkSpace& space = by_name ? nasbench::networks() : *space_of_cells;
  nasbench::Network network =
      space.computation(datasets::architecture_or_file(text, space, read), collect.shape, read.batch);
  if (options.has("empty")) network = datasets::empty_network(network);
  const datasets::FreshStart start =
      datasets::start_network(*runtime, network, collect.runtime_options, weights, warm_runs);
  std::cout << datasets::to_json(start).dump() << std::endl;
}

}  // namespace tenshot::cli
