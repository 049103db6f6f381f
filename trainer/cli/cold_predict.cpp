#include <algorithm>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "descriptor/cold/cold_network.h"
#include "descriptor/onednn/cold_engine.h"
#include "nasbench/graph/onnx_reader.h"
#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "nasbench/support/numbers.h"
#include "trainer/cli/cold.h"
#include "trainer/cli/file_roles.h"
#include "trainer/predictors/cold_stages/cold_predictor.h"

namespace tenshot::cli {
namespace {

using trainer::cold_stages::ColdPredictor;
using trainer::cold_stages::PredictedStart;

/// The files of stages that --stages names: one, or those of a folder, by name.
std::vector<std::filesystem::path> stage_files(const std::filesystem::path& path) {
  if (!std::filesystem::is_directory(path)) return {path};
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  if (files.empty())
    throw InputError("'" + path.string() + "' has no file of stages (*.json, by `tenshot cold measure`)");
  std::sort(files.begin(), files.end());
  return files;
}

/// The kernels that oneDNN has here for a layer; nothing where the stages are of another machine.
trainer::cold_stages::OfferedKernels kernels_here(const std::string& machine) {
  if (descriptor::cold_machine() != machine) return {};
  return descriptor::kernel_names;
}

nlohmann::json to_json(const PredictedStart& start, const ColdPredictor& predictor) {
  nlohmann::json learners;
  for (const trainer::cold_stages::Stage stage : trainer::cold_stages::all_stages) {
    learners[std::string(name(stage))] = name(predictor.learners()[static_cast<std::size_t>(stage)]);
  }
  return {{"cold_ms", start.cold_ms},
          {"low_ms", start.low_ms},
          {"high_ms", start.high_ms},
          {"planned_ms", start.planning.plan.predicted_ms},
          {"warm_ms", start.planning.plan.warm_ms},
          {"factor", predictor.factor()},
          {"held_out_networks", predictor.held_out()},
          {"learners", std::move(learners)}};
}

void predict(const OptionParser& options) {
  const std::string model = options.required("model.onnx"), from = options.required("stages");
  FileRoles files("model.onnx", model);
  std::vector<descriptor::ColdStages> measured;
  for (const std::filesystem::path& file : stage_files(from)) {
    files.reads("--stages", file.string());
    measured.push_back(descriptor::read_stages(file));
  }
  if (options.has("out")) files.writes_last("--out", options.get("out"));
  trainer::ColdPlanOptions plan;
  plan.preparing_cores = options.integer("preparing-cores", 0);
  const nasbench::Network network = nasbench::read_onnx(model);
  const ColdPredictor predictor(std::move(measured), plan);
  PredictedStart start = predictor.predict(descriptor::cold_network(network), kernels_here(predictor.machine()));
  if (options.has("out")) {
    start.stages.model = model;
    start.stages.model_sha256 = sha256_hex(read_file(model));
    start.stages.network_hash = nasbench::content_hash(network);
    write_file_atomically(options.get("out"), to_text(start.stages));
    say("predicted stages written to " + options.get("out") + "; next: tenshot cold plan " + options.get("out") +
            " --out plan.json",
        options.has("quiet"));
  }
  if (options.has("json")) {
    std::cout << to_json(start, predictor).dump() << "\n";
    return;
  }
  std::cout << decimals(start.cold_ms) << " ms from the plan's file to the output (";
  if (predictor.held_out() == 0) {
    std::cout << "no interval: stages of several networks are needed)\n";
  } else {
    std::cout << "90 %: " << decimals(start.low_ms) << " to " << decimals(start.high_ms) << ", from "
              << predictor.held_out() << " networks that were held out)\n";
  }
}

}  // namespace

void predict_cold_start(const std::vector<std::string>& arguments) {
  OptionParser options("cold predict",
                       "Predicts the cold start of a network that was never run, from the measured stages of other "
                       "networks: what each stage of its kernels costs, planned and simulated.",
                       cold_predict_example);
  options.add_positional("model.onnx", "required: the ONNX file");
  options.text("stages",
               "required: file of stages, or a folder of such files (`cold measure`, `cold plan --corrected`)");
  options.text("out", "file of the predicted stages (tenshot.cold/1), which `cold plan` plans");
  options.text("preparing-cores", "cores that prepare while one executes; 0: one layer after another on one core", "1");
  options.flag("json", "everything that was predicted, as JSON");
  if (options.parse(arguments)) predict(options);
}

}  // namespace tenshot::cli
