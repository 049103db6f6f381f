#include <array>
#include <iostream>

#include "descriptor/counters/counters.h"
#include "descriptor/runtimes/libtorch_runtime.h"
#include "nasbench/support/suggestion.h"
#include "trainer/cli/cold.h"

namespace tenshot::cli {
namespace {

const std::array commands = {&collect_command,    &dataset_command, &train_command,    &plan_command,
                             &adapt_command,      &predict_command, &evaluate_command, &export_command,
                             &experiment_command, &report_command,  &info_command,     &network_command,
                             &kernels_command,    &cold_command,    &devices_command,  &run_operators_command,
                             &run_network_command};

void print_help() {
  std::cout << "tenshot: measure ten networks on a device nobody has profiled, predict the latency of all of them.\n\n"
               "Usage: tenshot VERB [options]        tenshot help VERB shows a verb's options and an example\n\n";
  for (const Command* command : commands) {
    std::cout << "  " << command->name << std::string(15 - command->name.size(), ' ') << command->summary << "\n";
  }
  std::cout << "\n  tenshot version     versions of what decides speed here: LibTorch, BLAS, processor, counters\n\n"
               "Example:\n"
               "  tenshot train --pool datasets/data --out pool.tenshot\n"
               "  tenshot plan --checkpoint pool.tenshot --samples 10 --out plan.csv\n"
               "  (measure the ten on the new device: measured.csv)\n"
               "  tenshot adapt --checkpoint pool.tenshot --measurements measured.csv --out device.tenshot\n"
               "  tenshot predict --predictor device.tenshot --out predictions.csv\n"
               "  tenshot predict --device NAME model.onnx       a device that is known: tenshot devices\n";
}

void print_version() {
  std::cout << "tenshot " << TENSHOT_VERSION << "\n"
            << descriptor::torch_summary() << "\n"
            << descriptor::libpfm_version() << "; " << descriptor::perf_event_status() << "\n";
}

const Command& command_called(const std::string& verb) {
  std::vector<std::string> verbs;
  for (const Command* command : commands) {
    if (command->name == verb) return *command;
    verbs.push_back(command->name);
  }
  throw UsageError("there is no verb '" + verb + "'" + suggestion(verb, verbs) + "; see tenshot --help");
}

}  // namespace

int run(const std::vector<std::string>& arguments) {
  const std::string first = arguments.empty() ? "--help" : arguments[0];
  if (first == "help" && arguments.size() > 1) {
    command_called(arguments[1]).run({"--help"});
    return 0;
  }
  if (first == "--help" || first == "-h" || first == "help") {
    print_help();
    return arguments.empty() ? 2 : 0;
  }
  if (first == "--version" || first == "-V" || first == "-v" || first == "version") {
    print_version();
    return 0;
  }
  command_called(first).run({arguments.begin() + 1, arguments.end()});
  return 0;
}

}  // namespace tenshot::cli
