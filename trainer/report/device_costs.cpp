#include <algorithm>

#include "datasets/tables/network_sources.h"
#include "nasbench/support/error.h"
#include "nasbench/support/median.h"
#include "nasbench/support/text.h"
#include "trainer/core/prediction_table.h"
#include "trainer/predictors/operators/operator_times.h"
#include "trainer/report/device_parts.h"

namespace tenshot::trainer::report {
namespace {

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

void add_explained_network(Page& page, const Device& device, const Architecture& architecture,
                           const std::vector<PartCost>& parts) {
  const Predictions found = device.predictor.predict({architecture}, judged_confidence);
  require_usable(found, {architecture}, device.space(), device.predictor.quantity());
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
  for (const Unfamiliar& unfamiliar : device.predictor.unfamiliar({architecture})) {
    if (unfamiliar.operators.empty()) continue;
    notes.push_back("No measured network has these operators, and other devices or operators stand in for them: " +
                    joined(unfamiliar.operators));
  }
  page.warnings(notes);
  page.figures(
      {{"explained-" + name,
        column_plot(columns, groups, {"operators, in order", device.quantity() + ", " + device.unit()}, device.unit(),
                    "What each operator of " + name + " costs"),
        "One bar for each operator, in order, and its standard deviation; the bars add up to the prediction.", true}});
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

/// What a profile says of an operator of a network beside what the predictor explains it by, ms.
struct Layer {
  std::string name;
  std::optional<double> measured_ms;  ///< nothing where another one executes it, or the profile does not name it
  double explained_ms = 0;

  double difference_ms() const { return explained_ms - measured_ms.value_or(explained_ms); }
};

void add_layers_of(Page& page, const Device& device, const std::string& name, double latency_ms,
                   const std::vector<Layer>& layers) {
  std::vector<Column> columns;
  std::vector<Layer> timed;
  double measured_ms = 0, explained_ms = 0;
  for (const Layer& layer : layers) {
    columns.push_back({layer.name, 0, layer.measured_ms.value_or(0)});
    columns.push_back({layer.name, 1, layer.explained_ms});
    if (layer.measured_ms) timed.push_back(layer);
    measured_ms += layer.measured_ms.value_or(0);
    explained_ms += layer.explained_ms;
  }
  page.heading("Layers of " + name, Page::Width::page);
  page.paragraph("Its profile times " + std::to_string(timed.size()) + " of " + std::to_string(layers.size()) +
                 " operators, together " + device.value(measured_ms) + "; explained are " + device.value(explained_ms) +
                 ". Without a profiler it took " + device.value(latency_ms) + ".");
  page.figures(
      {{"layers-" + name,
        column_plot(columns, {"measured", "explained"}, {"operators, in order", "latency, ms"}, device.unit(),
                    "What each operator of " + name + " took beside what explains it"),
        "Two bars for each operator, in order: what the profile says, and what the predictor holds it for", true}});
  std::stable_sort(timed.begin(), timed.end(), [](const Layer& a, const Layer& b) {
    return std::abs(a.difference_ms()) > std::abs(b.difference_ms());
  });
  const auto equal = [](const Layer& a, const Layer& b) { return a.name == b.name; };
  timed.erase(std::unique(timed.begin(), timed.end(), equal), timed.end());
  HtmlTable table{"Where measured and explained differ most",
                  {"operator", "measured, ms", "explained, ms", "explained less measured"},
                  {}};
  constexpr std::size_t shown = 5;
  for (std::size_t i = 0; i < std::min(shown, timed.size()); ++i) {
    table.rows.push_back({timed[i].name, significant(*timed[i].measured_ms), significant(timed[i].explained_ms),
                          significant(timed[i].difference_ms())});
  }
  page.table(table);
}

}  // namespace

void add_layers(Page& page, const Device& device) {
  std::map<std::string, std::map<std::string, std::vector<double>>> profiles;
  for (const datasets::OperatorLatency& layer : device.layers) {
    profiles[layer.network][operators::operator_key(layer.operation)].push_back(layer.latency_ms);
  }
  for (const AdaptationSet* measured : {&device.used, &device.others}) {
    for (std::size_t i = 0; i < measured->architectures.size(); ++i) {
      const std::string name = device.space().format(measured->architectures[i]);
      auto profile = profiles.find(name);
      if (profile == profiles.end()) profile = profiles.find("");  // medians over networks
      if (profile == profiles.end()) continue;
      std::vector<Layer> layers;
      for (const PartCost& part : device.predictor.network_costs(measured->architectures[i])) {
        if (part.key.empty()) continue;
        layers.push_back({part.name, {}, part.cost_ms});
        const auto found = profile->second.find(part.key);
        if (found != profile->second.end()) layers.back().measured_ms = median(found->second);
      }
      if (!layers.empty()) add_layers_of(page, device, name, measured->latency_ms[i], layers);
    }
  }
}

void add_costs(Page& page, const Device& device) {
  std::vector<PartCost> costs = device.predictor.operator_costs(device.used.architectures);
  if (costs.empty()) return;
  const bool by_kind = !costs.front().kind.empty();
  double sum_ms = 0;
  for (const PartCost& cost : costs) sum_ms += cost.cost_ms;
  constexpr double negligible = 0.005;  // a bar that nobody sees; those by kind are in descending order
  while (by_kind && costs.size() > 1 && costs.back().cost_ms < negligible * sum_ms) costs.pop_back();
  std::vector<Mark> bars;
  for (const PartCost& cost : costs) bars.push_back({0, cost.cost_ms, cost.deviation_ms, cost.name});
  page.figure("What operators cost",
              {"costs", bar_plot(bars, device.unit(), "Bars of what operators cost, with their standard deviation"),
               std::string(by_kind ? "By kind, mean of the networks adapted on; without what is below 0.5 % of them"
                                   : "Cost of one occurrence in the cell") +
                   "; lines are one standard deviation"});
  if (std::none_of(costs.begin(), costs.end(), [](const PartCost& cost) { return cost.cost_ms < 0; })) return;
  page.paragraph(
      "A cost below zero is drawn at zero. Costs are inferred from whole networks: such an operator takes no time that "
      "the measurements can tell from none, or it saves time elsewhere in the network.");
}

void add_explained(Page& page, const Device& device) {
  for (const std::string& text : device.options.explained) {
    const Architecture architecture = datasets::architecture_or_file(text, device.space(), device.options.read);
    const std::vector<PartCost> parts = device.predictor.network_costs(architecture);
    if (parts.empty()) {
      throw InputError("a predictor of kind '" + std::string(device.predictor.kind()) +
                       "' does not say what single operators of a network cost; one of kind 'operators' does");
    }
    add_explained_network(page, device, architecture, parts);
  }
}

}  // namespace tenshot::trainer::report
