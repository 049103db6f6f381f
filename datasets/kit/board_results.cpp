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

/// The fields of a line, without the blanks around them.
std::vector<std::string> fields_of(std::string_view line) {
  std::vector<std::string> fields;
  for (const std::string_view field : split(line, ',')) fields.emplace_back(trimmed(field));
  return fields;
}

/// "cpu_core/cycles/u" and "cycles:u" are "cycles".
std::string plain_event(std::string_view field) {
  const std::size_t slash = field.find('/');
  if (slash != std::string_view::npos) {
    field.remove_prefix(slash + 1);
    return std::string(field.substr(0, field.find('/')));
  }
  return std::string(field.substr(0, field.find(':')));
}

bool is_event(std::string_view field) {
  const bool starts = !field.empty() && ((field[0] >= 'a' && field[0] <= 'z') || (field[0] >= 'A' && field[0] <= 'Z'));
  return starts && field != "msec" && field != "ns" && field != "nan";
}

bool is_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// The fields [begin, end) as one number: one field, or two around a decimal comma.
std::optional<double> number_of(const std::vector<std::string>& fields, std::size_t begin, std::size_t end) {
  if (end - begin == 1) return parse_number(fields[begin]);
  if (end - begin == 2 && is_digits(fields[begin + 1])) return parse_number(fields[begin] + "." + fields[begin + 1]);
  return std::nullopt;
}

/// The share of time, which follows the event and the time it ran: "99.87", "100.00" or, with a comma, "99","87".
double percent_of(const std::vector<std::string>& fields, std::size_t event) {
  const std::size_t at = event + 2;
  if (at >= fields.size()) return 100;
  const bool comma =
      is_digits(fields[at]) && at + 1 < fields.size() && fields[at + 1].size() == 2 && is_digits(fields[at + 1]);
  const std::optional<double> percent = number_of(fields, at, at + (comma ? 2 : 1));
  return percent && *percent >= 0 && *percent <= 100 ? *percent : 100;
}

void add(std::map<std::string, PerfStatCount>& counts, const std::string& event, const PerfStatCount& more) {
  const auto [place, is_new] = counts.emplace(event, more);
  if (is_new) return;
  PerfStatCount& sum = place->second;  // the same event of another core type
  if (more.count) sum.count = sum.count.value_or(0) + *more.count;
  sum.running_percent = std::min(sum.running_percent, more.running_percent);
}

bool is_like(double clock, double level, bool fixed) {
  const double tolerance = fixed ? 0.05 : 0.25;
  return clock >= (1 - tolerance) * level && clock <= (1 + tolerance) * level;
}

}  // namespace

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
    const std::vector<std::string> fields = fields_of(line);
    // value, unit (often empty), event: a decimal comma in the value moves the event one field on.
    const auto event = std::find_if(fields.begin() + 1, fields.end(), is_event);
    const auto at = static_cast<std::size_t>(event - fields.begin());
    if (event == fields.end() || at < 2 || at > 3) continue;
    PerfStatCount count;
    count.running_percent = percent_of(fields, at);
    count.count = number_of(fields, 0, at - 1);  // no number: "<not supported>", "<not counted>"
    if (count.count && !(std::isfinite(*count.count) && *count.count >= 0)) count.count.reset();
    add(counts, plain_event(fields[at]), count);
  }
  return counts;
}

KitNotes read_notes(const std::filesystem::path& path) {
  KitNotes notes;
  if (!is_file(path)) return notes;
  const std::string text = read_file(path);
  for (const std::string_view line : split(text, '\n')) {
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
