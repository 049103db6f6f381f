#include <iostream>
#include <system_error>

#include "descriptor/cold/cold_json.h"
#include "descriptor/cold/cold_network.h"
#include "descriptor/machine/memory.h"
#include "descriptor/onednn/cold_engine.h"
#include "nasbench/graph/onnx_reader.h"
#include "nasbench/support/files.h"
#include "nasbench/support/number_text.h"
#include "nasbench/support/numbers.h"
#include "trainer/cli/command.h"
#include "trainer/cli/file_roles.h"
#include "trainer/predictors/cold_stages/cold_predictor.h"

namespace tenshot::descriptor {
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ColdRun, ms, switched)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ColdStart, cold_ms, start_ms, prepare_ms, stolen, wait_ms, execute_ms, warm_ms, runs,
                                   layers, slow_layers, output, last_output)
}  // namespace tenshot::descriptor

namespace tenshot::cli {
namespace {

/// The files of stages that --stages names: one, or those of a folder, by name.
std::vector<std::filesystem::path> stage_files(const std::filesystem::path& path) {
  if (!std::filesystem::is_directory(path)) return {path};
  std::vector<std::filesystem::path> files;
  for (const std::filesystem::path& file : entries_of(path)) {
    if (file.extension() == ".json") files.push_back(file);
  }
  if (files.empty())
    throw InputError("'" + path.string() + "' has no file of stages (*.json, by `tenshot cold measure`)");
  return files;
}

nlohmann::json to_json(const trainer::cold_stages::PredictedStart& start) {
  nlohmann::json learners;
  for (const trainer::cold_stages::Stage stage : trainer::cold_stages::all_stages) {
    learners[std::string(name(stage))] = name(start.learners[static_cast<std::size_t>(stage)]);
  }
  return {{"cold_ms", start.cold_ms},
          {"low_ms", start.low_ms},
          {"high_ms", start.high_ms},
          {"planned_ms", start.planning.plan.predicted_ms},
          {"warm_ms", start.planning.plan.warm_ms},
          {"factor", start.factor},
          {"held_out_networks", start.held_out},
          {"learners", std::move(learners)}};
}

/// Makes the plan's file where it is missing. False where it cannot be made: says so, and the start goes on without it.
bool provide_weights(const descriptor::ColdPlan& plan, const std::string& model, const std::string& folder) {
  try {
    if (descriptor::make_weights(plan, model, folder)) {
      say("weights written to " + descriptor::weight_file(folder).string());
    }
    return true;
  } catch (const FileError& error) {
    say(std::string(error.what()) + ": starting from the model itself, which is slower");
    return false;
  }
}

nlohmann::json to_json(const descriptor::ColdStart& start, const descriptor::ColdPlan& plan, const std::string& pages) {
  nlohmann::json json = start;
  for (std::size_t i = 0; i < start.layers.size(); ++i) {
    json["layers"][i].update(
        {{"name", plan.network.layers[i].name}, {"kernel", plan.layers[i].kernel}, {"core", plan.layers[i].core}});
  }
  json.update({{"switches", plan.switches.size()},
               {"predicted_switched_ms", plan.switched_ms},
               {"predicted_ms", plan.predicted_ms},
               {"predicted_warm_ms", plan.warm_ms},
               {"lower_bound_ms", plan.lower_bound_ms},
               {"strategy", plan.strategy},
               {"page_cache", pages}});
  return json;
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

}  // namespace

void run_cold_measure(const OptionParser& options) {
  const std::string model = options.required("model.onnx"), out = options.required("out");
  FileRoles files("model.onnx", model);
  files.makes("--out", out);
  descriptor::ColdMeasureOptions measure;
  measure.repetitions = options.integer("repetitions", 1);
  const std::filesystem::path folder = std::filesystem::path(out).parent_path();
  measure.scratch = out == "-" || folder.empty() ? "." : folder;
  descriptor::ColdStages stages;
  {
    ProgressLine progress;
    measure.progress = [&progress](std::size_t done, std::size_t of) {
      progress.show("layer " + std::to_string(done) + " of " + std::to_string(of));
    };
    stages = descriptor::measure_cold_stages(model, measure);
  }
  write_file_atomically(out, to_text(stages));
  std::size_t kernels = 0;
  for (const descriptor::LayerStages& layer : stages.layers) kernels += layer.kernels.size();
  if (!stages.page_cache_dropped) say("the system kept the file in its page cache: reading was measured from memory");
  say("stages of " + std::to_string(kernels) + " kernels of " + std::to_string(stages.layers.size()) +
      " layers written to " + out + "; next: tenshot cold plan " + shell_word(out) + " --out plan.json");
}

void run_cold_run(const OptionParser& options) {
  const std::string plan_file = options.required("plan.json");
  const descriptor::ColdPlan plan = descriptor::read_plan(plan_file);
  descriptor::require_this_machine(plan);
  descriptor::ColdStartOptions start;
  start.model = options.has("model") ? options.get("model") : plan.model;
  start.folder = options.has("weights") ? options.get("weights") : plan_file + ".weights";
  start.warm_runs = options.integer("warm-runs", 0);
  start.runs = options.integer("runs", 1);
  start.steal = options.has("steal");
  const std::string missing = descriptor::missing_weights(plan, start.folder);
  if (!missing.empty() && is_there(descriptor::weight_file(start.folder))) say(missing + "; it is made again");
  const bool stored = missing.empty() || provide_weights(plan, start.model, start.folder);
  if (options.has("touch-memory")) {
    std::error_code unknown;
    const std::uintmax_t bytes = std::filesystem::file_size(descriptor::weight_file(start.folder), unknown);
    descriptor::touch_free_memory(descriptor::memory_of_start(unknown ? 0 : bytes));
  }
  std::string pages = "as it was";
  if (options.has("drop-page-cache")) {
    pages = "dropped";
    for (const std::filesystem::path& file :
         {std::filesystem::path(plan_file), descriptor::weight_file(start.folder)}) {
      if (is_there(file) && !descriptor::drop_from_page_cache(file).dropped()) pages = "could not be dropped";
    }
  }
  const descriptor::ColdStart result = descriptor::run_cold_start(plan_file, start);
  if (options.has("json")) {
    std::cout << to_json(result, plan, pages).dump() << "\n";
  } else {
    print(result, plan, pages, start.warm_runs > 0);
  }
  if (!result.unswitched.empty()) say(result.unswitched + ": some layers keep the kernels of the start");
  if (!stored || result.slow_layers.empty()) return;
  say(std::to_string(result.slow_layers.size()) + " layers, '" + result.slow_layers.front() +
      "' first, had no stored weights, or damaged ones: they were made of the model");
  provide_weights(plan, start.model, start.folder);
}

void run_cold_predict(const OptionParser& options) {
  const std::string model = options.required("model.onnx"), from = options.required("stages");
  FileRoles files("model.onnx", model);
  std::vector<descriptor::ColdStages> measured;
  for (const std::filesystem::path& file : stage_files(from)) {
    files.reads("--stages", file.string());
    measured.push_back(descriptor::read_stages(file));
  }
  if (options.has("out")) files.writes("--out", options.get("out"));
  std::error_code unknown;
  const auto folder = std::filesystem::absolute(options.has("out") ? options.get("out") : from).parent_path();
  if (options.has("out") && std::filesystem::equivalent(folder, from, unknown)) {
    throw UsageError("--out lies in the folder of --stages, where predicted stages would count as measured ones");
  }
  trainer::ColdPlanOptions plan;
  plan.preparing_cores = options.integer("preparing-cores", 0);
  const nasbench::Network network = nasbench::read_onnx(model);
  trainer::cold_stages::OfferedKernels offered;  // by oneDNN here; unknown where the stages are of another machine
  if (descriptor::cold_machine() == trainer::cold_stages::machine_of(measured)) offered = descriptor::kernel_names;
  trainer::cold_stages::PredictedStart start =
      trainer::cold_stages::predict_cold_start(descriptor::cold_network(network), offered, measured, plan);
  if (options.has("out")) {
    start.stages.model = model;
    start.stages.model_sha256 = sha256_hex(read_file(model));
    start.stages.network_hash = nasbench::content_hash(network);
    write_file_atomically(options.get("out"), to_text(start.stages));
    say("predicted stages written to " + options.get("out") + "; next: tenshot cold plan " +
        shell_word(options.get("out")) + " --out plan.json");
  }
  if (options.has("json")) {
    std::cout << to_json(start).dump() << "\n";
    return;
  }
  std::cout << decimals(start.cold_ms, 2) << " ms from the plan's file to the output (";
  if (start.held_out == 0) {
    std::cout << "no interval: stages of several networks are needed)\n";
  } else {
    std::cout << "90 %: " << decimals(start.low_ms, 2) << " to " << decimals(start.high_ms, 2) << ", from "
              << start.held_out << " networks that were held out)\n";
  }
}

}  // namespace tenshot::cli
