#include "datasets/kit/joined_sources.h"
#include "datasets/tables/measurements.h"
#include "nasbench/support/error.h"
#include "nasbench/support/number_text.h"
#include "trainer/core/archive_reader.h"
#include "trainer/core/metrics.h"
#include "trainer/core/prediction_table.h"
#include "trainer/core/space_card.h"
#include "trainer/predictors/registry.h"
#include "trainer/report/device_parts.h"

namespace tenshot::trainer::report {
namespace {

namespace fs = std::filesystem;

AdaptationSet others_of(const datasets::MeasuredSource& all, const AdaptationSet& used) {
  const nasbench::ArchitectureSet known(used.architectures.begin(), used.architectures.end());
  AdaptationSet others;
  for (std::size_t i = 0; i < all.architectures.size(); ++i) {
    if (known.count(all.architectures[i]) == 0) others.add(all.architectures[i], all.latency_ms[i]);
  }
  return others;
}

std::string left_out_of(const datasets::MeasuredSource& source) {
  if (!source.kit || source.kit->findings.empty()) return source.findings.summary();
  return counted(source.left_out(), "doubtful or unusable result") + ", " + source.kit->findings.front().message;
}

/// What the card says of where the predictor comes from and of what it promises.
void read_card(Device& device, const Archive& archive) {
  const JsonField card(archive);
  std::vector<Architecture> known = carried_networks(archive.card);
  for (const JsonField& row : card.at("adaptation_set").list()) {
    device.used.add(device.space().parse(row.at("architecture").text()), row.at("latency_ms").number(positive));
  }
  device.pool_devices = card.at("pool").at("devices").texts().size();
  device.conditions = archive.card.value("conditions", datasets::MeasuringConditions());
  const std::optional<Verdict> verdict = kept_verdict(archive);
  if (!verdict && known.empty()) known = crowd_of(device).architectures;
  device.promise =
      verdict ? verdict->half_width : typical_half_width(device.predictor.predict(known, judged_confidence));
}

Device device_of(const Predictor& predictor, const DeviceReportOptions& options) {
  Device device{predictor, options};
  read_card(device, predictor.to_archive());
  if (options.own.empty()) device.own = device.used.architectures;
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
  for (const std::string& doubt : joined.measured.doubts) device.warnings.push_back(doubt);
  for (const std::string& remark : joined.remarks(predictor.quantity())) device.lines.push_back(remark);
  for (const auto& [name, value] : joined.measured.conditions) {
    for (const auto& [own_name, own] : device.conditions) {  // the clocks of a moment and the date may be any
      if (name != own_name || value == own || name == "clocks" || name == "date") continue;
      device.warnings.push_back("the further measurements are of another " + name + ": " + value + ", and not " + own);
    }
  }
  device.others = others_of(joined.measured, device.used);
  if (!device.others.architectures.empty()) {
    device.of_others = predictor.predict(device.others.architectures, judged_confidence);
  }
  for (std::size_t i = 0; i < options.measured.size(); ++i) {
    const std::string left_out = left_out_of(joined.sources[i]);
    if (!left_out.empty()) {
      device.warnings.push_back(options.measured[i].filename().string() + ": left out: " + left_out);
    }
  }
  device.layers = joined.measured.operator_latencies;
  if (options.own.empty()) {
    device.own.insert(device.own.end(), device.others.architectures.begin(), device.others.architectures.end());
  }
  if (device.others.latency_ms.empty() && device.layers.empty()) {
    device.warnings.push_back(options.measured.front().filename().string() + ": holds nothing that was not adapted on");
  }
  return device;
}

/// Whether a share of `all` is further below nine in ten than by chance: under 85 %, and by three standard deviations.
bool contradicts(double share, std::size_t all) {
  const double deviation = std::sqrt(judged_confidence * (1 - judged_confidence) / static_cast<double>(all));
  return all >= 5 && share < 0.85 && share < judged_confidence - 3 * deviation;
}

/// How far to trust the predictor, and what the measurements say of that which it was not adapted on.
void add_verdict(Page& page, const Device& device) {
  const std::size_t used = device.used.latency_ms.size(), others = device.others.latency_ms.size();
  const std::string from = counted(used, "measurement"),
                    within = "within ±" + decimals(100 * device.promise, 100 * device.promise < 9.5 ? 1 : 0) + " %";
  const bool promises = !std::isnan(device.promise);
  std::string contradicted, checked;
  if (others > 0) {
    const Metrics metrics = evaluate(device.of_others, device.others.latency_ms);
    const double kept = error_bound_accuracy(device.of_others.latency_ms, device.others.latency_ms, device.promise);
    if (promises && contradicts(kept, others)) {
      contradicted = "nine of ten predictions were expected " + within;
    } else if (promises && contradicts(metrics.coverage, others)) {
      contradicted = "nine of ten intervals were expected to hold, and " + percent(metrics.coverage) + " do";
    }
    checked = "Checked on " + counted(others, "network") + " that it was not adapted on: " + percent(metrics.acc10) +
              " of the predictions are within ±10 %";
    if (promises) {
      checked += ", " + percent(kept) + " " + within + ", and " + percent(metrics.coverage) +
                 " of the intervals that nine of ten should hold do";
    }
  }
  if (!promises) {
    page.verdict(Grade::fair, "Adapted to " + from + "; this kind of predictor does not say how sure it is", checked);
  } else if (!contradicted.empty()) {
    page.verdict(Grade::poor, "Contradicted by measurements: " + contradicted + ", from " + from, checked);
  } else {
    const Trust found = trust(device.promise, !device.warnings.empty()), unwarned = trust(device.promise, false);
    page.verdict(found == Trust::good      ? Grade::good
                 : unwarned == Trust::poor ? Grade::poor
                                           : Grade::fair,
                 std::string(word(found)) + ": expect nine of ten predictions " + within + ", from " + from, checked);
  }
}

void add_facts(Page& page, const Device& device) {
  datasets::MeasuringConditions facts = device.conditions;
  if (facts.empty()) facts = {{"board, runtime, date", "not noted with the measurements"}};
  facts.insert(facts.end(), {{"predicts", device.quantity() + " in " + device.unit()},
                             {"networks", "space " + std::string(device.space().name())},
                             {"predictor", std::string(device.predictor.kind())},
                             {"pool", counted(device.pool_devices, "device-runtime")}});
  if (!device.others.latency_ms.empty()) {
    const Metrics metrics = evaluate(device.of_others, device.others.latency_ms);
    facts.emplace_back("checked within ±5 %", percent(metrics.acc5));
    facts.emplace_back("mean error", percent(metrics.mape));
    if (!std::isnan(metrics.spearman)) facts.emplace_back("Spearman's ρ", decimals(metrics.spearman, 3));
  }
  page.facts(facts);
}

void add_comparison(Page& page, const Device& device) {
  const std::size_t used = device.used.latency_ms.size(), others = device.others.latency_ms.size();
  if (used + others == 0) return;
  std::vector<Series> series;
  const auto add = [&](const char* name, const AdaptationSet& measured, const Predictions& predictions) {
    series.push_back({name, marks_of(device, measured.architectures, measured.latency_ms, predictions.latency_ms)});
  };
  if (others > 0) add("not used", device.others, device.of_others);
  if (used > 0) add("adapted on", device.used, device.predictor.predict(device.used.architectures, judged_confidence));
  page.figure(
      "Predicted against measured",
      {"predicted-against-measured",
       scatter_plot(series, "Predicted against measured " + device.quantity() + ", with the band of ten percent",
                    device.predictor.quantity()),
       counted(used, "network") + " adapted on" +
           (others == 0 ? std::string() : ", " + std::to_string(others) + " others")});
  if (others == 0) return;
  page.figure("How large the errors are",
              {"errors", error_distribution_plot({series.front()}, "Share of networks within each relative error"),
               "Networks that were measured and not adapted on"});
}

void add_intervals(Page& page, const Device& device) {
  if (!device.predictor.has_intervals() || device.others.latency_ms.empty()) return;
  Series line{"held"};
  for (int asked = 50; asked <= 95; asked += 5) {
    const Predictions found = device.predictor.predict(device.others.architectures, asked / 100.0);
    line.marks.push_back({static_cast<double>(asked), 100 * evaluate(found, device.others.latency_ms).coverage});
  }
  page.figure("Do the intervals hold?",
              {"intervals", calibration_plot({line}), "On the dashed line they hold as often as they say"});
}

Page device_report(const fs::path& file, const DeviceReportOptions& options) {
  const std::unique_ptr<Predictor> predictor = load_predictor(file);
  const Device device = device_of(*predictor, options);
  Crowd crowd = crowd_of(device);
  std::vector<std::string> unusable;
  Predictions of_crowd;
  if (!crowd.architectures.empty()) {
    of_crowd = predictor->predict(crowd.architectures, judged_confidence);
    unusable = take_out_unusable(of_crowd, crowd.architectures, device.space(), predictor->quantity());
  }
  Page page("Predictor " + file.filename().string());
  add_verdict(page, device);
  page.warnings(device.warnings);
  page.warnings(unusable);
  add_facts(page, device);
  add_comparison(page, device);
  add_costs(page, device);
  if (!crowd.architectures.empty()) add_space(page, device, crowd, of_crowd);
  add_intervals(page, device);
  if (!device.lines.empty()) {
    page.heading("What was found");
    page.list(device.lines);
  }
  add_next(page, device, crowd);
  add_front(page, device);
  add_layers(page, device);
  add_explained(page, device);
  return page;
}

}  // namespace

std::vector<Mark> marks_of(const Device& device, const std::vector<Architecture>& architectures,
                           const std::vector<double>& x, const std::vector<double>& y) {
  std::vector<Mark> marks;
  for (std::size_t i = 0; i < architectures.size(); ++i) {
    marks.push_back({x[i], y[i], NAN, device.space().format(architectures[i])});
  }
  return marks;
}

Page make_report(const fs::path& what, const DeviceReportOptions& options) {
  const bool experiment = fs::is_directory(what);
  if (experiment && (!options.measured.empty() || options.accuracies || options.limit || !options.explained.empty())) {
    throw InputError(what.string() +
                     ": is an experiment's folder; measurements, accuracies, a limit and a network to " +
                     "explain are of a page on a predictor");
  }
  Page page = experiment ? experiment_report(what) : device_report(what, options);
  if (!options.commands.empty()) {
    page.heading("Commands");
    page.commands(options.commands);
  }
  return page;
}

}  // namespace tenshot::trainer::report
