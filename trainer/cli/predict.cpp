#include <algorithm>
#include <cmath>
#include <iostream>
#include <set>

#include "nasbench/formats/network_file.h"
#include "nasbench/spaces/networks.h"
#include "nasbench/support/number_text.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/numbers_below.h"
#include "trainer/cli/shared_options.h"
#include "trainer/core/prediction_table.h"
#include "trainer/core/quantity_card.h"
#include "trainer/predictors/registry.h"
#include "trainer/predictors/verdict.h"

namespace tenshot::cli {
namespace {

/// Three significant digits: "0.123", "1.30", "12.4", "1234".
std::string three_digits(double value) {
  return decimals(value, value > 0 ? std::clamp(2 - static_cast<int>(std::floor(std::log10(value))), 0, 9) : 2);
}

/// "1.30 ms (90 %: 1.24 to 1.38)" in the quantity's unit, a line each; of several behind the architecture and a tab.
void print(const std::vector<nasbench::Architecture>& architectures, const trainer::Predictions& predictions,
           const trainer::Predictor& predictor, double confidence, bool are_named) {
  const std::string percent = significant_digits(100 * confidence, 4);
  for (std::size_t i = 0; i < architectures.size(); ++i) {
    if (are_named) std::cout << predictor.space().format(architectures[i]) << "\t";
    std::cout << three_digits(predictions.latency_ms[i]) << " " << unit(predictor.quantity());
    if (!predictions.lower_ms.empty()) {
      std::cout << " (" << percent << " %: " << three_digits(predictions.lower_ms[i]) << " to "
                << three_digits(predictions.upper_ms[i]) << ")";
    }
    std::cout << "\n";
  }
}

/// For --json: [{"architecture": …, "latency_ms": …, "lower_ms": …, "upper_ms": …}, …] in the quantity's columns.
nlohmann::json rows_of(const std::vector<nasbench::Architecture>& architectures, const trainer::Predictions& all,
                       const trainer::Predictor& predictor) {
  const datasets::Quantity quantity = predictor.quantity();
  nlohmann::json rows = nlohmann::json::array();
  for (std::size_t i = 0; i < architectures.size(); ++i) {
    nlohmann::json row = {{"architecture", predictor.space().format(architectures[i])},
                          {column(quantity), all.latency_ms[i]}};
    if (!all.lower_ms.empty()) {
      row[column("lower", quantity)] = all.lower_ms[i];
      row[column("upper", quantity)] = all.upper_ms[i];
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

/// Leaves what --limit and --fastest ask for: the architectures within the limit, the fastest first, in a stable order.
void keep_fastest(double limit, std::size_t most, const trainer::Predictor& predictor,
                  std::vector<nasbench::Architecture>& architectures, trainer::Predictions& predictions) {
  const std::vector<double>& latencies = predictions.latency_ms;
  std::vector<std::size_t> order = numbers_below(latencies.size());
  order.erase(std::remove_if(order.begin(), order.end(), [&](std::size_t i) { return latencies[i] > limit; }),
              order.end());
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return latencies[a] < latencies[b]; });
  if (order.size() > most) order.resize(most);
  if (order.empty()) {
    const std::string unit(datasets::unit(predictor.quantity()));
    throw InputError("none of " + std::to_string(latencies.size()) + " is predicted to take " + shortest(limit) + " " +
                     unit + " or less; the least is " +
                     three_digits(*std::min_element(latencies.begin(), latencies.end())) + " " + unit);
  }
  std::vector<nasbench::Architecture> kept;
  trainer::Predictions of_kept;
  for (const std::size_t i : order) {
    kept.push_back(architectures[i]);
    of_kept.add(predictions, i);
  }
  architectures = std::move(kept);
  predictions = std::move(of_kept);
}

std::vector<nasbench::Architecture> architectures_of(const OptionParser& options, const nasbench::NetworkSpace& space) {
  const std::vector<nasbench::Architecture> networks = networks_or_arguments(options, space);
  if (!options.rest().empty()) return networks;
  if (!networks.empty() && &space != &nasbench::networks()) {
    throw InputError("--networks: this predictor is of the space " + std::string(space.name()) +
                     "; take one of the space networks");
  }
  if (options.has("archs")) return usable_architectures(options, options.get("archs"), space);
  if (!networks.empty()) return networks;
  const nasbench::SearchSpace* decided = space.search_space();
  if (decided == nullptr) {
    throw InputError(
        "which networks? name them as arguments (names, or files such as model.onnx), by --archs "
        "names.csv or by --networks");
  }
  if (decided->listable()) return decided->all();
  throw InputError("the space " + std::string(space.name()) +
                   " is too large to predict all of it; name its architectures" +
                   " by --archs candidates.csv or as arguments, such as " + space.example());
}

/// Where the predictor comes from: its file, or the checkpoint that knows --device.
std::string source_of(const OptionParser& options) {
  if (!options.has("device")) {
    if (options.has("checkpoint")) throw UsageError("--checkpoint is of a --device");
    if (options.has("predictor")) return options.get("predictor");
    throw UsageError("tenshot predict needs --predictor; or --device; see tenshot predict --help");
  }
  if (options.has("predictor")) throw UsageError("--predictor and --device are two ways: give one");
  return checkpoint_of(options);
}

std::unique_ptr<trainer::Predictor> predictor_of(const OptionParser& options, const std::string& source) {
  if (!options.has("device")) return trainer::load_predictor(source);
  std::unique_ptr<trainer::Predictor> known = trainer::load_pool_model(source)->known_device(options.get("device"));
  for (const trainer::Remark& remark : known->explanation()) say(trainer::in_words(remark));
  return known;
}

void leave_out_unusable(const OptionParser& options, const trainer::Predictor& predictor,
                        std::vector<nasbench::Architecture>& architectures, trainer::Predictions& predictions) {
  std::vector<datasets::LeftOutFile> left_out;
  for (std::string& reason : take_out_unusable(predictions, architectures, predictor.space(), predictor.quantity())) {
    left_out.push_back({"", std::move(reason)});
  }
  if (architectures.empty() && !left_out.empty()) throw datasets::none_left(left_out);
  report_left_out(options, left_out);
}

/// What `evaluate` has to be told to know the architectures of the table that was written.
std::string naming_options(const OptionParser& options, const nasbench::NetworkSpace& space) {
  if (&space == &nasbench::nasbench201()) return "";
  if (&space != &nasbench::networks()) {
    return " --space " + (space.definition().empty() ? std::string(space.name()) : "FILE.json");
  }
  if (options.has("networks")) return " --networks " + shell_word(options.get("networks"));
  std::set<std::string> folders;  // of files; DIR is one that holds them all
  for (const std::string& file : options.rest()) {
    folders.insert(nasbench::is_network_file(file) ? std::filesystem::path(file).parent_path().string() : "DIR");
  }
  const std::string folder = folders.size() == 1 ? *folders.begin() : "DIR";
  return " --networks " + shell_word(folder.empty() ? "." : folder);
}

}  // namespace

void run_predict(const OptionParser& options) {
  const bool chosen = options.has("limit") || options.has("fastest");
  const bool printed = !options.has("out") || (!options.rest().empty() && options.get("out") != "-");
  const double limit = limit_option(options).value_or(HUGE_VAL);
  const std::size_t most = options.has("fastest") ? static_cast<std::size_t>(options.integer("fastest", 1)) : SIZE_MAX;
  const double confidence = confidence_option(options);
  quantity_option(options);
  const std::string file = source_of(options);
  if (!options.rest().empty() && options.has("archs")) {
    throw UsageError("--archs and arguments are two ways to name architectures: give one");
  }
  FileRoles files(options);
  files.reads(options.has("device") ? "--checkpoint" : "--predictor", file);
  if (options.has("out")) files.makes("--out", options.get("out"));
  const auto predictor = predictor_of(options, file);
  trainer::require_quantity(quantity_option(options), *predictor, file);
  tell_of_no_intervals(options, *predictor);
  std::vector<nasbench::Architecture> architectures = architectures_of(options, predictor->space());
  trainer::Predictions predictions = predictor->predict(architectures, confidence);
  leave_out_unusable(options, *predictor, architectures, predictions);
  if (!options.has("quiet") || options.has("json")) {  // what is not understood of them, and what is unfamiliar
    for (const std::string& note : trainer::notes_on(*predictor, architectures)) say("note: " + note);
  }
  if (chosen) keep_fastest(limit, most, *predictor, architectures, predictions);
  if (options.has("json")) {
    put_outcome({{"predictions", rows_of(architectures, predictions, *predictor)}, {"confidence", confidence}});
  } else if (printed) {
    print(architectures, predictions, *predictor, confidence,
          chosen || architectures.size() > 1 || options.rest().size() != 1);
  }
  if (!options.has("out")) return;
  const std::string out = options.get("out"), count = std::to_string(architectures.size());
  trainer::write_predictions(out, architectures, predictions, predictor->space(), predictor->quantity());
  const std::string quantity(name(predictor->quantity()));
  say_written(out, count + " predictions",
              "compare them with measurements: tenshot evaluate --predictions " + shell_word(out) +
                  " --measurements truth.csv" + naming_options(options, predictor->space()) +
                  (quantity == "latency" ? "" : " --quantity " + quantity));
}

}  // namespace tenshot::cli
