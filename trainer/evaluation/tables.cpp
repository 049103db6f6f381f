#include <algorithm>
#include <cmath>
#include <map>

#include "nasbench/support/number_text.h"
#include "nasbench/support/text.h"
#include "trainer/evaluation/results.h"

namespace tenshot::trainer::evaluation {
namespace {

/// How a metric is written: acc10 as percent with one decimal, ρ with three.
struct Style {
  double factor = 1;
  int decimals = 3;
};

std::string number(double value, const Style& style) { return decimals(value * style.factor, style.decimals); }

std::string entry(const Spread& spread, const Style& style, bool best) {
  if (spread.count == 0) return "";
  std::string text = number(spread.mean, style);
  if (best) text = "**" + text + "**";
  return spread.count > 1 ? text + " ± " + number(spread.deviation, style) : text;
}

/// A table as its header and rows of equal length: methods down, targets across.
using Rows = std::vector<std::vector<std::string>>;

Rows header_of(const Summary& summary) {
  Rows rows = {{"method"}};
  for (const std::string& target : summary.targets) rows[0].push_back(markdown_escaped(target));
  return rows;
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
    for (const std::string& value : rows[r]) text += "| " + value + " ";
    text += "|\n";
    if (r > 0) continue;
    for (std::size_t c = 0; c < rows[r].size(); ++c) text += "|---";
    text += "|\n";
  }
  return text;
}

std::string table(const Summary& summary, MetricSummary VariantSummary::*metric, const Style& style) {
  const std::size_t columns = summary.targets.size() + (summary.targets.size() > 1);
  const auto spread = [&](const VariantSummary& v, std::size_t c) {
    return c < summary.targets.size() ? (v.*metric).targets[c] : (v.*metric).mean;
  };
  std::vector<std::string> best(columns);  // as written: values that look the same are equally good
  for (std::size_t c = 0; c < columns; ++c) {
    double highest = -HUGE_VAL;
    for (const VariantSummary& v : summary.variants) {
      const Spread value = spread(v, c);
      if (v.ceiling || value.count == 0 || value.mean <= highest) continue;
      highest = value.mean;
      best[c] = number(value.mean, style);
    }
  }
  Rows rows = header_of(summary);
  if (columns > summary.targets.size()) rows[0].emplace_back("mean");
  for (const VariantSummary& v : summary.variants) {
    std::vector<std::string> row = {markdown_escaped(v.label)};
    for (std::size_t c = 0; c < columns; ++c) {
      const Spread value = spread(v, c);
      const bool bold = !v.ceiling && value.count > 0 && number(value.mean, style) == best[c];
      row.push_back(entry(value, style, bold));
    }
    rows.push_back(row);
  }
  return markdown(rows, columns > rows.size());
}

/// How often 90 % intervals hold, of the methods that have them: the least of all targets beside the mean. Empty where
/// no method has any.
std::string coverage_section(const Summary& summary) {
  const Style percent = {100, 1};
  Rows rows = header_of(summary);
  if (summary.targets.size() > 1) rows[0].insert(rows[0].end(), {"mean", "least"});
  for (const VariantSummary& v : summary.variants) {
    std::vector<std::string> row = {markdown_escaped(v.label)};
    const Spread* least = nullptr;
    for (const Spread& of_target : v.coverage.targets) {
      row.push_back(entry(of_target, percent, false));
      if (of_target.count > 0 && (least == nullptr || of_target.mean < least->mean)) least = &of_target;
    }
    if (least == nullptr) continue;
    if (summary.targets.size() > 1) {
      row.push_back(entry(v.coverage.mean, percent, false));
      row.push_back(number(least->mean, percent));
    }
    rows.push_back(row);
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

/// Whether some method has a sampler, a number of samples or rounds of its own.
bool own_samples(const ExperimentSpec& spec) {
  return std::any_of(spec.methods.begin(), spec.methods.end(),
                     [](const Method& method) { return method.sampler || method.samples; });
}

/// "Descriptors used: maple-edge in-network + alone (36 cells), none (12); look-up none (48)."
std::string descriptors_line(const ExperimentResults& results) {
  std::string text;
  for (std::size_t m = 0; m < results.spec.methods.size(); ++m) {
    std::map<std::string, std::size_t> count;
    for (std::size_t c = 0; c < results.cells.size(); ++c) {
      const std::string& kind = results.cells[c].descriptor;
      if (results.grid.cells[c].method == m && !kind.empty()) ++count[kind];
    }
    std::string kinds;
    for (const auto& [kind, cells] : count) {
      kinds += (kinds.empty() ? " " : ", ") + kind + " (" + std::to_string(cells) + ")";
    }
    if (!kinds.empty())
      text += (text.empty() ? "" : "; ") + markdown_escaped(results.spec.methods[m].name) + ":" + kinds;
  }
  return text.empty() ? "" : "Kinds of descriptor used, and in how many cells: " + text + ".\n\n";
}

/// Says, where cells use counters that callgrind simulated, that no hardware counted them. experiments/pages.py says
/// the same of pages that were made before.
std::string counters_note(const ExperimentResults& results) {
  const auto using_them = std::count_if(results.cells.begin(), results.cells.end(), [](const CellResult& cell) {
    return cell.descriptor.find("counters") != std::string::npos;
  });
  std::size_t simulated = 0, counted = 0;
  for (const datasets::DeviceRuntime& device : results.data.train.devices) {
    if (!device.descriptor.has_counters()) continue;
    ++counted;
    simulated += device.descriptor.simulated() ? 1 : 0;
  }
  if (using_them == 0 || simulated == 0) return "";
  return "**The counters are simulated** by callgrind and not read from hardware, on " + std::to_string(simulated) +
         " of the " + std::to_string(counted) + " device-runtimes that have any. " + std::to_string(using_them) +
         " of " + std::to_string(results.cells.size()) + " cells use them.\n\n";
}

}  // namespace

std::string results_markdown(const ExperimentResults& results) {
  const ExperimentSpec& spec = results.spec;
  const Summary summary = summarise(results);
  const nlohmann::json& versions = results.description.at("versions");
  const std::string last_seed = std::to_string(spec.seed + static_cast<std::uint64_t>(spec.trials) - 1);
  std::string text = "# " + markdown_escaped(spec.name) + "\n\n" + counters_note(results);
  if (!spec.description.empty()) text += spec.description + "\n\n";
  text += "`" + command_of(spec) + "`: " + std::to_string(results.grid.cells.size()) + " cells, " +
          std::to_string(spec.trials) + (spec.trials == 1 ? " trial (seed " : " trials (seeds ") +
          std::to_string(spec.seed) + (spec.trials == 1 ? "" : " to " + last_seed) + "); every method of a trial " +
          (own_samples(spec) ? "that does not choose its own " : "") + "has the same samples. Data `" +
          results.data.sha256.substr(0, 16) + "`, tenshot " + versions.at("tenshot").get<std::string>() +
          ", LibTorch " + versions.at("libtorch").get<std::string>() + ". Each row of `results.csv` is one trial.\n\n";
  text += "Mean ± standard deviation over trials" +
          std::string(std::any_of(spec.pools.begin(), spec.pools.end(), [](const auto& p) { return p.one_at_a_time; })
                          ? " and, where pools hold one device-runtime, over these"
                          : "") +
          "; the best of each target in bold, ceilings (methods that measure every architecture of the training rows) "
          "aside.\n\n";
  text += descriptors_line(results);
  text += "## Share predicted within ±10 %, in percent\n\n" + table(summary, &VariantSummary::acc10, {100, 1}) + "\n";
  text += "## Share predicted within ±5 %, in percent\n\n" + table(summary, &VariantSummary::acc5, {100, 1}) + "\n";
  text += "## Spearman's ρ\n\n" + table(summary, &VariantSummary::spearman, {1, 3});
  text += coverage_section(summary);
  for (std::size_t n = 0; n < results.grid.notes.size(); ++n) {
    text += (n == 0 ? "\nLeft out: " : "; ") + markdown_escaped(results.grid.notes[n]) +
            (n + 1 == results.grid.notes.size() ? ".\n" : "");
  }
  return text;
}

}  // namespace tenshot::trainer::evaluation
