#include <algorithm>

#include "datasets/measurements.h"
#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "trainer/cli/command.h"
#include "trainer/planning.h"
#include "trainer/prediction_table.h"

namespace tenshot::cli {
namespace {

void run(const std::vector<std::string>& arguments) {
  OptionParser options(
      "plan", "Chooses which architectures to measure on a new device.",
      "  tenshot plan --checkpoint checkpoints/pool.tenshot --samples 10 --out plan.csv\n"
      "  tenshot plan --checkpoint checkpoints/pool.tenshot --samples 5 --after measured.csv --out more.csv\n");
  options.add()("checkpoint", "what `tenshot train` wrote", cxxopts::value<std::string>())(
      "samples", "how many to choose", cxxopts::value<std::string>()->default_value("10"))(
      "sampler", "information, targeted-uniform or random",
      cxxopts::value<std::string>()->default_value("information"))(
      "candidates", "CSV with the architectures that may be chosen (default: those the pool has measured)",
      cxxopts::value<std::string>())("after", "CSV of measurements made already: plan further ones",
                                     cxxopts::value<std::string>())("seed", "seed of the draw",
                                                                    cxxopts::value<std::string>()->default_value("1"))(
      "out", "plan to write, - for standard output", cxxopts::value<std::string>());
  if (!options.parse(arguments)) return;
  const bool quiet = options.has("quiet");
  const std::string checkpoint = options.required("checkpoint"), out = options.required("out");
  trainer::PlanRequest request;
  request.samples = static_cast<std::size_t>(options.integer("samples", 1));
  request.sampler = options.get("sampler");
  const std::vector<std::string> samplers = trainer::plan_samplers();
  if (std::find(samplers.begin(), samplers.end(), request.sampler) == samplers.end()) {
    throw UsageError("there is no sampler '" + request.sampler + "'; there are: information, targeted-uniform, random");
  }
  request.seed = static_cast<std::uint64_t>(options.integer("seed", 0));
  require_writable_target(out);
  const auto model = trainer::load_pool_model(checkpoint);
  if (options.has("candidates")) {
    const auto list = datasets::read_architectures(options.get("candidates"), *model->pool().space);
    report(list.findings, quiet);
    if (list.architectures.empty()) throw InputError(options.get("candidates") + ": holds no usable architecture");
    request.candidates = list.architectures;
  }
  if (options.has("after")) {
    const auto measured = datasets::read_measurements(options.get("after"), *model->pool().space);
    report(measured.findings, quiet);
    if (measured.rows.empty()) throw InputError(options.get("after") + ": holds no usable measurement");
    request.measured.architectures = measured.architectures();
    request.measured.latency_ms = measured.latencies_ms();
    request.measured.whole_milliseconds = measured.whole_milliseconds;
  }
  trainer::write_plan(out, trainer::plan(*model, request), *model->pool().space);
}

}  // namespace

const Command plan_command = {"plan", "choose which architectures to measure on a new device", run};

}  // namespace tenshot::cli
