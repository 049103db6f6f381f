#include <array>
#include <exception>
#include <iostream>
#include <new>

#include "descriptor/counters/counters.h"
#include "descriptor/runtimes/torch_info.h"
#include "nasbench/support/error.h"
#include "trainer/cli/command.h"

namespace tenshot::cli {
namespace {

const std::array<const Command*, 12> commands = {&collect_command,  &dataset_command, &train_command,
                                                 &plan_command,     &adapt_command,   &predict_command,
                                                 &evaluate_command, &export_command,  &experiment_command,
                                                 &report_command,   &network_command, &run_operators_command};

void print_help() {
  std::cout << "tenshot: measure ten networks on a device nobody has profiled, predict the latency of all of them.\n\n"
               "Usage: tenshot VERB [options]        tenshot VERB --help shows a verb's options and an example\n\n";
  for (const Command* command : commands) {
    std::cout << "  " << command->name << std::string(15 - command->name.size(), ' ') << command->summary << "\n";
  }
  std::cout << "\n  tenshot --version   versions of what decides speed here: LibTorch, BLAS, processor, counters\n\n"
               "Example:\n"
               "  tenshot train --pool datasets/data --out pool.tenshot\n"
               "  tenshot plan --checkpoint pool.tenshot --samples 10 --out plan.csv\n"
               "  (measure the ten on the new device: measured.csv)\n"
               "  tenshot adapt --checkpoint pool.tenshot --measurements measured.csv --out device.tenshot\n"
               "  tenshot predict --predictor device.tenshot --out predictions.csv\n";
}

void print_version() {
  std::cout << "tenshot " << TENSHOT_VERSION << "\n"
            << descriptor::torch_summary() << "\n"
            << descriptor::libpfm_version() << "; " << descriptor::perf_event_status() << "\n";
}

int run(const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments[0] == "--help" || arguments[0] == "-h" || arguments[0] == "help") {
    print_help();
    return arguments.empty() ? 2 : 0;
  }
  if (arguments[0] == "--version") {
    print_version();
    return 0;
  }
  for (const Command* command : commands) {
    if (command->name != arguments[0]) continue;
    command->run({arguments.begin() + 1, arguments.end()});
    return 0;
  }
  throw UsageError("there is no verb '" + arguments[0] + "'; see tenshot --help");
}

}  // namespace
}  // namespace tenshot::cli

int main(int argc, char** argv) {
  using namespace tenshot;
  cli::watch_signals();
  try {
    return cli::run({argv + 1, argv + argc});
  } catch (const cli::UsageError& error) {
    std::cerr << "tenshot: " << error.what() << "\n";
    return 2;
  } catch (const std::bad_alloc&) {
    std::cerr << "tenshot: out of memory\n";
  } catch (const std::exception& error) {
    // LibTorch appends a backtrace to its messages; the first line is what a person can use.
    const std::string text = error.what();
    std::cerr << "tenshot: " << text.substr(0, text.find('\n')) << "\n";
  }
  return 1;
}
