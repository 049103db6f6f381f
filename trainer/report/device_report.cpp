#include <algorithm>
#include <nlohmann/json.hpp>

#include "datasets/tables/measurements.h"
#include "nasbench/support/error.h"
#include "trainer/core/archive_reader.h"
#include "trainer/core/metrics.h"
#include "trainer/core/prediction_table.h"
#include "trainer/predictors/registry.h"
#include "trainer/report/page.h"
#include "trainer/report/plot.h"
#include "trainer/report/report.h"
#include "trainer/report/text.h"

namespace tenshot::trainer::report {
namespace {

namespace fs = std::filesystem;

constexpr double shown_confidence = 0.9;
constexpr std::size_t most_rows = 100'000'000;

/// Latencies of architectures, measured.
struct Measured {
  std::vector<Architecture> architectures;
  std::vector<double> latency_ms;
};

Measured adaptation_set(const CardField& card, const SearchSpace& space) {
  Measured measured;
  for (const CardField& row : card.at("adaptation_set").list(space.size().value_or(most_rows))) {
    measured.architectures.push_back(space.parse(row.at("architecture").text()));
    measured.latency_ms.push_back(row.at("latency_ms").number(positive));
  }
  return measured;
}

/// What was measured and not adapted on.
Measured others_of(const datasets::Measurements& rows, const Measured& used) {
  Measured others;
  for (const datasets::Measurement& row : rows.rows) {
    const auto& known = used.architectures;
    if (std::find(known.begin(), known.end(), row.architecture) != known.end()) continue;
    others.architectures.push_back(row.architecture);
    others.latency_ms.push_back(row.latency_ms);
  }
  return others;
}

Series pairs(const std::string& name, const Predictor& predictor, const Measured& measured) {
  return {name, measured.latency_ms, predictor.predict(measured.architectures, shown_confidence).latency_ms};
}

void add_explanation(Page& page, const Predictor& predictor) {
  const std::vector<std::string> lines = predictor.explanation();
  if (lines.empty()) return;
  page.heading("What was found");
  page.list(lines);
}

void add_costs(Page& page, const Predictor& predictor) {
  const DeviceCosts found = predictor.device_costs();
  if (found.structures.empty()) return;
  std::vector<std::string> structures;
  for (const DeviceCosts::Structure& belief : found.structures) {
    structures.push_back(percent(belief.probability) + " " + belief.name + ": " + belief.meaning);
  }
  page.heading("Structure and operator costs");
  page.list(structures);
  HtmlTable costs{
      "Costs of one occurrence in the cell, " + std::string(unit(predictor.quantity())), {"operator", "cost", "±"}, {}};
  std::vector<std::string> labels;
  Series bars{"cost", {}, {}, {}};
  for (const DeviceCosts::Cost& cost : found.costs) {
    costs.rows.push_back({cost.name, significant(cost.cost_ms), significant(cost.deviation_ms)});
    bars.x.push_back(static_cast<double>(labels.size()));
    bars.y.push_back(cost.cost_ms);
    bars.spread.push_back(cost.deviation_ms);
    labels.push_back(cost.name);
  }
  page.figures({{"costs",
                 bar_plot(labels, bars, {"", std::string(unit(predictor.quantity()))},
                          "Bars of what each operator costs, with its standard deviation"),
                 "Cost of one occurrence in the cell; lines are one standard deviation."}});
  page.table(costs);
}

void add_comparison(Page& page, const Predictor& predictor, const Measured& used, const Measured& others) {
  page.heading("Predicted against measured");
  std::vector<Series> series;
  const Series unused = pairs("not used", predictor, others), adapted = pairs("adapted on", predictor, used);
  if (!others.latency_ms.empty()) series.push_back(unused);
  if (!used.latency_ms.empty()) series.push_back(adapted);
  std::vector<Page::Figure> figures = {
      {"predicted-against-measured",
       scatter_plot(
           series,
           "Predicted against measured " + std::string(title(predictor.quantity())) + ", with the band of ten percent",
           predictor.quantity()),
       std::to_string(used.latency_ms.size()) + " architectures adapted on" +
           (others.latency_ms.empty() ? std::string() : ", " + std::to_string(others.latency_ms.size()) + " others")}};
  if (others.latency_ms.empty()) return page.figures(figures);
  figures.push_back({"errors",
                     error_distribution_plot({error_distribution("not used", unused.x, unused.y)},
                                             "Share of architectures within each relative error"),
                     "Architectures that were not adapted on"});
  page.figures(figures);
  const Predictions predictions = predictor.predict(others.architectures, shown_confidence);
  const Metrics metrics =
      evaluate(predictions.latency_ms, others.latency_ms, predictions.lower_ms, predictions.upper_ms);
  HtmlTable table{
      "On the architectures that were not adapted on",
      {"within ±10 %", "within ±5 %", "mean error", "Spearman's ρ"},
      {{percent(metrics.acc10), percent(metrics.acc5), percent(metrics.mape), decimals(metrics.spearman, 3)}}};
  if (predictor.has_intervals()) {
    table.header.emplace_back("90 % intervals hold");
    table.rows[0].push_back(percent(metrics.coverage));
  }
  page.table(table);
}

void add_intervals(Page& page, const Predictor& predictor, const Measured& others) {
  if (!predictor.has_intervals() || others.latency_ms.empty()) return;
  Series line{"intervals", {}, {}};
  for (int asked = 50; asked <= 95; asked += 5) {
    const Predictions predictions = predictor.predict(others.architectures, asked / 100.0);
    line.x.push_back(asked);
    line.y.push_back(
        100 * evaluate(predictions.latency_ms, others.latency_ms, predictions.lower_ms, predictions.upper_ms).coverage);
  }
  page.heading("Do the intervals hold?");
  page.figures(
      {{"intervals", calibration_plot({line}, "Share of intervals that held against the share that was asked for"),
        "On the dashed line they hold as often as they say."}});
}

/// Predictions of the whole space in order, with their intervals.
void add_space(Page& page, const Predictor& predictor) {
  const std::vector<Architecture> all = predictor.space().all();
  const Predictions predictions = predictor.predict(all, shown_confidence);
  require_usable(predictions, all, predictor.space(), predictor.quantity());
  std::vector<std::size_t> order(predictions.latency_ms.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return predictions.latency_ms[a] < predictions.latency_ms[b]; });
  Series middle{"predicted", {}, {}}, lower{"90 % interval, below", {}, {}}, upper{"90 % interval, above", {}, {}};
  constexpr std::size_t points = 200;
  for (std::size_t k = 0; k <= points; ++k) {
    const std::size_t i = order[k * (order.size() - 1) / points];
    const double share = 100.0 * static_cast<double>(k) / points;
    for (Series* series : {&middle, &lower, &upper}) series->x.push_back(share);
    middle.y.push_back(predictions.latency_ms[i]);
    if (predictions.lower_ms.empty()) continue;
    lower.y.push_back(predictions.lower_ms[i]);
    upper.y.push_back(predictions.upper_ms[i]);
  }
  std::vector<Series> series = {middle};
  if (predictor.has_intervals()) series.insert(series.end(), {lower, upper});
  const std::string what(title(predictor.quantity())), unit(datasets::unit(predictor.quantity()));
  const bool in_time = unit == "ms";
  const std::string in_order = std::string("architectures, percent, ") + (in_time ? "fastest" : "least") + " first";
  page.heading("The whole space");
  page.figures({{"space",
                 line_plot(series, {in_order, what + ", " + unit},
                           datasets::in_words_of(predictor.quantity(),
                                                 "Predicted latencies of all architectures in ascending order")),
                 "All " + std::to_string(order.size()) + " architectures, from " +
                     significant(predictions.latency_ms[order.front()]) + " to " +
                     significant(predictions.latency_ms[order.back()]) + " " + unit}});
}

}  // namespace

Page device_report(const fs::path& file, const std::optional<fs::path>& measured) {
  const std::unique_ptr<Predictor> predictor = load_predictor(file);
  const Archive archive = predictor->to_archive();
  const CardField card(archive);
  const Measured used = adaptation_set(card, predictor->space());
  const Measured others =
      measured ? others_of(datasets::read_measurements(*measured, predictor->space(), predictor->quantity()), used)
               : Measured{};
  Page page("Predictor " + file.filename().string());
  page.paragraph(std::string(predictor->kind()) + " on " + std::string(predictor->space().name()) + ", adapted to " +
                 std::to_string(used.latency_ms.size()) + " measured architectures from a pool of " +
                 std::to_string(card.at("pool").at("devices").list(most_rows).size()) + " device-runtimes.");
  if (predictor->quantity() != datasets::Quantity::latency) {
    page.paragraph("It predicts " + std::string(title(predictor->quantity())) + " in " +
                   std::string(unit(predictor->quantity())) + ".");
  }
  add_explanation(page, *predictor);
  add_costs(page, *predictor);
  if (!used.latency_ms.empty() || !others.latency_ms.empty()) add_comparison(page, *predictor, used, others);
  add_intervals(page, *predictor, others);
  if (predictor->space().size().value_or(0) > 0 && *predictor->space().size() <= 1'000'000) add_space(page, *predictor);
  return page;
}

Page make_report(const fs::path& what, const std::optional<fs::path>& measured) {
  if (!fs::is_directory(what)) return device_report(what, measured);
  if (measured) throw InputError(what.string() + ": is an experiment's folder, which has its own measurements");
  return experiment_report(what);
}

}  // namespace tenshot::trainer::report
