#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "datasets/tables/csv.h"
#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "nasbench/support/json_reader.h"
#include "nasbench/support/number_text.h"
#include "nasbench/support/numbers.h"
#include "trainer/core/quantity_card.h"
#include "trainer/report/plot.h"
#include "trainer/report/report.h"

namespace tenshot::trainer::report {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::size_t most_lines = 8;    ///< in one picture
constexpr std::size_t most_panels = 12;  ///< scatter plots

/// A choice of the grid, as predictions.csv writes it: method, pool, sampler, samples and clones.
using Choice = std::array<std::string, 5>;
/// Measured (x) and predicted latencies (y) of a choice by target.
using PairsOf = std::map<Choice, std::map<std::string, std::vector<Mark>>>;

PairsOf read_pairs(const fs::path& path, datasets::Quantity quantity) {
  const std::string text = read_file(path);
  datasets::CsvReader csv(text, path.string());
  const std::string measured_name = datasets::column("measured", quantity),
                    predicted_name = datasets::column("predicted", quantity),
                    expected = "target,pool,sampler,samples,clones,method," + measured_name + "," + predicted_name;
  const auto column = [&](const std::string& name) { return csv.require(name, expected); };
  const std::size_t target = column("target"), method = column("method"), pool = column("pool"),
                    sampler = column("sampler"), samples = column("samples"), clones = column("clones"),
                    measured = column(measured_name), predicted = column(predicted_name);
  PairsOf pairs;
  while (csv.next()) {
    const auto& fields = csv.fields();
    if (fields.size() != csv.header().size()) {
      throw InputError(path.string() + ":" + std::to_string(csv.line()) + ": the row has " +
                       std::to_string(fields.size()) + " fields where the header has " +
                       std::to_string(csv.header().size()) + ": is the file cut short?");
    }
    const auto of = [&](std::size_t index) { return std::string(fields[index]); };
    const auto measured_ms = parse_number(fields[measured]), predicted_ms = parse_number(fields[predicted]);
    if (!measured_ms || !predicted_ms || !(*measured_ms > 0)) continue;
    pairs[{of(method), of(pool), of(sampler), of(samples), of(clones)}][of(target)].push_back(
        {*measured_ms, *predicted_ms});
  }
  return pairs;
}

std::string text_of(const json& value) {
  return value.is_null() ? std::string() : value.is_string() ? value.get<std::string>() : value.dump();
}

Choice choice_of(const json& variant) {
  return {variant.at("method"), variant.at("pool"), variant.at("sampler"), text_of(variant.at("samples")),
          text_of(variant.at("clones"))};
}

double mean_of(const json& spread) { return spread.is_null() ? std::nan("") : spread.at("mean").get<double>(); }

double deviation_in_percent(const json& spread) { return 100 * spread.at("deviation").get<double>(); }

bool is_ceiling(const json& variant) { return variant.at("samples") == "all"; }

/// Variants that measured a few architectures, best first; ceilings are no part of a comparison.
std::vector<json> ranked(const json& results) {
  std::vector<json> variants;
  for (const json& variant : results.at("variants")) {
    if (!is_ceiling(variant)) variants.push_back(variant);
  }
  std::stable_sort(variants.begin(), variants.end(), [](const json& a, const json& b) {
    return mean_of(a.at("mean_acc10")) > mean_of(b.at("mean_acc10"));
  });
  return variants;
}

/// "98.1 ± 0.4" of a spread over trials; empty where there is none.
std::string in_words(const json& spread, double factor, int places) {
  if (spread.is_null()) return "";
  const std::string mean = decimals(factor * mean_of(spread), places);
  if (spread.at("count").get<int>() <= 1) return mean;
  return mean + " ± " + decimals(factor * spread.at("deviation").get<double>(), places);
}

/// Cells of a table: a metric of each variant in words, bold where it is the best of those that are no ceiling.
std::vector<std::string> cells_of(const json& variants, const std::function<json(const json& variant)>& spread_of,
                                  double factor, int places) {
  double best = -HUGE_VAL;
  for (const json& variant : variants) {
    if (!is_ceiling(variant)) best = std::fmax(best, mean_of(spread_of(variant)));
  }
  std::vector<std::string> cells;
  for (const json& variant : variants) {
    const json spread = spread_of(variant);
    const char* mark = !is_ceiling(variant) && mean_of(spread) == best ? "**" : "";
    cells.push_back(mark + in_words(spread, factor, places) + mark);
  }
  return cells;
}

void add_means(Page& page, const json& results) {
  const json& variants = results.at("variants");
  const auto accuracy = cells_of(
      variants, [](const json& variant) { return variant.at("mean_acc10"); }, 100, 1);
  const auto rank = cells_of(
      variants, [](const json& variant) { return variant.at("mean_spearman"); }, 1, 3);
  HtmlTable table{"Mean over the targets ± standard deviation over trials; the best is bold",
                  {"method", "within ±10 %, percent", "Spearman's ρ"},
                  {}};
  for (std::size_t v = 0; v < variants.size(); ++v) {
    table.rows.push_back({variants[v].at("label"), accuracy[v], rank[v]});
  }
  page.table(table);
}

/// Tables with the targets in rows and at most a few variants in columns, so that they stay readable.
std::vector<HtmlTable> tables_by_target(const json& results, const std::string& metric, const std::string& caption,
                                        double factor, int places) {
  constexpr std::size_t most_columns = 4;
  const json& variants = results.at("variants");
  std::vector<HtmlTable> tables;
  for (std::size_t v = 0; v < variants.size(); ++v) {
    if (v % most_columns == 0) tables.push_back({caption, {"target"}, {}});
    tables.back().header.push_back(variants[v].at("label"));
  }
  for (const std::string& target : results.at("targets").get<std::vector<std::string>>()) {
    const auto spread_of = [&](const json& variant) { return variant.at(metric).at(target); };
    const std::vector<std::string> cells = cells_of(variants, spread_of, factor, places);
    for (std::size_t v = 0; v < cells.size(); ++v) {
      HtmlTable& table = tables[v / most_columns];
      if (v % most_columns == 0) table.rows.push_back({target});
      table.rows.back().push_back(cells[v]);
    }
  }
  return tables;
}

void add_targets(Page& page, const json& results) {
  const auto targets = results.at("targets").get<std::vector<std::string>>();
  std::vector<Series> series;
  for (const json& variant : ranked(results)) {
    if (series.size() == most_lines) break;
    Series points{variant.at("label")};
    for (std::size_t t = 0; t < targets.size(); ++t) {
      const json& spread = variant.at("acc10").at(targets[t]);
      if (spread.is_null()) continue;
      points.marks.push_back({100 * mean_of(spread), static_cast<double>(t), deviation_in_percent(spread)});
    }
    series.push_back(std::move(points));
  }
  page.figure("Target by target",
              {"targets",
               dot_plot(targets, series, "predicted within ±10 %, percent",
                        "The share predicted within ten percent on each target, by method"),
               "The " + std::to_string(series.size()) + " best on average; the numbers are in the tables below"});
  page.folded("Within ±10 %, percent, of every method",
              tables_by_target(results, "acc10", "Predicted within ±10 %, percent", 100, 1));
  page.folded("Spearman's ρ of every method", tables_by_target(results, "spearman", "Spearman's ρ", 1, 3));
}

std::string line_name(const json& variant, const json& spec) {
  std::string name = variant.at("method");
  if (spec.at("pools").size() > 1) name += ", " + variant.at("pool").get<std::string>();
  if (spec.at("samplers").size() > 1) name += ", " + variant.at("sampler").get<std::string>();
  if (variant.at("clones").is_number()) name += ", K = " + text_of(variant.at("clones"));
  return name;
}

/// As many of the lines as there are colours, those of the best variants first; the caption says how many there are.
std::vector<Series> best_lines(const json& results, std::map<std::string, std::vector<Mark>> lines,
                               const std::function<std::string(const json& variant)>& name_of, std::string& caption) {
  const std::size_t all = lines.size();
  std::vector<std::string> names;
  for (const json& variant : ranked(results)) names.push_back(name_of(variant));
  for (const auto& entry : lines) names.push_back(entry.first);
  std::vector<Series> best;
  for (const std::string& name : names) {
    if (best.size() < most_lines && lines.count(name) > 0) best.push_back({name, lines.extract(name).mapped()});
  }
  if (best.size() < all) caption += "; the " + std::to_string(best.size()) + " best of " + std::to_string(all);
  return best;
}

void add_accuracy_against_samples(Page& page, const json& results) {
  std::map<std::string, std::vector<Mark>> lines;
  std::set<double> counts;
  const auto name_of = [&](const json& variant) { return line_name(variant, results.at("spec")); };
  for (const json& variant : results.at("variants")) {
    if (!variant.at("samples").is_number() || variant.at("samples") == 0) continue;  // the axis is logarithmic
    const json& accuracy = variant.at("mean_acc10");
    counts.insert(variant.at("samples").get<double>());
    lines[name_of(variant)].push_back({variant.at("samples"), 100 * mean_of(accuracy), deviation_in_percent(accuracy)});
  }
  if (counts.size() < 2) return;
  std::string caption = "Mean over targets; lines are the standard deviation over trials";
  const std::vector<Series> series = best_lines(results, lines, name_of, caption);
  Axes axes{"measured architectures", "predicted within 10 %, percent"};
  axes.logarithmic_x = true;
  axes.y_range = {0, 100};
  page.figure("Accuracy against samples",
              {"accuracy-against-samples",
               line_plot(series, axes, "Lines of the share predicted within ten percent against the number of samples"),
               caption});
}

void add_errors(Page& page, const json& results, const PairsOf& pairs) {
  std::vector<Series> distributions;
  for (const json& variant : ranked(results)) {
    const auto found = pairs.find(choice_of(variant));
    if (found == pairs.end() || distributions.size() == most_lines) continue;
    std::vector<Mark> all;
    for (const auto& [target, list] : found->second) all.insert(all.end(), list.begin(), list.end());
    distributions.push_back({variant.at("label"), std::move(all)});
  }
  if (distributions.empty()) return;
  page.figure(
      "Error distribution",
      {"errors", error_distribution_plot(distributions, "Share of architectures within each relative error, by method"),
       "All targets together, first trial, of the " + std::to_string(distributions.size()) + " best on average"});
}

void add_predictions(Page& page, const json& results, const PairsOf& pairs, datasets::Quantity quantity) {
  const std::vector<json> variants = ranked(results);
  if (variants.empty()) return;
  const auto best = pairs.find(choice_of(variants.front()));
  if (best == pairs.end()) return;
  page.heading("Predicted against measured: " + variants.front().at("label").get<std::string>(), Page::Width::page);
  std::vector<Page::Figure> panels;
  for (const auto& [target, list] : best->second) {
    if (panels.size() == most_panels) break;
    panels.push_back({"predicted-against-measured-" + target,
                      scatter_plot({{"test architectures", list}},
                                   "Predicted against measured " + std::string(title(quantity)) + " of " + target +
                                       ", with the band of ten percent",
                                   quantity),
                      target});
  }
  page.figures(panels);
}

void add_calibration(Page& page, const json& results) {
  std::map<std::string, std::map<double, std::pair<double, double>>> held;  // by method and confidence: sum and number
  std::map<std::string, std::vector<Mark>> lines;
  for (const json& point : results.at("calibration")) {
    auto& [sum, count] = held[point.at("method")][point.at("confidence").get<double>()];
    sum += point.at("coverage").get<double>();
    ++count;
  }
  if (held.empty()) return;
  for (const auto& [method, by_confidence] : held) {
    for (const auto& [confidence, mean] : by_confidence) {
      lines[method].push_back({100 * confidence, 100 * mean.first / mean.second});
    }
  }
  std::string caption =
      "Mean over targets, trials, pools and samples; on the dashed line they hold as often as they say";
  const auto method_of = [](const json& variant) { return variant.at("method"); };
  const std::vector<Series> series = best_lines(results, lines, method_of, caption);
  page.figure("Do the intervals hold?", {"intervals", calibration_plot(series), caption});
}

void add_similarity(Page& page, const json& results) {
  const json& similarity = results.at("similarity");
  const char* caption = "Spearman's ρ between the latencies of device-runtimes on the training architectures";
  std::vector<std::vector<double>> values;
  for (const json& row : similarity.at("spearman")) {
    values.emplace_back();
    for (const json& value : row) values.back().push_back(value.is_null() ? std::nan("") : value.get<double>());
  }
  page.heading("How alike the devices rank", Page::Width::page);
  page.heat_map(datasets::in_words_of(get_quantity(results), caption), similarity.at("devices"), values);
}

}  // namespace

Page experiment_report(const fs::path& folder) {
  const fs::path file = folder / "results.json";
  const json results = parse_json(read_file(file), file.string());
  try {
    const json& spec = results.at("spec");
    Page page("Experiment " + spec.at("name").get<std::string>());
    if (spec.contains("description")) page.paragraph(spec.at("description"));
    page.facts({{"trials", text_of(spec.at("trials"))},
                {"cells", text_of(results.at("cells"))},
                {"data, SHA-256", results.at("data_sha256").get<std::string>().substr(0, 16)},
                {"tenshot", text_of(results.at("versions").at("tenshot"))},
                {"LibTorch", text_of(results.at("versions").at("libtorch"))}});
    page.heading("Results");
    add_means(page, results);
    page.paragraph(
        "Every method of a trial that does not choose its own has the same samples. Methods that measure every "
        "training architecture are ceilings and are never bold.");
    add_accuracy_against_samples(page, results);
    const datasets::Quantity quantity = get_quantity(results);
    PairsOf pairs;
    if (fs::exists(folder / "predictions.csv")) pairs = read_pairs(folder / "predictions.csv", quantity);
    add_errors(page, results, pairs);
    add_calibration(page, results);
    add_targets(page, results);
    add_predictions(page, results, pairs, quantity);
    add_similarity(page, results);
    return page;
  } catch (const json::exception& error) {
    throw FormatError(file.string() + ": is no result of tenshot experiment (" + error.what() + ")");
  }
}

}  // namespace tenshot::trainer::report
