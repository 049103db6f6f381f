#include <algorithm>
#include <map>

#include "nasbench/support/number_text.h"
#include "nasbench/support/text.h"
#include "trainer/core/pool_archive.h"
#include "trainer/evaluation/results.h"

namespace tenshot::trainer::evaluation {
namespace {

using nlohmann::json;

/// How a metric is written: acc10 as percent with one decimal, ρ with three.
struct Style {
  double factor;
  int decimals;
};

std::string number(double value, const Style& style) { return decimals(value * style.factor, style.decimals); }

std::string entry(const json& spread, const Style& style, bool best = false) {
  if (spread.is_null()) return "";
  std::string text = number(spread.at("mean"), style);
  if (best) text = "**" + text + "**";
  return spread.at("count") > 1 ? text + " ± " + number(spread.at("deviation"), style) : text;
}

/// A table as its header and rows of equal length: methods down, targets across.
using Rows = std::vector<std::vector<std::string>>;

/// The header: the targets and, where there are several, their mean.
Rows header_of(const json& summary) {
  Rows rows = {{"method"}};
  for (const json& target : summary.at("targets")) rows[0].push_back(markdown_escaped(target.get<std::string>()));
  if (summary.at("targets").size() > 1) rows[0].emplace_back("mean");
  return rows;
}

/// What a variant has below that header.
std::vector<json> spreads_of(const json& variant, const std::string& metric, const json& summary) {
  std::vector<json> spreads;
  for (const json& target : summary.at("targets")) spreads.push_back(variant.at(metric).at(target.get<std::string>()));
  if (spreads.size() > 1) spreads.push_back(variant.at("mean_" + metric));
  return spreads;
}

/// The table, or with targets down and methods across.
std::string markdown(Rows rows, bool targets_down) {
  if (targets_down) {
    Rows turned(rows.front().size());
    for (const auto& row : rows) {
      for (std::size_t c = 0; c < row.size(); ++c) turned[c].push_back(row[c]);
    }
    turned[0][0] = "target";
    rows = std::move(turned);
  }
  std::string text;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    text += "| " + joined(rows[r], " | ") + " |\n";
    if (r == 0) text += "|" + joined(std::vector<std::string>(rows[r].size(), "---"), "|") + "|\n";
  }
  return text;
}

std::string table(const json& summary, const std::string& metric, const Style& style) {
  Rows rows = header_of(summary);
  const std::size_t columns = rows[0].size() - 1;
  const auto is_ceiling = [](const json& variant) { return variant.at("sampler") == "all"; };
  std::vector<double> highest(columns, -HUGE_VAL);
  for (const json& variant : summary.at("variants")) {
    const std::vector<json> spreads = spreads_of(variant, metric, summary);
    for (std::size_t c = 0; c < columns && !is_ceiling(variant); ++c) {
      highest[c] = std::fmax(highest[c], mean_of(spreads[c]));
    }
  }
  for (const json& variant : summary.at("variants")) {
    const std::vector<json> spreads = spreads_of(variant, metric, summary);
    rows.push_back({markdown_escaped(variant.at("label").get<std::string>())});
    for (std::size_t c = 0; c < columns; ++c) {  // values that look the same are equally good
      const bool best = !is_ceiling(variant) && number(mean_of(spreads[c]), style) == number(highest[c], style);
      rows.back().push_back(entry(spreads[c], style, best));
    }
  }
  return markdown(rows, columns > rows.size());
}

/// How often 90 % intervals hold, the least of all targets beside the mean; empty where no method has any.
std::string coverage_section(const json& summary) {
  const Style percent = {100, 1};
  Rows rows = header_of(summary);
  const bool several = summary.at("targets").size() > 1;
  if (several) rows[0].emplace_back("least");
  for (const json& variant : summary.at("variants")) {
    double least = HUGE_VAL;
    for (const json& spread : variant.at("coverage90")) least = std::fmin(least, mean_of(spread));
    if (least == HUGE_VAL) continue;
    rows.push_back({markdown_escaped(variant.at("label").get<std::string>())});
    for (const json& spread : spreads_of(variant, "coverage90", summary)) rows.back().push_back(entry(spread, percent));
    if (several) rows.back().push_back(number(least, percent));
  }
  if (rows.size() == 1) return "";
  return "\n## Latencies in their 90 % interval, in percent\n\n" + markdown(rows, rows[0].size() > rows.size());
}

std::string command_of(const ExperimentSpec& spec) {
  std::string name = excerpt(spec.name);
  std::replace(name.begin(), name.end(), '`', '?');  // it stands in a code span, which one would end
  const std::string mark = " (quick)";
  const bool quick = name.size() > mark.size() && name.substr(name.size() - mark.size()) == mark;
  if (quick) name.resize(name.size() - mark.size());
  return "tenshot experiment " + name + ".json" + (quick ? " --quick" : "") + " --out out/" + name;
}

/// "Kinds of descriptor used, and in how many cells: maple-edge: in-network + alone (36), none (12)."
std::string descriptors_line(const Experiment& experiment, const std::vector<CellResult>& results) {
  const std::vector<Method>& methods = experiment.spec.methods;
  std::vector<std::string> of_methods;
  for (std::size_t m = 0; m < methods.size(); ++m) {
    std::map<std::string, std::size_t> count;
    for (const CellResult& result : results) {
      if (result.cell.method == m && !result.descriptor.empty()) ++count[result.descriptor];
    }
    std::vector<std::string> kinds;
    for (const auto& [kind, cells] : count) kinds.push_back(kind + " (" + std::to_string(cells) + ")");
    if (!kinds.empty()) of_methods.push_back(markdown_escaped(methods[m].name) + ": " + joined(kinds));
  }
  if (of_methods.empty()) return "";
  return "Kinds of descriptor used, and in how many cells: " + joined(of_methods, "; ") + ".\n\n";
}

/// Says, where cells use counters that callgrind simulated, that no hardware counted them, as pages.py says.
std::string counters_note(const Experiment& experiment, const std::vector<CellResult>& results) {
  const auto using_them = std::count_if(results.begin(), results.end(), [](const CellResult& result) {
    return result.descriptor.find("counters") != std::string::npos;
  });
  std::size_t simulated = 0, counted = 0;
  for (const datasets::DeviceRuntime& device : experiment.data.train.devices) {
    if (!device.descriptor.has_counters()) continue;
    ++counted;
    simulated += device.descriptor.simulated() ? 1 : 0;
  }
  if (using_them == 0 || simulated == 0) return "";
  return "**The counters are simulated** by callgrind and not read from hardware, on " + std::to_string(simulated) +
         " of the " + std::to_string(counted) + " device-runtimes that have any. " + std::to_string(using_them) +
         " of " + std::to_string(results.size()) + " cells use them.\n\n";
}

}  // namespace

std::string results_markdown(const Experiment& experiment, const std::vector<CellResult>& results) {
  const ExperimentSpec& spec = experiment.spec;
  const json summary = summary_of(experiment, results), versions = version_card();
  const bool own_samples = std::any_of(spec.methods.begin(), spec.methods.end(), [](const Method& method) {
    return method.sampler || method.samples.value_or(every_sample) != every_sample;
  });
  const std::string last_seed = std::to_string(spec.seed_of(spec.trials - 1));
  std::string text = "# " + markdown_escaped(spec.name) + "\n\n" + counters_note(experiment, results);
  if (!spec.description.empty()) text += spec.description + "\n\n";
  text += "`" + command_of(spec) + "`: " + std::to_string(results.size()) + " cells, " + std::to_string(spec.trials) +
          (spec.trials == 1 ? " trial (seed " : " trials (seeds ") + std::to_string(spec.seed) +
          (spec.trials == 1 ? "" : " to " + last_seed) + "); every method of a trial " +
          (own_samples ? "that does not choose its own " : "") + "has the same samples. Data `" +
          experiment.data.sha256.substr(0, 16) + "`, tenshot " + versions.at("tenshot").get<std::string>() +
          ", LibTorch " + versions.at("libtorch").get<std::string>() + ". Each row of `results.csv` is one trial.\n\n";
  text += "Mean ± standard deviation over trials" +
          std::string(std::any_of(spec.pools.begin(), spec.pools.end(), [](const auto& p) { return p.one_at_a_time; })
                          ? " and, where pools hold one device-runtime, over these"
                          : "") +
          "; the best of each target in bold, ceilings (methods that measure every architecture of the training rows) "
          "aside.\n\n";
  text += descriptors_line(experiment, results);
  text += "## Share predicted within ±10 %, in percent\n\n" + table(summary, "acc10", {100, 1}) + "\n";
  text += "## Share predicted within ±5 %, in percent\n\n" + table(summary, "acc5", {100, 1}) + "\n";
  text += "## Spearman's ρ\n\n" + table(summary, "spearman", {1, 3});
  text += coverage_section(summary);
  if (!experiment.notes.empty()) text += "\nLeft out: " + markdown_escaped(joined(experiment.notes, "; ")) + ".\n";
  return text;
}

}  // namespace tenshot::trainer::evaluation
