#include "datasets/tables/measurements.h"
#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "trainer/cli/command.h"
#include "trainer/cli/file_roles.h"
#include "trainer/core/prediction_table.h"
#include "trainer/predictors/registry.h"

namespace tenshot::cli {
namespace {

void run(const std::vector<std::string>& arguments) {
  OptionParser options("predict", "Predicts latencies of architectures, or of the whole space.",
                       "  tenshot predict --predictor device.tenshot --out predictions.csv\n"
                       "  tenshot predict --predictor device.tenshot --archs candidates.csv --out -\n");
  options.add()("predictor", "what `tenshot adapt` wrote", cxxopts::value<std::string>())(
      "archs", "CSV with an architecture column (default: the whole space)", cxxopts::value<std::string>())(
      "confidence", "of the intervals, for predictors that have them", cxxopts::value<double>()->default_value("0.9"))(
      "out", "predictions to write, - for standard output", cxxopts::value<std::string>());
  if (!options.parse(arguments)) return;
  const std::string file = options.required("predictor"), out = options.required("out");
  const double confidence = options.get<double>("confidence");
  if (!(confidence > 0 && confidence < 1)) throw UsageError("--confidence is a share between 0 and 1, such as 0.9");
  FileRoles files;
  files.reads("--predictor", file);
  if (options.has("archs")) files.reads("--archs", options.get("archs"));
  files.writes("--out", out);
  files.require_distinct();
  require_writable_target(out);
  const auto predictor = trainer::load_predictor(file);
  std::vector<nasbench::Architecture> architectures;
  if (options.has("archs")) {
    const datasets::ArchitectureList list = datasets::read_architectures(options.get("archs"), predictor->space());
    report(list.findings, options.has("quiet"));
    if (list.architectures.empty()) {
      throw InputError(options.get("archs") + ": holds no " + std::string(predictor->space().name()) +
                       " architecture that can be predicted");
    }
    architectures = list.architectures;
  } else {
    architectures = predictor->space().all();
  }
  trainer::write_predictions(out, architectures, predictor->predict(architectures, confidence), predictor->space());
}

}  // namespace

const Command predict_command = {"predict", "predict latencies of architectures, or of the whole space", run};

}  // namespace tenshot::cli
