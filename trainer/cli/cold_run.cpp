#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <utility>

#include "descriptor/cold/cold_files.h"
#include "descriptor/cold/cold_json.h"
#include "descriptor/machine/memory.h"
#include "descriptor/onednn/cold_engine.h"
#include "nasbench/support/error.h"
#include "nasbench/support/number_text.h"
#include "trainer/cli/cold.h"

namespace tenshot::cli {
namespace {

/// Makes the plan's file where it is missing. False where it cannot be made: says so, and the start goes on without it.
bool provide_weights(const descriptor::ColdPlan& plan, const std::string& model, const std::string& folder,
                     bool quiet) {
  try {
    if (descriptor::make_weights(plan, model, folder)) {
      say("weights written to " + descriptor::weight_file(folder).string(), quiet);
    }
    return true;
  } catch (const FileError& error) {
    say(std::string(error.what()) + ": starting from the model itself, which is slower", quiet);
    return false;
  }
}

void touch_memory(const std::string& folder) {
  std::error_code unknown;
  const std::uintmax_t bytes = std::filesystem::file_size(descriptor::weight_file(folder), unknown);
  descriptor::touch_free_memory(descriptor::memory_of_start(unknown ? 0 : bytes));
}

/// Whether no page of the plan's files is left in memory.
bool drop_files(const std::string& plan, const std::string& folder) {
  bool cold = true;
  for (const std::filesystem::path& file : {std::filesystem::path(plan), descriptor::weight_file(folder)}) {
    std::error_code ignored;
    if (std::filesystem::exists(file, ignored)) cold = descriptor::drop_from_page_cache(file).dropped() && cold;
  }
  return cold;
}

nlohmann::json to_json(const descriptor::ColdStart& start, const descriptor::ColdPlan& plan, const std::string& pages) {
  nlohmann::json layers = nlohmann::json::array();
  for (std::size_t i = 0; i < start.layers.size(); ++i) {
    layers.push_back(start.layers[i]);
    layers.back().update(
        {{"name", plan.network.layers[i].name}, {"kernel", plan.layers[i].kernel}, {"core", plan.layers[i].core}});
  }
  nlohmann::json runs = nlohmann::json::array();
  for (const descriptor::ColdRun& one : start.runs) runs.push_back({{"ms", one.ms}, {"switched", one.switched}});
  nlohmann::json json = {{"layers", std::move(layers)},       {"runs", std::move(runs)},
                         {"switches", plan.switches.size()},  {"predicted_switched_ms", plan.switched_ms},
                         {"last_output", start.last_output},  {"cold_ms", start.cold_ms},
                         {"start_ms", start.start_ms},        {"prepare_ms", start.prepare_ms},
                         {"wait_ms", start.wait_ms},          {"execute_ms", start.execute_ms},
                         {"warm_ms", start.warm_ms},          {"predicted_ms", plan.predicted_ms},
                         {"predicted_warm_ms", plan.warm_ms}, {"lower_bound_ms", plan.lower_bound_ms},
                         {"strategy", plan.strategy},         {"page_cache", pages},
                         {"slow_layers", start.slow_layers},  {"output", start.output}};
  json["stolen"] = start.stolen;
  return json;
}

/// What --weights lacks is made; false where it cannot be. Says why it has to be made again.
bool provide_missing(const descriptor::ColdPlan& plan, const descriptor::ColdStartOptions& start, bool quiet) {
  const std::string missing = descriptor::missing_weights(plan, start.folder);
  if (missing.empty()) return true;
  std::error_code ignored;
  if (std::filesystem::exists(descriptor::weight_file(start.folder), ignored))
    say(missing + "; it is made again", quiet);
  return provide_weights(plan, start.model, start.folder, quiet);
}

void print(const descriptor::ColdStart& result, const descriptor::ColdPlan& plan, const std::string& pages,
           bool is_warm) {
  std::cout << decimals(result.cold_ms, 2) << " ms from the plan's file to the output (predicted "
            << decimals(plan.predicted_ms, 2) << "; page cache " << pages << ")\n";
  for (std::size_t i = 1; i < result.runs.size(); ++i) {
    std::cout << decimals(result.runs[i].ms, 2) << " ms for run " << i + 1;
    if (!plan.switches.empty()) {
      std::cout << ", " << result.runs[i].switched << " of " << plan.switches.size() << " layers switched";
    }
    std::cout << "\n";
  }
  if (is_warm) std::cout << decimals(result.warm_ms, 2) << " ms warm\n";
}

void run_plan(const OptionParser& options) {
  const std::string plan_file = options.required("plan.json");
  const bool quiet = options.has("quiet");
  const descriptor::ColdPlan plan = descriptor::read_plan(plan_file);
  descriptor::require_this_machine(plan);
  descriptor::ColdStartOptions start;
  start.model = options.has("model") ? options.get("model") : plan.model;
  start.folder = options.has("weights") ? options.get("weights") : plan_file + ".weights";
  start.warm_runs = options.integer("warm-runs", 0);
  start.runs = options.integer("runs", 1);
  start.steal = options.has("steal");
  const bool stored = provide_missing(plan, start, quiet);
  if (options.has("touch-memory")) touch_memory(start.folder);
  std::string pages = "as it was";
  if (options.has("drop-page-cache")) pages = drop_files(plan_file, start.folder) ? "dropped" : "could not be dropped";
  const descriptor::ColdStart result = descriptor::run_cold_start(plan_file, start);
  if (options.has("json")) {
    std::cout << to_json(result, plan, pages).dump() << "\n";
  } else {
    print(result, plan, pages, start.warm_runs > 0);
  }
  if (!result.unswitched.empty()) say(result.unswitched + ": some layers keep the kernels of the start", quiet);
  if (!stored || result.slow_layers.empty()) return;
  say(std::to_string(result.slow_layers.size()) + " layers, '" + result.slow_layers.front() +
          "' first, had no stored weights, or damaged ones: they were made of the model",
      quiet);
  provide_weights(plan, start.model, start.folder, quiet);
}

}  // namespace

void run_cold_plan(const std::vector<std::string>& arguments) {
  OptionParser options("cold run",
                       "Starts a planned network cold and says how long that took, and the runs after it. Weights are "
                       "kept in a folder beside the plan, which the first run makes of the model.",
                       cold_run_example);
  options.add_positional("plan.json", "required: what `tenshot cold plan` wrote");
  options.text("model", "the ONNX file, where it is not where it was measured");
  options.text("weights", "folder of the weights; PLAN.weights unless given");
  options.flag("drop-page-cache", "make the system forget the files first");
  options.flag("touch-memory",
               "make free memory ready first, which a virtual machine fetches from its host in milliseconds that vary");
  options.flag("steal", "the executing core prepares layers of other cores, where these have other work to do");
  options.text("runs", "one after another, the first cold; kernels of a plan with --switch change once ready", "1");
  options.text("warm-runs", "executions after the runs, whose median is the warm latency", "0");
  options.flag("json", "everything that was measured, and the output, as JSON");
  if (options.parse(arguments)) run_plan(options);
}

}  // namespace tenshot::cli
