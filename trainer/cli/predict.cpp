#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>

#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "trainer/cli/command.h"
#include "trainer/cli/file_roles.h"
#include "trainer/cli/network_options.h"
#include "trainer/cli/quantity_option.h"
#include "trainer/cli/unfamiliar.h"
#include "trainer/core/prediction_table.h"
#include "trainer/predictors/registry.h"

namespace tenshot::cli {
namespace {

/// Three significant digits: "0.123", "1.30", "12.4", "1234".
std::string three_digits(double value) {
  const int decimals = value > 0 ? std::clamp(2 - static_cast<int>(std::floor(std::log10(value))), 0, 9) : 2;
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

/// "1.30 ms (90 %: 1.24 to 1.38)" in the quantity's unit, a line for each.
void print(const trainer::Predictions& predictions, double confidence, datasets::Quantity quantity) {
  char percent[32];
  std::snprintf(percent, sizeof percent, "%.4g", 100 * confidence);
  for (std::size_t i = 0; i < predictions.latency_ms.size(); ++i) {
    std::cout << three_digits(predictions.latency_ms[i]) << " " << unit(quantity);
    if (!predictions.lower_ms.empty()) {
      std::cout << " (" << percent << " %: " << three_digits(predictions.lower_ms[i]) << " to "
                << three_digits(predictions.upper_ms[i]) << ")";
    }
    std::cout << "\n";
  }
  std::cout.flush();
  if (!std::cout) throw FileError("standard output: cannot write the predictions");
}

/// What is asked for: the arguments, the file, the networks, or the whole space.
std::vector<nasbench::Architecture> architectures_of(const OptionParser& options, const nasbench::SearchSpace& space) {
  const std::vector<nasbench::Architecture> networks = networks_of(options);
  std::vector<nasbench::Architecture> architectures;
  for (const std::string& text : options.rest()) {
    architectures.push_back(architecture_or_file(text, space, onnx_options(options)));
  }
  if (!architectures.empty()) return architectures;
  if (options.has("archs")) return usable_architectures(options.get("archs"), space, options.has("quiet"));
  if (!networks.empty()) return networks;
  if (space.listable()) return space.all();
  if (!space.composed()) {
    throw InputError(
        "which networks? name them as arguments (names, or files such as model.onnx), by --archs "
        "names.csv or by --networks");
  }
  throw InputError("the space " + std::string(space.name()) +
                   " is too large to predict all of it; name its architectures" +
                   " by --archs candidates.csv or as arguments, such as " + space.example());
}

void run(const std::vector<std::string>& arguments) {
  OptionParser options("predict", "Predicts latencies of architectures, of ONNX files, or of the whole space.",
                       "  tenshot predict --predictor device.tenshot --out predictions.csv\n"
                       "  tenshot predict --predictor device.tenshot --archs candidates.csv --out -\n"
                       "  tenshot predict --predictor board.tenshot model.onnx\n");
  options.add()("predictor", "what `tenshot adapt` wrote", cxxopts::value<std::string>())(
      "archs", "CSV with an architecture column (default: the whole space)", cxxopts::value<std::string>())(
      "confidence", "of the intervals, for predictors that have them", cxxopts::value<double>()->default_value("0.9"))(
      "out", "predictions to write, - for standard output; arguments need none", cxxopts::value<std::string>());
  add_network_options(options, "to predict");
  add_quantity_option(options, "the predictor's; another one is refused");
  options.add_rest("architecture", "architectures, names of networks, or files *.onnx: prints a line for each");
  if (!options.parse(arguments)) return;
  const std::string file = options.required("predictor");
  if (!options.rest().empty() && options.has("archs")) {
    throw UsageError("--archs and arguments are two ways to name architectures: give one");
  }
  if (options.rest().empty()) options.required("out");
  const double confidence = options.get<double>("confidence");
  if (!(confidence > 0 && confidence < 1)) throw UsageError("--confidence is a share between 0 and 1, such as 0.9");
  quantity_option(options);
  FileRoles files;
  files.reads("--predictor", file);
  if (options.has("archs")) files.reads("--archs", options.get("archs"));
  if (options.has("out")) files.writes("--out", options.get("out"));
  files.require_distinct();
  if (options.has("out")) require_writable_target(options.get("out"));
  const auto predictor = trainer::load_predictor(file);
  require_quantity(options, *predictor, file);
  const std::vector<nasbench::Architecture> architectures = architectures_of(options, predictor->space());
  const trainer::Predictions predictions = predictor->predict(architectures, confidence);
  if (!options.has("quiet")) {
    for (const std::string& note : notes_on_unfamiliar(*predictor, architectures))
      std::cerr << "note: " << note << "\n";
  }
  if (!options.rest().empty()) print(predictions, confidence, predictor->quantity());
  if (options.has("out")) {
    trainer::write_predictions(options.get("out"), architectures, predictions, predictor->space(),
                               predictor->quantity());
  }
}

}  // namespace

const Command predict_command = {"predict", "predict latencies of architectures, of ONNX files, or of the whole space",
                                 run};

}  // namespace tenshot::cli
