#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "datasets/kit/joined_sources.h"
#include "datasets/tables/measurements.h"
#include "nasbench/spaces/networks.h"
#include "nasbench/support/error.h"
#include "trainer/core/archive_reader.h"
#include "trainer/core/metrics.h"
#include "trainer/core/prediction_table.h"
#include "trainer/predictors/registry.h"
#include "trainer/report/device_parts.h"
#include "trainer/report/plot.h"
#include "trainer/report/report.h"
#include "trainer/report/text.h"

namespace tenshot::trainer::report {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_rows = 100'000'000;

Measured adaptation_set(const CardField& card, const SearchSpace& space) {
  Measured measured;
  for (const CardField& row : card.at("adaptation_set").list(space.size().value_or(most_rows))) {
    measured.architectures.push_back(space.parse(row.at("architecture").text()));
    measured.latency_ms.push_back(row.at("latency_ms").number(positive));
  }
  return measured;
}

/// What was measured and not adapted on.
Measured others_of(const Measured& all, const Measured& used) {
  const std::unordered_set<Architecture, nasbench::ArchitectureHash> known(used.architectures.begin(),
                                                                           used.architectures.end());
  Measured others;
  for (std::size_t i = 0; i < all.architectures.size(); ++i) {
    if (known.count(all.architectures[i]) != 0) continue;
    others.architectures.push_back(all.architectures[i]);
    others.latency_ms.push_back(all.latency_ms[i]);
  }
  return others;
}

/// What could not be used of a file, for the page; empty: nothing.
std::string left_out_of(const datasets::MeasuredSource& source) {
  if (!source.kit || source.kit->findings.empty()) return source.findings.summary();
  const std::size_t count = source.left_out();
  return std::to_string(count) + (count == 1 ? " doubtful or unusable result, " : " doubtful or unusable results, ") +
         source.kit->findings.front().message;
}

Device device_of(const Predictor& predictor, const DeviceReportOptions& options) {
  const Archive archive = predictor.to_archive();
  const CardField card(archive);
  Device device{predictor, adaptation_set(card, predictor.space()), {}, {}, {}, {}, {}, {}};
  const auto networks = archive.card.find("networks");
  if (!predictor.space().composed() && networks != archive.card.end()) {
    device.known = nasbench::add_networks(*networks, "the card's networks", nasbench::NamedBy::card);
  }
  device.pool_devices = card.at("pool").at("devices").texts(most_rows);
  for (const Remark& remark : predictor.explanation()) {
    (remark.warns ? device.warnings : device.lines).push_back(remark.text);
  }
  if (datasets::are_whole_milliseconds(device.used.latency_ms)) {
    device.warnings.push_back("the measurements are whole numbers of " + device.unit() +
                              ": on fast networks one step of this clock is a large relative error");
  }
  if (options.measured.empty()) return device;
  const datasets::JoinedSources joined =
      datasets::read_joined(options.measured, predictor.space(), predictor.quantity(), options.fleet);
  for (const std::string& remark : joined.remarks(predictor.quantity())) device.lines.push_back(remark);
  device.others = others_of({joined.measured.architectures, joined.measured.latency_ms}, device.used);
  for (std::size_t i = 0; i < options.measured.size(); ++i) {
    const std::string left_out = left_out_of(joined.sources[i]);
    if (!left_out.empty()) {
      device.warnings.push_back(options.measured[i].filename().string() + ": left out: " + left_out);
    }
  }
  device.layers = joined.measured.operator_latencies;
  if (device.others.latency_ms.empty() && device.layers.empty()) {
    device.warnings.push_back(options.measured.front().filename().string() + ": holds nothing that was not adapted on");
  }
  return device;
}

/// The one line that says how far to trust the predictor.
void add_verdict(Page& page, const Device& device, const Predictions& of_crowd) {
  const double width = typical_half_width(of_crowd);
  const std::string from = std::to_string(device.used.latency_ms.size()) +
                           (device.used.latency_ms.size() == 1 ? " measurement" : " measurements");
  if (std::isnan(width)) {
    return page.verdict(Grade::fair, "Adapted to " + from + "; this kind of predictor does not say how sure it is");
  }
  const Trust found = trust(width, !device.warnings.empty());
  const Grade grade = found == Trust::good                 ? Grade::good
                      : trust(width, false) == Trust::poor ? Grade::poor
                                                           : Grade::fair;
  page.verdict(grade, std::string(word(found)) + ": expect nine of ten predictions within ±" + two_digits(100 * width) +
                          " %, from " + from);
}

void add_facts(Page& page, const Device& device) {
  std::vector<std::pair<std::string, std::string>> facts = {
      {"predicts", device.quantity() + " in " + device.unit()},
      {"networks", "space " + std::string(device.space().name())},
      {"predictor", std::string(device.predictor.kind())},
      {"pool", std::to_string(device.pool_devices.size()) +
                   (device.pool_devices.size() == 1 ? " device-runtime" : " device-runtimes")}};
  if (!device.others.latency_ms.empty()) {
    const Predictions found = device.predictor.predict(device.others.architectures, shown_confidence);
    const Metrics metrics = evaluate(found.latency_ms, device.others.latency_ms, found.lower_ms, found.upper_ms);
    facts.emplace_back("measured since", std::to_string(metrics.architectures) + " others");
    facts.emplace_back("of these within ±10 %", percent(metrics.acc10));
    facts.emplace_back("within ±5 %", percent(metrics.acc5));
    facts.emplace_back("mean error", percent(metrics.mape));
    if (!std::isnan(metrics.spearman)) facts.emplace_back("Spearman's ρ", decimals(metrics.spearman, 3));
    if (device.predictor.has_intervals()) facts.emplace_back("in their 90 % intervals", percent(metrics.coverage));
  }
  page.facts(facts);
}

Series pairs(const std::string& name, const Predictor& predictor, const Measured& measured) {
  Series series{
      name, measured.latency_ms, predictor.predict(measured.architectures, shown_confidence).latency_ms, {}, {}};
  for (const Architecture& architecture : measured.architectures) {
    series.names.push_back(predictor.space().format(architecture));
  }
  return series;
}

void add_comparison(Page& page, const Device& device) {
  const std::size_t used = device.used.latency_ms.size(), others = device.others.latency_ms.size();
  if (used + others == 0) return;
  page.heading("Predicted against measured");
  std::vector<Series> series;
  if (others > 0) series.push_back(pairs("not used", device.predictor, device.others));
  if (used > 0) series.push_back(pairs("adapted on", device.predictor, device.used));
  page.figures(
      {{"predicted-against-measured",
        scatter_plot(series, "Predicted against measured " + device.quantity() + ", with the band of ten percent",
                     device.predictor.quantity()),
        std::to_string(used) + (used == 1 ? " network" : " networks") + " adapted on" +
            (others == 0 ? std::string() : ", " + std::to_string(others) + " others")}});
  if (others == 0) return;
  page.heading("How large the errors are");
  page.figures({{"errors",
                 error_distribution_plot({error_distribution("not used", series.front().x, series.front().y)},
                                         "Share of networks within each relative error"),
                 "Networks that were measured and not adapted on"}});
}

void add_intervals(Page& page, const Device& device) {
  if (!device.predictor.has_intervals() || device.others.latency_ms.empty()) return;
  Series line{"held", {}, {}};
  for (int asked = 50; asked <= 95; asked += 5) {
    const Predictions found = device.predictor.predict(device.others.architectures, asked / 100.0);
    line.x.push_back(asked);
    line.y.push_back(100 *
                     evaluate(found.latency_ms, device.others.latency_ms, found.lower_ms, found.upper_ms).coverage);
  }
  page.heading("Do the intervals hold?");
  page.figures(
      {{"intervals", calibration_plot({line}, "Share of intervals that held against the share that was asked for"),
        "On the dashed line they hold as often as they say"}});
}

}  // namespace

std::string Device::value(double number) const { return significant(number) + " " + unit(); }

Page device_report(const fs::path& file, const DeviceReportOptions& options) {
  const std::unique_ptr<Predictor> predictor = load_predictor(file);
  const Device device = device_of(*predictor, options);
  Crowd crowd = crowd_of(device);
  std::vector<std::string> unusable;
  Predictions of_crowd;
  if (!crowd.architectures.empty()) {
    of_crowd = predictor->predict(crowd.architectures, shown_confidence);
    unusable = take_out_unusable(of_crowd, crowd.architectures, device.space(), predictor->quantity());
  }
  Page page("Predictor " + file.filename().string());
  add_verdict(page, device, of_crowd);
  page.warnings(device.warnings);
  page.warnings(unusable);
  add_facts(page, device);
  add_comparison(page, device);
  add_costs(page, device);
  if (!crowd.architectures.empty()) add_space(page, device, crowd, of_crowd, options.limit);
  add_intervals(page, device);
  add_found(page, device);
  add_next(page, device, crowd);
  if (options.accuracies) add_front(page, device, *options.accuracies, options.limit);
  add_layers(page, device);
  add_explained(page, device, options);
  return page;
}

Page make_report(const fs::path& what, const DeviceReportOptions& options) {
  if (!fs::is_directory(what)) return device_report(what, options);
  if (!options.measured.empty())
    throw InputError(what.string() + ": is an experiment's folder, which has its own measurements");
  if (options.accuracies || options.limit || !options.explained.empty()) {
    throw InputError(what.string() +
                     ": is an experiment's folder; accuracies, a limit and a network to explain are of a "
                     "page on a predictor");
  }
  return experiment_report(what);
}

}  // namespace tenshot::trainer::report
