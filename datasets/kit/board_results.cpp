#include "datasets/kit/board_results.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "datasets/tables/csv.h"
#include "datasets/tables/findings.h"
#include "descriptor/counters/operator_counts.h"
#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "nasbench/support/json_reader.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/text.h"

namespace tenshot::datasets {
namespace {

using nlohmann::json;

std::vector<double> checked(std::vector<double> times, const std::string& file) {
  if (times.empty()) throw FormatError(file + ": holds no time");
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (!std::isfinite(times[i]) || times[i] <= 0) {
      throw FormatError(file + ": run " + std::to_string(i + 1) + " took " + shortest(times[i]) +
                        " ms; expected a positive number");
    }
  }
  return times;
}

double number_of(const json& value, const std::string& place, const std::string& file) {
  if (!value.is_number()) throw FormatError(file + ": " + place + " is no number");
  return value.get<double>();
}

/// "cpu_core/cycles/u" and "cycles:u" are "cycles".
std::string plain_event(std::string_view field) {
  const std::vector<std::string_view> parts = split(field, '/');
  return std::string(split(parts.size() > 1 ? parts[1] : field, ':').front());
}

bool is_like(double clock, double level, bool fixed) {
  const double tolerance = fixed ? 0.05 : 0.25;
  return clock >= (1 - tolerance) * level && clock <= (1 + tolerance) * level;
}

}  // namespace

std::vector<std::string> fields_of(std::string_view line, char separator) {
  std::vector<std::string> fields;
  for (const std::string_view field : split(line, separator)) fields.emplace_back(trimmed(field));
  return fields;
}

std::vector<double> times_from_json(std::string_view text, const std::string& file, double warmup_ms) {
  const json object = parse_json(text, file);
  std::vector<double> times;
  if (object.is_object()) {
    const JsonReader reader(object, file, "");
    reader.require_format("tenshot.times/1", "list of run times");
    for (const json& time : reader.array("times_ms")) times.push_back(number_of(time, "an entry of times_ms", file));
    return checked(std::move(times), file);
  }
  if (!object.is_array()) throw FormatError(file + ": expected trtexec's list of runs, or a kit's times");
  for (std::size_t i = 0; i < object.size(); ++i) {
    const std::string place = "run " + std::to_string(i + 1);
    const JsonReader run(object[i], file, place);
    const json* start = run.find("startComputeMs");
    if (start != nullptr && number_of(*start, "the start of " + place, file) < warmup_ms) continue;
    const json* time = run.find("computeMs");
    if (time == nullptr) time = &run.require("latencyMs", "a number of ms");
    times.push_back(number_of(*time, "the time of " + place, file));
  }
  return checked(std::move(times), file);
}

std::vector<double> times_from_lines(std::string_view text, const std::string& file) {
  std::vector<double> times;
  std::size_t number = 0;
  for (const std::string_view line : lines_of(text)) {
    ++number;
    if (trimmed(line).empty()) continue;
    const std::optional<double> time = parse_number(line);
    if (!time) throw FormatError(file + ":" + std::to_string(number) + ": '" + excerpt(line) + "' is no number of ms");
    times.push_back(*time);
  }
  return checked(std::move(times), file);
}

std::vector<double> times_from_perf_test(std::string_view text, const std::string& file) {
  constexpr std::size_t after_model = 4;  // fields, counted from the right: the model's name may hold commas
  constexpr double ms_per_s = 1000;
  std::vector<double> times;
  for (const std::string_view line : split(text, '\n')) {
    const std::vector<std::string_view> fields = split(line, ',');
    if (fields.size() <= after_model) continue;
    const std::optional<double> seconds = parse_number(fields[fields.size() - after_model]);
    if (seconds) times.push_back(*seconds * ms_per_s);
  }
  return checked(std::move(times), file);
}

std::map<std::string, PerfStatCount> parse_perf_stat(std::string_view text) {
  std::map<std::string, PerfStatCount> counts;
  for (const std::string_view whole : split(text, '\n')) {
    const std::string_view line = trimmed(whole);
    if (line.empty() || line[0] == '#') continue;
    const std::vector<std::string> fields = fields_of(line, ',');  // value, unit, event, time, share of time, …
    if (fields.size() < 4 || fields[2].empty()) continue;
    PerfStatCount count;
    const std::optional<double> percent = fields.size() > 4 ? parse_number(fields[4]) : std::nullopt;
    if (percent && *percent >= 0 && *percent <= 100) count.running_percent = *percent;
    count.count = parse_number(fields[0]);  // no number: "<not supported>", "<not counted>"
    if (count.count && !(std::isfinite(*count.count) && *count.count >= 0)) count.count.reset();
    const auto [place, is_new] = counts.emplace(plain_event(fields[2]), count);
    if (is_new) continue;
    PerfStatCount& sum = place->second;  // the same event of another core type
    if (count.count) sum.count = sum.count.value_or(0) + *count.count;
    sum.running_percent = std::min(sum.running_percent, count.running_percent);
  }
  return counts;
}

KitNotes read_notes(const std::filesystem::path& path) {
  KitNotes notes;
  if (!is_file(path)) return notes;
  const std::string text = read_file(path);
  for (std::string_view line : split(text, '\n')) {
    if (ends_with(line, "\r")) line.remove_suffix(1);
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos || equals == 0) continue;
    notes.emplace(excerpt(trimmed(line.substr(0, equals))), excerpt(trimmed(line.substr(equals + 1)), 200));
  }
  return notes;
}

std::string note(const KitNotes& notes, const std::string& key) {
  const auto found = notes.find(key);
  return found == notes.end() ? std::string() : found->second;
}

std::vector<double> read_times(const std::filesystem::path& folder, const KitNotes& meta) {
  const std::filesystem::path times_json = folder / "times.json", times_txt = folder / "times.txt",
                              perf_test = folder / "perf_test.txt";
  const double warmup_ms = parse_number(note(meta, "warmup_ms")).value_or(0);
  if (is_file(times_json)) return times_from_json(read_file(times_json), times_json.string(), warmup_ms);
  if (is_file(times_txt)) return times_from_lines(read_file(times_txt), times_txt.string());
  if (is_file(perf_test)) return times_from_perf_test(read_file(perf_test), perf_test.string());
  throw FormatError(folder.string() + ": has neither times.json, times.txt nor perf_test.txt");
}

std::vector<double> counted_events(const std::filesystem::path& folder, std::set<std::string>& scaled) {
  using descriptor::default_counters;
  std::vector<double> counts(default_counters.size(), std::numeric_limits<double>::quiet_NaN());
  const KitNotes meta = read_notes(folder / "meta.txt");
  const auto few = parse_integer(note(meta, "short_runs")), many = parse_integer(note(meta, "long_runs"));
  if (!few || !many || *many <= *few) return counts;
  const auto file = [&](int pass, const char* length) {
    return folder / ("perf." + std::to_string(pass) + "." + length + ".csv");
  };
  for (int pass = 1; is_file(file(pass, "long")); ++pass) {
    if (!is_file(file(pass, "short"))) continue;
    const auto less = parse_perf_stat(read_file(file(pass, "short")));
    const auto more = parse_perf_stat(read_file(file(pass, "long")));
    for (std::size_t c = 0; c < counts.size(); ++c) {
      const std::string counter(default_counters[c]);
      const auto before = less.find(counter), after = more.find(counter);
      if (before == less.end() || after == more.end() || !before->second.count || !after->second.count) continue;
      const double events = *after->second.count - *before->second.count;
      if (events > 0) counts[c] = events / static_cast<double>(*many - *few);
      if (std::min(before->second.running_percent, after->second.running_percent) < 100) scaled.insert(counter);
    }
  }
  return counts;
}

std::optional<double> clock_level(const std::vector<NotedClocks>& architectures) {
  const auto known = std::count_if(architectures.begin(), architectures.end(),
                                   [](const NotedClocks& clocks) { return clocks.before.has_value(); });
  double level = 0;
  std::ptrdiff_t most = 0;
  for (const NotedClocks& one : architectures) {
    if (!one.before || !one.steady) continue;
    const auto candidate = static_cast<double>(*one.before);
    const auto like = std::count_if(architectures.begin(), architectures.end(), [&](const NotedClocks& other) {
      return other.before && other.steady && is_like(static_cast<double>(*other.before), candidate, other.fixed);
    });
    if (like > most || (like == most && candidate > level)) {
      most = like;
      level = candidate;
    }
  }
  if (most == 0 || 2 * most < known) return std::nullopt;
  return level;
}

bool is_at_level(const NotedClocks& clocks, double level) {
  const auto is_off = [&](const std::optional<long long>& clock) {
    return clock && !is_like(static_cast<double>(*clock), level, clocks.fixed);
  };
  return (!clocks.fixed && !clocks.steady) || (!is_off(clocks.before) && !is_off(clocks.after));
}

std::string in_words(const NotedClocks& clocks, double level) {
  const std::string usual = std::to_string(std::llround(level));
  const long long before = clocks.before.value_or(0);
  if (!clocks.steady) {
    return std::to_string(before) + " to " + std::to_string(clocks.after.value_or(0)) + ", and " + usual +
           " is that of most";
  }
  const double change = static_cast<double>(before) / level - 1;
  return std::to_string(before) + ", " + std::to_string(std::lround(100 * std::abs(change))) + " % " +
         (change < 0 ? "below" : "above") + " the " + usual + " of most";
}

}  // namespace tenshot::datasets
