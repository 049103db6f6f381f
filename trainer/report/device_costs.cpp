#include <algorithm>
#include <cmath>
#include <map>

#include "nasbench/support/error.h"
#include "nasbench/support/text.h"
#include "trainer/predictors/operators/network_costs.h"
#include "trainer/predictors/operators/operators_predictor.h"
#include "trainer/predictors/structured/explanation.h"
#include "trainer/predictors/structured/structured_predictor.h"
#include "trainer/report/device_parts.h"
#include "trainer/report/plot.h"
#include "trainer/report/text.h"

namespace tenshot::trainer::report {
namespace {

using operators::PartCost;

const StructuredPredictor* structured_of(const Device& device) {
  const auto* predictor = dynamic_cast<const StructuredPredictor*>(&device.predictor);
  return predictor != nullptr && predictor->has_intervals() ? predictor : nullptr;
}

const OperatorsPredictor* operators_of(const Device& device) {
  return dynamic_cast<const OperatorsPredictor*>(&device.predictor);
}

/// Bars of costs, the first of them at the top.
std::string bars_of(const std::vector<PartCost>& costs, const Device& device, const std::string& alternative_text) {
  std::vector<std::string> labels;
  Series bars{"cost", {}, {}, {}, {}};
  for (const PartCost& cost : costs) {
    bars.x.push_back(static_cast<double>(labels.size()));
    bars.y.push_back(cost.cost_ms);
    bars.spread.push_back(cost.deviation_ms);
    labels.push_back(cost.name);
  }
  return bar_plot(labels, bars, device.unit(), alternative_text);
}

/// The pool's devices that the posterior takes this one for, the most probable first.
template <class Components>
std::string nearest_devices(const Components& components, const std::vector<std::string>& devices) {
  constexpr std::size_t most = 3;
  std::map<std::size_t, double> probability;
  for (const auto& component : components) probability[component.entry] += component.weight;
  std::vector<std::pair<double, std::size_t>> ranked;
  for (const auto& [entry, share] : probability) {
    if (entry < devices.size()) ranked.emplace_back(-share, entry);
  }
  std::sort(ranked.begin(), ranked.end());
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < ranked.size() && i < most; ++i) {
    texts.push_back(devices[ranked[i].second] + " (" + decimals(-100 * ranked[i].first, 0) + " %)");
  }
  return joined(texts);
}

/// The kinds of which the most is spent, as many as there are colours, and last all others.
std::vector<std::string> dearest_kinds(const std::vector<PartCost>& parts) {
  constexpr std::size_t most = 7;
  std::map<std::string, double> sums;
  for (const PartCost& part : parts) sums[part.kind] += part.cost_ms;
  std::vector<std::string> kinds;
  for (const auto& entry : sums) kinds.push_back(entry.first);
  std::stable_sort(kinds.begin(), kinds.end(),
                   [&](const std::string& a, const std::string& b) { return sums[a] > sums[b]; });
  if (kinds.size() > most) kinds.resize(most);
  kinds.emplace_back("others");
  return kinds;
}

void add_explained_network(Page& page, const Device& device, const OperatorsPredictor& predictor,
                           const Architecture& architecture) {
  const std::vector<PartCost> parts =
      operators::network_costs(predictor.posterior(), predictor.features(), device.space(), architecture);
  const Predictions found = predictor.predict({architecture}, shown_confidence);
  const std::vector<std::string> groups = dearest_kinds(parts);
  std::vector<Column> columns;
  for (const PartCost& part : parts) {
    const auto own = std::find(groups.begin(), groups.end() - 1, part.kind);
    columns.push_back({part.name, static_cast<std::size_t>(own - groups.begin()), part.cost_ms, part.deviation_ms});
  }
  const std::string name = device.space().format(architecture);
  page.heading("Where the time of " + name + " goes", Page::Width::page);
  page.paragraph(device.value(found.latency_ms.front()) + ", with 90 % confidence " +
                 device.value(found.lower_ms.front()) + " to " + device.value(found.upper_ms.front()));
  std::vector<std::string> notes;
  for (const Unfamiliar& unfamiliar : predictor.unfamiliar({architecture})) {
    if (unfamiliar.operators.empty()) continue;
    notes.push_back("No network of the pool has these operators, and others stand in for them: " +
                    joined(unfamiliar.operators));
  }
  if (!notes.empty()) page.warnings(notes);
  page.figures({{"explained-" + name,
                 column_plot(columns, groups, {"operators, in order", device.quantity() + ", " + device.unit()},
                             device.unit(), "What each operator of " + name + " costs"),
                 "One bar for each operator in the network's order; lines are one standard deviation. The bars add up "
                 "to the prediction.",
                 true}});
  std::vector<PartCost> dearest = parts;
  constexpr std::size_t shown = 10;
  std::stable_sort(dearest.begin(), dearest.end(),
                   [](const PartCost& a, const PartCost& b) { return a.cost_ms > b.cost_ms; });
  if (dearest.size() > shown) dearest.resize(shown);
  HtmlTable table{
      "The " + std::to_string(dearest.size()) + " dearest parts", {"part", device.unit(), "±", "share"}, {}};
  for (const PartCost& part : dearest) {
    table.rows.push_back({part.name, significant(part.cost_ms), significant(part.deviation_ms),
                          percent(part.cost_ms / found.latency_ms.front())});
  }
  page.table(table);
}

}  // namespace

void add_costs(Page& page, const Device& device) {
  if (const StructuredPredictor* predictor = structured_of(device)) {
    std::vector<PartCost> costs;
    for (const structured::OperatorCost& cost : structured::explain(predictor->posterior()).costs) {
      costs.push_back({cost.name, "", cost.cost_ms, cost.deviation_ms});
    }
    page.heading("What operators cost");
    page.figures({{"costs", bars_of(costs, device, "Bars of what each operator costs, with its standard deviation"),
                   "Cost of one occurrence in the cell; lines are one standard deviation"}});
  } else if (const OperatorsPredictor* predictor = operators_of(device)) {
    if (device.used.architectures.empty()) return;
    page.heading("What operators cost");
    page.figures({{"costs",
                   bars_of(operators::costs_by_kind(predictor->posterior(), predictor->features(), device.space(),
                                                    device.used.architectures),
                           device, "Bars of what each kind of operator costs, with its standard deviation"),
                   "By kind, mean of the networks adapted on; lines are one standard deviation"}});
  }
}

void add_found(Page& page, const Device& device) {
  std::vector<std::string> lines;
  if (const StructuredPredictor* predictor = structured_of(device)) {
    const structured::Explanation found = structured::explain(predictor->posterior());
    for (const structured::StructureBelief& belief : found.structures) {
      lines.push_back("What the runtime executes: " + belief.meaning + " (" + percent(belief.probability) + ")");
    }
    lines.push_back("Noise of a measurement: " + percent(found.noise));
  } else if (const OperatorsPredictor* predictor = operators_of(device)) {
    const std::string nearest = nearest_devices(predictor->posterior().components, device.pool_devices);
    if (!nearest.empty()) lines.push_back("Most like these devices of the pool: " + nearest);
    lines.push_back("Noise of a measurement: " + percent(std::sqrt(predictor->posterior().noise_variance())));
  } else {
    lines = device.lines;
  }
  if (lines.empty()) return;
  page.heading("What was found");
  page.list(lines);
}

void add_explained(Page& page, const Device& device, const DeviceReportOptions& options) {
  if (options.explained.empty()) return;
  const OperatorsPredictor* predictor = operators_of(device);
  if (predictor == nullptr) {
    throw InputError("a predictor of kind '" + std::string(device.predictor.kind()) +
                     "' does not say what single operators of a network cost; one of kind 'operators' does");
  }
  for (const std::string& text : options.explained) {
    add_explained_network(page, device, *predictor,
                          options.parse ? options.parse(text, device.space()) : device.space().parse(text));
  }
}

}  // namespace tenshot::trainer::report
