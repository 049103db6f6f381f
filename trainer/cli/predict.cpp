#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <limits>
#include <numeric>

#include "nasbench/spaces/networks.h"
#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "nasbench/support/number_text.h"
#include "nasbench/support/numbers.h"
#include "trainer/cli/command.h"
#include "trainer/cli/file_roles.h"
#include "trainer/cli/made_folders.h"
#include "trainer/cli/network_options.h"
#include "trainer/cli/quantity_option.h"
#include "trainer/cli/unfamiliar.h"
#include "trainer/cli/written.h"
#include "trainer/core/prediction_table.h"
#include "trainer/predictors/registry.h"

namespace tenshot::cli {
namespace {

/// Three significant digits: "0.123", "1.30", "12.4", "1234".
std::string three_digits(double value) {
  return decimals(value, value > 0 ? std::clamp(2 - static_cast<int>(std::floor(std::log10(value))), 0, 9) : 2);
}

/// "1.30 ms (90 %: 1.24 to 1.38)" in the quantity's unit, a line for each; before it the architecture and a tab where
/// `names` has them.
void print(const trainer::Predictions& predictions, double confidence, const std::vector<std::string>& names,
           datasets::Quantity quantity) {
  const std::string percent = significant_digits(100 * confidence, 4);
  for (std::size_t i = 0; i < predictions.latency_ms.size(); ++i) {
    if (!names.empty()) std::cout << names[i] << "\t";
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

/// Of predictions, what --limit-ms and --fastest leave: the architectures within the limit, the fastest first, equals
/// in the order they had.
struct Choice {
  std::vector<nasbench::Architecture> architectures;
  trainer::Predictions predictions;
};

Choice fastest_of(const std::vector<nasbench::Architecture>& architectures, const trainer::Predictions& all,
                  double limit_ms, std::size_t most) {
  std::vector<std::size_t> order(architectures.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  order.erase(std::remove_if(order.begin(), order.end(), [&](std::size_t i) { return all.latency_ms[i] > limit_ms; }),
              order.end());
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return all.latency_ms[a] < all.latency_ms[b]; });
  if (order.size() > most) order.resize(most);
  Choice choice;
  for (const std::size_t i : order) {
    choice.architectures.push_back(architectures[i]);
    choice.predictions.latency_ms.push_back(all.latency_ms[i]);
    if (all.lower_ms.empty()) continue;
    choice.predictions.lower_ms.push_back(all.lower_ms[i]);
    choice.predictions.upper_ms.push_back(all.upper_ms[i]);
  }
  return choice;
}

double limit_of(const OptionParser& options) {
  if (!options.has("limit-ms")) return std::numeric_limits<double>::infinity();
  const double limit_ms = options.get<double>("limit-ms");
  if (limit_ms > 0) return limit_ms;
  throw UsageError("--limit-ms is " + shortest(limit_ms) + ", expected a positive number of milliseconds");
}

/// What is asked for: the arguments, the file, the networks, or the whole space.
std::vector<nasbench::Architecture> architectures_of(const OptionParser& options, const nasbench::SearchSpace& space) {
  const std::vector<nasbench::Architecture> networks = networks_of(options);
  std::vector<nasbench::Architecture> architectures;
  for (const std::string& text : options.rest()) {
    architectures.push_back(datasets::architecture_or_file(text, space, onnx_options(options)));
  }
  if (!architectures.empty()) return architectures;
  if (!networks.empty() && &space != &nasbench::networks()) {
    throw InputError("--networks: this predictor is of the space " + std::string(space.name()) +
                     "; take one of the space networks");
  }
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

void add_predict_options(OptionParser& options) {
  auto add = options.add();
  add("predictor", "required: what `tenshot adapt` wrote", cxxopts::value<std::string>());
  add("archs", "CSV with an architecture column (default: the whole space)", cxxopts::value<std::string>());
  add("confidence", "of the intervals, for predictors that have them", cxxopts::value<double>()->default_value("0.9"));
  add("limit-ms", "keep what is predicted to take no longer, the fastest first", cxxopts::value<double>());
  add("fastest", "keep this many, the fastest first", cxxopts::value<std::string>());
  add("out", "predictions to write as CSV, - for standard output (default: a line for each, for people)",
      cxxopts::value<std::string>());
  add_network_options(options, "to predict");
  add_quantity_option(options, "the predictor's; another one is refused");
  options.add_rest("architecture", "architectures, names of networks, or files *.onnx: prints a line for each");
}

void run(const std::vector<std::string>& arguments) {
  OptionParser options("predict", "Predicts latencies of architectures, of ONNX files, or of the whole space.",
                       "  tenshot predict --predictor device.tenshot --out predictions.csv\n"
                       "  tenshot predict --predictor device.tenshot --archs candidates.csv --out -\n"
                       "  tenshot predict --predictor board.tenshot model.onnx\n"
                       "  tenshot predict --predictor device.tenshot --limit-ms 5 --fastest 10\n");
  add_predict_options(options);
  if (!options.parse(arguments)) return;
  const std::string file = options.required("predictor");
  if (!options.rest().empty() && options.has("archs")) {
    throw UsageError("--archs and arguments are two ways to name architectures: give one");
  }
  const bool chosen = options.has("limit-ms") || options.has("fastest");
  const bool printed = !options.rest().empty() || !options.has("out");
  const double limit_ms = limit_of(options);
  const std::size_t most = options.has("fastest") ? static_cast<std::size_t>(options.integer("fastest", 1)) : SIZE_MAX;
  const double confidence = options.get<double>("confidence");
  if (!(confidence > 0 && confidence < 1)) throw UsageError("--confidence is a share between 0 and 1, such as 0.9");
  quantity_option(options);
  FileRoles files;
  files.reads("--predictor", file);
  if (options.has("archs")) files.reads("--archs", options.get("archs"));
  reads_networks(files, options);
  for (const std::string& architecture : options.rest()) files.reads_file_or_name("the network", architecture);
  if (options.has("out")) files.writes("--out", options.get("out"));
  files.require_distinct();
  MadeFolders made;
  if (options.has("out")) made.for_file(options.get("out"));
  const auto predictor = trainer::load_predictor(file);
  require_quantity(options, *predictor, file);
  std::vector<nasbench::Architecture> architectures = architectures_of(options, predictor->space());
  trainer::Predictions predictions = predictor->predict(architectures, confidence);
  if (!options.has("quiet")) {
    for (const std::string& note : notes_on_reading(predictor->space(), architectures))
      std::cerr << "note: " << note << "\n";
    for (const std::string& note : notes_on_unfamiliar(*predictor, architectures))
      std::cerr << "note: " << note << "\n";
  }
  if (chosen) {
    Choice choice = fastest_of(architectures, predictions, limit_ms, most);
    if (choice.architectures.empty()) {
      const double fastest = *std::min_element(predictions.latency_ms.begin(), predictions.latency_ms.end());
      throw InputError("none of " + std::to_string(architectures.size()) + " is predicted to take " +
                       shortest(limit_ms) + " ms or less; the fastest takes " + three_digits(fastest) + " ms");
    }
    architectures = std::move(choice.architectures);
    predictions = std::move(choice.predictions);
  }
  std::vector<std::string> names;  // of arguments, only where they are no longer in the order they were given
  if (printed && (chosen || options.rest().empty())) {
    for (const nasbench::Architecture& architecture : architectures) {
      names.push_back(predictor->space().format(architecture));
    }
  }
  if (printed) print(predictions, confidence, names, predictor->quantity());
  if (!options.has("out")) return;
  const std::string out = options.get("out");
  trainer::write_predictions(out, architectures, predictions, predictor->space(), predictor->quantity());
  say_written(out, std::to_string(architectures.size()) + " predictions",
              "compare them with measurements: tenshot evaluate --predictions " + out + " --measurements truth.csv",
              options.has("quiet"));
}

}  // namespace

const Command predict_command = {"predict", "predict latencies of architectures, of ONNX files, or of the whole space",
                                 run};

}  // namespace tenshot::cli
