#include <algorithm>
#include <iostream>

#include "descriptor/counters/counters.h"
#include "descriptor/fusion/fusion_cases.h"
#include "descriptor/machine/instruction_set.h"
#include "descriptor/runtimes/libtorch_runtime.h"
#include "descriptor/runtimes/runtime.h"
#include "nasbench/kernels/fusion_rules.h"
#include "nasbench/support/suggestion.h"
#include "nasbench/support/text.h"
#include "nasbench/support/words.h"
#include "trainer/cli/command.h"

namespace tenshot::cli {
namespace {

struct Verb {
  std::string name, inner;
  RunVerb* run;
};

const std::vector<Verb> verbs = {
    {"collect", "", run_collect},
    {"dataset", "import", run_dataset_import},
    {"dataset", "describe", run_dataset_describe},
    {"dataset", "validate", run_dataset_validate},
    {"dataset", "operators", run_dataset_operators},
    {"train", "", run_train},
    {"plan", "", run_plan},
    {"adapt", "", run_adapt},
    {"predict", "", run_predict},
    {"evaluate", "", run_evaluate},
    {"export", "", run_export},
    {"experiment", "", run_experiment},
    {"report", "", run_report},
    {"info", "", run_info},
    {"network", "describe", run_network_describe},
    {"network", "features", run_network_features},
    {"network", "generate", run_network_generate},
    {"network", "list", run_network_list},
    {"kernels", "detect", run_kernels_detect},
    {"kernels", "find", run_kernels_find},
    {"kernels", "deduce", run_kernels_deduce},
    {"kernels", "sample", run_kernels_sample},
    {"kernels", "grid", run_kernels_grid},
    {"kernels", "train", run_kernels_train},
    {"cold", "measure", run_cold_measure},
    {"cold", "plan", run_cold_plan},
    {"cold", "run", run_cold_run},
    {"cold", "predict", run_cold_predict},
    {"devices", "", run_devices},
    {"run-operators", "", run_operators},
    {"run-network", "", run_network},
};

const Placeholders placeholders = {
    {"runtimes", [] { return joined(descriptor::runtime_names()); }},
    {"instruction sets", [] { return joined(descriptor::instruction_sets()); }},
    {"testable operators", [] { return joined(descriptor::testable_operators()); }},
    {"rules", [] { return joined(nasbench::shipped_rule_names()); }},
    {"predictors", predictors_in_help},
    {"settings", settings_in_help},
};

void print_inner(const std::string& verb, const std::vector<std::string>& inner) {
  std::cout << "Usage: tenshot " << verb << " " << joined(inner, "|") << " [options]; each has --help\n\nExample:\n";
  for (const std::string& name : inner) {
    for (const std::string& line : parts_between(help_page(verb + " " + name), "\n")) {
      if (line.rfind("  ", 0) == 0) std::cout << line << "\n";
    }
  }
}

void run_verb(const std::string& verb, std::vector<std::string> arguments) {
  std::vector<std::string> known, inner;
  const std::string first = arguments.empty() ? "" : arguments[0];
  for (const Verb& row : verbs) {
    known.push_back(row.name);
    if (row.name != verb) continue;
    inner.push_back(row.inner);
    if (!row.inner.empty() && row.inner != first) continue;
    if (!row.inner.empty()) arguments.erase(arguments.begin());
    OptionParser options(row.inner.empty() ? verb : verb + " " + row.inner, placeholders);
    if (!options.parse(arguments)) return;
    row.run(options);
    return print_outcome();
  }
  if (inner.empty())
    throw UsageError("there is no verb '" + verb + "'" + suggestion(verb, known) + "; see tenshot --help");
  const auto asks_for_help = [](const auto& argument) { return argument == "--help" || argument == "-h"; };
  if (std::any_of(arguments.begin(), arguments.end(), asks_for_help)) return print_inner(verb, inner);
  const std::string last = inner.back();
  inner.pop_back();
  throw UsageError("tenshot " + verb + " needs " + joined(inner) + " or " + last +
                   (arguments.empty() ? "" : ", not '" + excerpt(first) + "'"));
}

}  // namespace

const std::vector<std::string> help_files = {"help", "help_of_predict"};

int run(const std::vector<std::string>& arguments) {
  const std::string first = arguments.empty() ? "--help" : arguments[0];
  if (first == "help" && arguments.size() > 1) {
    run_verb(arguments[1], {"--help"});
  } else if (first == "--help" || first == "-h" || first == "help") {
    std::cout << help_page("tenshot") << "\n";
    return arguments.empty() ? 2 : 0;
  } else if (first == "--version" || first == "-V" || first == "-v" || first == "version") {
    std::cout << "tenshot " << TENSHOT_VERSION << "\n"
              << descriptor::torch_summary() << "\n"
              << descriptor::libpfm_version() << "; " << descriptor::perf_event_status() << "\n";
  } else {
    run_verb(first, {arguments.begin() + 1, arguments.end()});
  }
  return 0;
}

}  // namespace tenshot::cli
