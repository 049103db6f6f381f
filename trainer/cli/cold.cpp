#include "trainer/cli/cold.h"

#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "descriptor/cold/page_cache.h"
#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "trainer/cli/cold_starts.h"
#include "trainer/cli/file_roles.h"
#include "trainer/cli/made_folders.h"
#include "trainer/cold/planner.h"
#ifdef TENSHOT_ONEDNN
#include "descriptor/onednn/cold_engine.h"
#endif

namespace tenshot::cli {
namespace {

using Arguments = std::vector<std::string>;

constexpr const char* measure_example = "  tenshot cold measure model.onnx --out stages.json\n";
constexpr const char* plan_example = "  tenshot cold plan stages.json --starts 5 --out plan.json\n";
constexpr const char* run_example = "  tenshot cold run plan.json --drop-page-cache --warm-runs 10\n";

std::string decimals(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", value);
  return text;
}

#ifdef TENSHOT_ONEDNN

void measure_stages(const OptionParser& options) {
  const std::string model = options.required("model.onnx"), out = options.required("out");
  FileRoles files;
  files.reads("model.onnx", model);
  files.writes("--out", out);
  files.require_distinct();
  MadeFolders made;
  made.for_file(out);
  descriptor::ColdMeasureOptions measure;
  measure.repetitions = options.integer("repetitions", 1);
  const std::filesystem::path folder = std::filesystem::path(out).parent_path();
  measure.scratch = out == "-" || folder.empty() ? "." : folder;
  descriptor::ColdStages stages;
  {
    ProgressLine progress(options.has("quiet"));
    measure.progress = [&progress](std::size_t done, std::size_t of) {
      progress.show("layer " + std::to_string(done) + " of " + std::to_string(of));
    };
    stages = descriptor::measure_cold_stages(model, measure);
  }
  write_file_atomically(out, to_text(stages));
  std::size_t kernels = 0;
  for (const descriptor::LayerStages& layer : stages.layers) kernels += layer.kernels.size();
  if (!stages.page_cache_dropped) {
    say("the system kept the file in its page cache: reading was measured from memory", options.has("quiet"));
  }
  say("stages of " + std::to_string(kernels) + " kernels of " + std::to_string(stages.layers.size()) +
          " layers written to " + out + "; next: tenshot cold plan " + out + " --out plan.json",
      options.has("quiet"));
}

/// Makes the plan's file where it is missing; where it cannot be made, says so and goes on without it.
void provide_weights(const descriptor::ColdPlan& plan, const std::string& model, const std::string& folder,
                     bool quiet) {
  try {
    if (descriptor::make_weights(plan, model, folder)) {
      say("weights written to " + descriptor::weight_file(folder).string(), quiet);
    }
  } catch (const FileError& error) {
    say(std::string(error.what()) + ": starting from the model itself, which is slower", quiet);
  }
}

/// Whether no page of the plan's files is left in memory.
bool drop_files(const std::string& plan, const std::string& folder) {
  bool cold = true;
  for (const std::filesystem::path& file : {std::filesystem::path(plan), descriptor::weight_file(folder)}) {
    std::error_code ignored;
    if (std::filesystem::exists(file, ignored)) cold = descriptor::drop_page_cache(file).is_cold() && cold;
  }
  return cold;
}

nlohmann::json to_json(const descriptor::ColdStart& start, const descriptor::ColdPlan& plan, const std::string& pages) {
  nlohmann::json layers = nlohmann::json::array();
  for (std::size_t i = 0; i < start.layers.size(); ++i) {
    const descriptor::LayerTimes& times = start.layers[i];
    layers.push_back({{"name", plan.network.layers[i].name},
                      {"kernel", plan.layers[i].kernel},
                      {"core", plan.layers[i].core},
                      {"create_ms", times.create_ms},
                      {"read_ms", times.read_ms},
                      {"transform_ms", times.transform_ms},
                      {"execute_ms", times.execute_ms},
                      {"prepared_ms", times.prepared_ms},
                      {"executed_ms", times.executed_ms}});
  }
  return {{"layers", std::move(layers)},
          {"cold_ms", start.cold_ms},
          {"start_ms", start.start_ms},
          {"prepare_ms", start.prepare_ms},
          {"wait_ms", start.wait_ms},
          {"execute_ms", start.execute_ms},
          {"warm_ms", start.warm_ms},
          {"predicted_ms", plan.predicted_ms},
          {"predicted_warm_ms", plan.warm_ms},
          {"lower_bound_ms", plan.lower_bound_ms},
          {"strategy", plan.strategy},
          {"page_cache", pages},
          {"slow_layers", start.slow_layers},
          {"output", start.output}};
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
  if (!has_weights(plan, start.folder)) provide_weights(plan, start.model, start.folder, quiet);
  std::string pages = "as it was";
  if (options.has("drop-page-cache")) pages = drop_files(plan_file, start.folder) ? "dropped" : "could not be dropped";
  const descriptor::ColdStart result = descriptor::run_cold_start(plan_file, start);
  if (options.has("json")) {
    std::cout << to_json(result, plan, pages).dump() << "\n";
  } else {
    std::cout << decimals(result.cold_ms) << " ms from the plan's file to the output (predicted "
              << decimals(plan.predicted_ms) << "; page cache " << pages << ")\n";
    if (start.warm_runs > 0) std::cout << decimals(result.warm_ms) << " ms warm\n";
  }
  if (result.slow_layers.empty()) return;
  say(std::to_string(result.slow_layers.size()) + " layers, '" + result.slow_layers.front() +
          "' first, had no stored weights, or damaged ones: they were made of the model",
      quiet);
  provide_weights(plan, start.model, start.folder, quiet);
}

#else

[[noreturn]] void refuse() {
  throw InputError(
      "this program was built without oneDNN, which cold starts are measured and run with: install libdnnl-dev, and "
      "build it again with -DTENSHOT_ONEDNN=ON");
}
void measure_stages(const OptionParser&) { refuse(); }
void run_plan(const OptionParser&) { refuse(); }

#endif

void measure(const Arguments& arguments) {
  OptionParser options("cold measure",
                       "Measures what a cold start of an ONNX network is made of: for every kernel of every layer, "
                       "reading, transforming, creating and executing.",
                       measure_example);
  options.add_positional("model.onnx", "required: the ONNX file");
  options.add()("out", "required: file of stages (tenshot.cold/1); reading is measured on its disk",
                cxxopts::value<std::string>());
  options.add()("repetitions", "of every stage; the least time counts",
                cxxopts::value<std::string>()->default_value("5"));
  if (options.parse(arguments)) measure_stages(options);
}

void plan(const Arguments& arguments) {
  OptionParser options("cold plan",
                       "Plans a cold start: which kernel each layer takes, whether its weights are stored transformed, "
                       "and which core prepares it (Yi et al., MobiSys 2023).",
                       plan_example);
  options.add_positional("stages.json", "required: what `tenshot cold measure` wrote");
  options.add()("out", "required: file of the plan (tenshot.cold-plan/1)", cxxopts::value<std::string>());
  options.add()("kernels", "planned, warm (fastest once warm), preferred (the library's first), untransformed",
                cxxopts::value<std::string>()->default_value("planned"));
  options.add()("cache", "transformed weights that are stored: planned, none, all",
                cxxopts::value<std::string>()->default_value("planned"));
  options.add()("preparing-cores", "cores that prepare while one executes; 0: one layer after another on one core",
                cxxopts::value<std::string>()->default_value("1"));
  options.add()("starts",
                "starts of the plan in fresh processes, by which the stages are corrected and planned with anew; 0: the "
                "stages as they were measured",
                cxxopts::value<std::string>()->default_value("0"));
  if (!options.parse(arguments)) return;
  const std::string stages = options.required("stages.json"), out = options.required("out");
  FileRoles files;
  files.reads("stages.json", stages);
  files.writes("--out", out);
  files.require_distinct();
  trainer::ColdPlanOptions wanted;
  wanted.kernels = trainer::kernel_policy(options.get("kernels"));
  wanted.cache = trainer::cache_policy(options.get("cache"));
  wanted.preparing_cores = options.integer("preparing-cores", 0);
  const int starts = options.integer("starts", 0);
  const trainer::ColdPlanning planning = starts > 0
                                             ? plan_by_starting(descriptor::read_stages(stages), wanted, starts, out)
                                             : plan_cold_start(descriptor::read_stages(stages), wanted);
  if (starts == 0) write_file_atomically(out, to_text(planning.plan));
  std::string line = "a cold start of " + decimals(planning.plan.predicted_ms) + " ms is planned, no plan is under " +
                     decimals(planning.plan.lower_bound_ms) + " ms";
  if (planning.algorithm_1_ms > 0) line += ", Algorithm 1 alone finds " + decimals(planning.algorithm_1_ms) + " ms";
  line += "; it stores " + decimals(static_cast<double>(planning.cached_bytes) / 1e6) +
          " MB of transformed weights; next: tenshot cold run " + out;
  say(line, options.has("quiet"));
}

void run_verb(const Arguments& arguments) {
  OptionParser options("cold run",
                       "Starts a planned network cold, once, and says how long it took. Weights are kept in a folder "
                       "beside the plan, which the first run makes of the model.",
                       run_example);
  options.add_positional("plan.json", "required: what `tenshot cold plan` wrote");
  options.add()("model", "the ONNX file, where it is not where it was measured", cxxopts::value<std::string>());
  options.add()("weights", "folder of the weights; PLAN.weights unless given", cxxopts::value<std::string>());
  options.add()("drop-page-cache", "make the system forget the files first");
  options.add()("warm-runs", "executions after the first, whose median is the warm latency",
                cxxopts::value<std::string>()->default_value("0"));
  options.add()("json", "everything that was measured, and the output, as JSON");
  if (options.parse(arguments)) run_plan(options);
}

void run(const Arguments& arguments) {
  const std::string verb = arguments.empty() ? "" : arguments[0];
  const Arguments rest(arguments.begin() + (arguments.empty() ? 0 : 1), arguments.end());
  if (verb == "measure") return measure(rest);
  if (verb == "plan") return plan(rest);
  if (verb == "run") return run_verb(rest);
  if (verb == "--help" || verb == "-h") {
    std::cout << "Usage: tenshot cold measure|plan|run [options]; each has --help\n\nExample:\n"
              << measure_example << plan_example << run_example;
    return;
  }
  throw UsageError("tenshot cold needs measure, plan or run" + (verb.empty() ? std::string() : ", not '" + verb + "'"));
}

}  // namespace

const Command cold_command = {"cold", "measure, plan and run cold starts of an ONNX network", run};

}  // namespace tenshot::cli
