#include "trainer/cli/runtime_choice.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>

#include "datasets/collect/collect_starts.h"
#include "datasets/collect/fresh_start.h"
#include "datasets/tables/space_files.h"
#include "descriptor/callgrind/callgrind.h"
#include "descriptor/machine/instruction_set.h"
#include "descriptor/runtimes/opencv_dnn.h"
#include "nasbench/formats/network_file.h"
#include "nasbench/spaces/networks.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/text.h"
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

namespace {

/// This program, told to start one network as these options say.
std::vector<std::string> start_command(const OptionParser& options, const RuntimeChoice& choice) {
  std::vector<std::string> command = {own_program(), "run-network"};
  for (const char* option : {"runtime", "threads", "batch", "seed", "space", "isa"}) {
    command.insert(command.end(), {"--" + std::string(option), options.get(option)});
  }
  command.insert(command.end(), {"--resolution", std::to_string(choice.shape.resolution)});
  for (const std::string& shape : options.all("shape")) command.insert(command.end(), {"--shape", shape});
  return command;
}

void say_of_starts(const datasets::DeviceRuntime& device) {
  const auto environment = nlohmann::json::parse(device.environment);
  const auto count = [&](const char* key) { return environment.value(key, 0U); };
  const unsigned kept = count("starts_with_cached_pages"), all = kept + count("starts_from_disk");
  std::string text = std::to_string(all) + " starts";
  text += kept == 0 ? ", the page cache of the weights dropped before each"
                    : ", of " + std::to_string(kept) +
                          " the system kept pages of the weights in memory: those did not read them from disk";
  if (count("disturbed_starts") > 0) {
    text += "; " + std::to_string(count("disturbed_starts")) + " were disturbed by other programs";
  }
  if (environment.contains("runtime_memory_mib") && environment["runtime_memory_mib"].is_number()) {
    text += "; the runtime with an empty network takes " +
            shortest(std::round(10 * environment["runtime_memory_mib"].get<double>()) / 10) + " MiB";
  }
  say(text);
  for (const auto& entry : environment.value("left_out", nlohmann::json::array())) {
    say(entry.at("architecture").get<std::string>() + ": left out: " + entry.at("reason").get<std::string>());
  }
}

void run_operators(const std::vector<std::string>& arguments) {
  OptionParser options("run-operators",
                       "Runs each operator of a space under a runtime; what collect starts under valgrind, whose "
                       "callgrind then dumps what each costs.",
                       "  valgrind --tool=callgrind --cache-sim=yes --instr-atstart=no \\\n"
                       "    tenshot run-operators --runtime libtorch-frozen --runs 5\n");
  add_runtime_options(options, "of the weights");
  options.text("runs", "counted runs of each operator, after warm-up", "5");
  if (!options.parse(arguments)) return;
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

void run_network(const std::vector<std::string>& arguments) {
  OptionParser options("run-network",
                       "Starts one network in this process and prints what that took; what collect --cold starts.",
                       "  tenshot run-network --runtime libtorch-frozen --weights model.weights \\\n"
                       "    '|nor_conv_3x3~0|+|none~0|skip_connect~1|+|avg_pool_3x3~0|nor_conv_1x1~1|none~2|'\n"
                       "  tenshot run-network --weights model.weights model.onnx\n");
  add_runtime_options(options, "of the network's input");
  options.text("weights", "file of the network's weights, as collect --cold writes it");
  options.text("warm-runs", "after the first one", "20");
  options.flag("empty", "a network without operators in place of the architecture");
  add_shape_option(options);
  options.add_positional("architecture", "what the network is, or its ONNX file");
  if (!options.parse(arguments)) return;
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

}  // namespace

datasets::DeviceRuntime collect_starts(const OptionParser& options, const RuntimeChoice& choice,
                                       datasets::Quantity quantity, const nasbench::NetworkSpace& space,
                                       const datasets::CollectOptions& collect,
                                       const datasets::CollectProgress& progress) {
  datasets::CollectStartsOptions starts;
  starts.quantity = quantity;
  starts.command = start_command(options, choice);
  if (quantity == datasets::Quantity::memory) {
    starts.minimum_starts = 3;
    starts.maximum_starts = 7;
    starts.relative_precision = 0.01;
  }
  if (options.has("runs")) {
    starts.maximum_starts = options.integer("runs", 1);
    starts.minimum_starts = std::min(starts.minimum_starts, starts.maximum_starts);
  }
  // What else the machine does changes times, and not memory.
  const int usual_rounds = quantity == datasets::Quantity::cold ? std::min(3, starts.minimum_starts) : 1;
  starts.rounds = options.has("rounds") ? options.integer("rounds", 1) : usual_rounds;
  starts.collect = collect;
  datasets::DeviceRuntime device = datasets::collect_starts(starts, space, progress);
  say_of_starts(device);
  return device;
}

// The verbs that `collect` starts in processes of their own.
const Command run_operators_command = {"run-operators", "run each operator of a space, for valgrind to count",
                                       run_operators};
const Command run_network_command = {"run-network", "start one network once, for collect to time", run_network};

}  // namespace tenshot::cli
