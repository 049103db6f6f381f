#include "datasets/tables/quantity.h"

#include <algorithm>
#include <cmath>
#include <regex>

#include "nasbench/support/error.h"
#include "nasbench/support/median.h"
#include "nasbench/support/text.h"

namespace tenshot::datasets {
namespace {

struct Names {
  std::string_view name, title, plural, unit, suffix;
};

const Names& names_of(Quantity quantity) {
  static constexpr std::array<Names, all_quantities.size()> names = {{
      {"latency", "latency", "latencies", "ms", "ms"},
      {"cold", "cold latency", "cold latencies", "ms", "ms"},
      {"energy", "energy", "energies", "mJ", "mj"},
      {"memory", "peak memory", "peak memories", "MiB", "mib"},
  }};
  return names[static_cast<std::size_t>(quantity)];
}

}  // namespace

std::string_view name(Quantity quantity) { return names_of(quantity).name; }
std::string_view title(Quantity quantity) { return names_of(quantity).title; }
std::string_view unit(Quantity quantity) { return names_of(quantity).unit; }

std::string column(std::string_view start, Quantity quantity) {
  return std::string(start) + "_" + std::string(names_of(quantity).suffix);
}

std::string column(Quantity quantity) { return column(name(quantity), quantity); }

Quantity quantity_named(std::string_view text) {
  const auto found = std::find_if(all_quantities.begin(), all_quantities.end(),
                                  [&](Quantity quantity) { return name(quantity) == text; });
  if (found == all_quantities.end()) {
    throw InputError("there is no quantity '" + excerpt(text) + "'; there are: " + quantity_list());
  }
  return *found;
}

std::string quantity_list() {
  std::vector<std::string> names;
  for (const Quantity quantity : all_quantities) names.emplace_back(name(quantity));
  return joined(names);
}

std::vector<Quantity> quantities_in(const std::vector<std::string>& columns) {
  std::vector<Quantity> found;
  for (const Quantity quantity : all_quantities) {
    if (std::find(columns.begin(), columns.end(), column(quantity)) != columns.end()) found.push_back(quantity);
  }
  return found;
}

std::string in_words_of(Quantity quantity, std::string text) {
  if (quantity == Quantity::latency) return text;
  const Names& names = names_of(quantity);
  static const std::regex key("latency_ms\\b"), suffix("_ms(2?)\\b"), unit("\\bms\\b"), plural("\\blatencies\\b"),
      singular("\\blatency\\b"), time("\\bthe time of\\b");
  text = std::regex_replace(text, key, column(quantity));
  text = std::regex_replace(text, suffix, "_" + std::string(names.suffix) + "$1");
  text = std::regex_replace(text, unit, std::string(names.unit));
  text = std::regex_replace(text, plural, std::string(names.plural));
  text = std::regex_replace(text, singular, std::string(names.title));
  return std::regex_replace(text, time, "the " + std::string(names.title) + " of");
}

double milliseconds_of(std::string_view unit) {
  if (unit == "s") return 1000;
  if (unit == "ms") return 1;
  if (unit == "us") return 1e-3;
  throw InputError("unit '" + excerpt(unit) + "': expected s, ms or us");
}

std::string unit_doubt(std::vector<double> ratios, const std::string& first, const std::string& second) {
  if (ratios.empty()) return "";
  const double decades = std::log10(median(std::move(ratios)));
  constexpr double near = 0.15;  // of a decade: a board that is 1.4 times as slow today
  for (const int unit : {3, 6}) {
    if (std::abs(std::abs(decades) - unit) > near) continue;
    const std::string& larger = decades > 0 ? first : second;
    return larger + " has about " + (unit == 3 ? "a thousand" : "a million") + " times the latencies of " +
           (decades > 0 ? second : first) + " for the same networks: are they in another unit? Latencies are in ms";
  }
  return "";
}

}  // namespace tenshot::datasets
