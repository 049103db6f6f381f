#include <memory>

#include "descriptor/callgrind/callgrind.h"
#include "trainer/cli/command.h"
#include "trainer/cli/runtime_choice.h"

namespace tenshot::cli {
namespace {

void run(const std::vector<std::string>& arguments) {
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

}  // namespace

const Command run_operators_command = {"run-operators", "run each operator of a space, for valgrind to count", run};

}  // namespace tenshot::cli
