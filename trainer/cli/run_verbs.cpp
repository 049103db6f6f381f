#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "datasets/collect/fresh_start.h"
#include "descriptor/callgrind/callgrind.h"
#include "nasbench/formats/network_file.h"
#include "nasbench/spaces/networks.h"
#include "trainer/cli/runtime_choice.h"
#include "trainer/cli/shared_options.h"

// The verbs that `collect` starts in processes of their own.

namespace tenshot::cli {
namespace {

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
          std::to_string(runs) + " times each",
      options.has("quiet"));
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

const Command run_operators_command = {"run-operators", "run each operator of a space, for valgrind to count",
                                       run_operators};
const Command run_network_command = {"run-network", "start one network once, for collect to time", run_network};

}  // namespace tenshot::cli
