#include <algorithm>

#include "datasets/tables/architecture_column.h"
#include "nasbench/support/numbers_below.h"
#include "trainer/core/adaptation.h"
#include "trainer/core/knowledge.h"
#include "trainer/report/device_parts.h"

namespace tenshot::trainer::report {
namespace {

constexpr std::uint64_t most_listed = 1'000'000;  ///< most architectures of a space that is shown as a whole
constexpr std::size_t draws = 2000;
constexpr std::size_t fastest_shown = 5, front_shown = 12, next_shown = 5, planned_among = 1500;

using Rows = std::vector<std::vector<std::string>>;

/// Those of `architectures` that `indices` name: the name, the accuracy where there is one, and what is predicted.
Rows rows_of(const Device& device, const std::vector<Architecture>& architectures, const Predictions& predictions,
             const std::vector<std::size_t>& indices, const std::vector<double>& accuracy = {}) {
  Rows rows;
  for (const std::size_t i : indices) {
    rows.push_back({device.space().format(architectures[i])});
    if (!accuracy.empty()) rows.back().push_back(significant(accuracy[i]));
    rows.back().push_back(device.value(predictions.latency_ms[i]));
    if (predictions.lower_ms.empty()) continue;
    rows.back().push_back(significant(predictions.lower_ms[i]) + " to " + significant(predictions.upper_ms[i]));
  }
  return rows;
}

std::string with_intervals(const Device& device, const std::string& caption) {
  return caption + (device.predictor.has_intervals() ? ", with 90 % intervals" : "");
}

/// Indices of what is more accurate than everything faster, the fastest first.
std::vector<std::size_t> pareto_front(const std::vector<double>& latency_ms, const std::vector<double>& accuracy) {
  std::vector<std::size_t> order = numbers_below(latency_ms.size()), front;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return latency_ms[a] != latency_ms[b] ? latency_ms[a] < latency_ms[b] : accuracy[a] > accuracy[b];
  });
  for (const std::size_t i : order) {
    if (front.empty() || accuracy[i] > accuracy[front.back()]) front.push_back(i);
  }
  return front;
}

/// At most `count` of `values`, evenly spread, with the first and the last.
std::vector<std::size_t> thinned(const std::vector<std::size_t>& values, std::size_t count) {
  if (values.size() <= count) return values;
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < count; ++i) kept.push_back(values[i * (values.size() - 1) / (count - 1)]);
  return kept;
}

/// Whether a network has anything to learn: not so a cell of NAS-Bench-201 without a convolution on its way.
bool is_useful(const NetworkSpace& space, const Architecture& architecture) {
  const nasbench::SearchSpace& cells = nasbench::nasbench201();
  return &space != &cells || cells.format(cells.canonical(architecture)).find("conv") != std::string::npos;
}

Rows first_useful(const Device& device, const std::vector<Architecture>& architectures, const Predictions& predictions,
                  const std::vector<std::size_t>& order) {
  std::vector<std::size_t> first;
  for (const std::size_t i : order) {
    if (first.size() == fastest_shown) break;
    if (is_useful(device.space(), architectures[i])) first.push_back(i);
  }
  return rows_of(device, architectures, predictions, first);
}

/// What may be measured next: connected, not measured yet, and few enough to choose from in a moment.
std::vector<Architecture> candidates_of(const Device& device, const Crowd& crowd) {
  std::vector<Architecture> measured = device.used.architectures, some;
  measured.insert(measured.end(), device.others.architectures.begin(), device.others.architectures.end());
  const std::size_t step = std::max<std::size_t>(crowd.architectures.size() / planned_among, 1);
  for (std::size_t i = 0; i < crowd.architectures.size(); i += step) some.push_back(crowd.architectures[i]);
  return not_measured(device.space(), some, measured, some.size());
}

}  // namespace

Crowd crowd_of(const Device& device) {
  const nasbench::SearchSpace* space = device.space().search_space();
  if (space == nullptr) return {device.own, std::to_string(device.own.size()) + " networks of yours"};
  if (space->size().value_or(UINT64_MAX) <= most_listed) {
    std::vector<Architecture> all = space->all();
    const std::string words = "All " + std::to_string(all.size()) + " architectures";
    return {std::move(all), words};
  }
  Crowd crowd{{}, std::to_string(draws) + " architectures drawn from the space"};
  Rng rng(1);
  for (std::size_t i = 0; i < draws; ++i) crowd.architectures.push_back(space->random(rng));
  return crowd;
}

void add_space(Page& page, const Device& device, const Crowd& crowd, const Predictions& predictions) {
  const std::optional<double> limit = device.options.limit;
  const std::vector<double>& latency_ms = predictions.latency_ms;
  const std::vector<std::size_t> order = fastest_first(latency_ms);
  Series curve{"predicted"};
  constexpr std::size_t points = 100;
  for (std::size_t k = 0; k <= points; ++k) {
    const std::size_t i = order[k * (order.size() - 1) / points];
    curve.marks.push_back({100.0 * static_cast<double>(k) / points, latency_ms[i]});
    if (predictions.lower_ms.empty()) continue;
    curve.marks.back().low = predictions.lower_ms[i];
    curve.marks.back().high = predictions.upper_ms[i];
  }
  Axes axes{std::string("share of networks, percent, ") + (device.in_time() ? "fastest" : "least") + " first",
            device.quantity() + ", " + device.unit()};
  axes.from_zero = true;
  page.figure(device.space().search_space() != nullptr ? "The whole space" : "Your networks",
              {"space",
               line_plot({curve}, axes,
                         datasets::in_words_of(device.predictor.quantity(),
                                               "Predicted latencies of networks in ascending order")),
               crowd.words + ", from " + device.value(latency_ms[order.front()]) + " to " +
                   device.value(latency_ms[order.back()])});
  const std::string useful = &device.space() == &nasbench::nasbench201() ? " with a convolution" : "";
  page.entries(with_intervals(device, (device.in_time() ? "The fastest" : "The least") + useful),
               first_useful(device, crowd.architectures, predictions, order));
  if (!limit) return;
  std::vector<std::size_t> within(order.begin(), std::partition_point(order.begin(), order.end(), [&](std::size_t i) {
                                    return latency_ms[i] <= *limit;
                                  }));
  page.paragraph(std::to_string(within.size()) + " of them are predicted within " + device.value(*limit));
  std::reverse(within.begin(), within.end());
  if (within.empty()) return;
  page.entries(with_intervals(device, "The nearest within " + device.value(*limit) + useful),
               first_useful(device, crowd.architectures, predictions, within));
}

void add_front(Page& page, const Device& device) {
  const std::optional<double> limit = device.options.limit;
  if (!device.options.accuracies) return;
  const datasets::Accuracies read = datasets::read_accuracies(*device.options.accuracies, device.space());
  const Predictions predictions = device.predictor.predict(read.architectures, judged_confidence);
  const std::vector<std::size_t> front = pareto_front(predictions.latency_ms, read.accuracy);
  const std::vector<Mark> all = marks_of(device, read.architectures, predictions.latency_ms, read.accuracy);
  std::vector<Mark> best;
  for (const std::size_t i : front) best.push_back(all[i]);
  page.heading("Pareto front of " + device.quantity() + " and accuracy", Page::Width::halves);
  if (!read.left_out.empty()) page.warnings({read.left_out});
  page.figures({{"pareto-front",
                 front_plot(all, best, limit.value_or(NAN),
                            {"predicted " + device.quantity() + ", " + device.unit(), "accuracy"},
                            "Accuracy against predicted " + device.quantity() + ", with the Pareto front"),
                 std::to_string(front.size()) + " of " + std::to_string(all.size()) +
                     " networks are more accurate than all that are predicted to take less"}});
  const auto rows = [&](const std::vector<std::size_t>& indices) {
    return rows_of(device, read.architectures, predictions, indices, read.accuracy);
  };
  page.entries(with_intervals(device, "Of the front: accuracy, " + device.quantity()),
               rows(thinned(front, front_shown)));
  if (!limit) return;
  const auto beyond = std::partition_point(front.begin(), front.end(),
                                           [&](std::size_t i) { return predictions.latency_ms[i] <= *limit; });
  if (beyond == front.begin()) return page.paragraph("None of them is predicted within " + device.value(*limit));
  page.entries("The most accurate within " + device.value(*limit), rows({*(beyond - 1)}));
}

void add_next(Page& page, const Device& device, const Crowd& crowd) {
  const std::vector<Architecture> candidates = candidates_of(device, crowd);
  const std::optional<NextMeasurements> worth = next_measurements(device.predictor, candidates, next_shown);
  if (!worth) return;
  page.heading("What to measure next");
  page.paragraph("Predictions are uncertain by " + percent(worth->before) + " beside the noise; these " +
                 std::to_string(worth->chosen.size()) + " would leave " + percent(worth->after) + ".");
  std::vector<Architecture> next;
  for (const std::size_t i : worth->chosen) next.push_back(candidates[i]);
  const Predictions predictions = device.predictor.predict(next, judged_confidence);
  page.entries(
      "The most informative first, with what is expected. tenshot plan --measurements chooses among all you name.",
      rows_of(device, next, predictions, numbers_below(next.size())));
}

}  // namespace tenshot::trainer::report
