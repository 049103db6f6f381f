#include "trainer/cli/cold.h"

#include <iostream>

#include "descriptor/cold/cold_network.h"
#include "descriptor/onednn/cold_engine.h"
#include "nasbench/graph/onnx_reader.h"
#include "nasbench/support/files.h"
#include "nasbench/support/number_text.h"
#include "nasbench/support/numbers.h"
#include "trainer/cli/file_roles.h"
#include "trainer/predictors/cold_stages/cold_predictor.h"

namespace tenshot::cli {
namespace {

bool drops_page_cache(const std::string& wanted) {
  if (wanted == "dropped" || wanted == "kept") return wanted == "dropped";
  throw InputError("'" + wanted + "' is no state of the page cache; expected one of dropped, kept");
}

StartConditions start_conditions(const OptionParser& options) {
  StartConditions conditions;
  conditions.starts = options.integer("starts", 0);
  conditions.runs = options.has("switch") ? 2 : 1;
  conditions.drop_page_cache = drops_page_cache(options.get("page-cache"));
  if (conditions.starts > 0) return conditions;
  if (!conditions.drop_page_cache) throw UsageError("--page-cache kept is what --starts find: say how many");
  if (options.has("corrected")) throw UsageError("--corrected keeps what --starts corrects: say how many");
  return conditions;
}

std::string plan_line(const trainer::ColdPlanning& planning, const std::string& out) {
  std::string line = "a cold start of " + decimals(planning.plan.predicted_ms, 2) +
                     " ms is planned, no plan is under " + decimals(planning.plan.lower_bound_ms, 2) + " ms";
  if (planning.algorithm_1_ms > 0) line += ", Algorithm 1 alone finds " + decimals(planning.algorithm_1_ms, 2) + " ms";
  line += "; it stores " + decimals(static_cast<double>(planning.cached_bytes) / 1e6, 2) + " MB of transformed weights";
  if (!planning.plan.switches.empty()) {
    line += "; " + std::to_string(planning.plan.switches.size()) +
            " layers change their kernels for later runs, from " + decimals(planning.plan.warm_ms, 2) + " to " +
            decimals(planning.plan.switched_ms, 2) + " ms";
  }
  return line + "; next: tenshot cold run " + out;
}

using trainer::cold_stages::PredictedStart;

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

/// The kernels that oneDNN has here for a layer; nothing where the stages are of another machine.
trainer::cold_stages::OfferedKernels kernels_here(const std::string& machine) {
  if (descriptor::cold_machine() != machine) return {};
  return descriptor::kernel_names;
}

nlohmann::json to_json(const PredictedStart& start) {
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

}  // namespace

void run_cold_measure(const OptionParser& options) {
  const std::string model = options.required("model.onnx"), out = options.required("out");
  FileRoles files("model.onnx", model);
  files.writes("--out", out);
  const MadeFolders made(out);
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
  if (!stages.page_cache_dropped) {
    say("the system kept the file in its page cache: reading was measured from memory");
  }
  say("stages of " + std::to_string(kernels) + " kernels of " + std::to_string(stages.layers.size()) +
      " layers written to " + out + "; next: tenshot cold plan " + out + " --out plan.json");
}

void run_cold_plan(const OptionParser& options) {
  const std::string stages = options.required("stages.json"), out = options.required("out");
  FileRoles files("stages.json", stages);
  if (options.has("corrected")) files.writes("--corrected", options.get("corrected"));
  files.writes("--out", out);
  trainer::ColdPlanOptions wanted;
  wanted.kernels = trainer::kernel_policy(options.get("kernels"));
  wanted.cache = trainer::cache_policy(options.get("cache"));
  wanted.preparing_cores = options.integer("preparing-cores", 0);
  wanted.switches = options.has("switch");
  const StartConditions conditions = start_conditions(options);
  trainer::ColdPlanning planning;
  if (conditions.starts > 0) {
    StartedPlan started = plan_by_starting(descriptor::read_stages(stages), wanted, conditions, out);
    if (options.has("corrected")) write_file_atomically(options.get("corrected"), to_text(started.corrected));
    planning = std::move(started.planning);
  } else {
    planning = plan_cold_start(descriptor::read_stages(stages), wanted);
    write_file_atomically(out, to_text(planning.plan));
  }
  say(plan_line(planning, out));
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
  trainer::ColdPlanOptions plan;
  plan.preparing_cores = options.integer("preparing-cores", 0);
  const nasbench::Network network = nasbench::read_onnx(model);
  const auto offered = kernels_here(trainer::cold_stages::machine_of(measured));
  PredictedStart start =
      trainer::cold_stages::predict_cold_start(descriptor::cold_network(network), offered, measured, plan);
  if (options.has("out")) {
    start.stages.model = model;
    start.stages.model_sha256 = sha256_hex(read_file(model));
    start.stages.network_hash = nasbench::content_hash(network);
    write_file_atomically(options.get("out"), to_text(start.stages));
    say("predicted stages written to " + options.get("out") + "; next: tenshot cold plan " + options.get("out") +
        " --out plan.json");
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
