#include "datasets/kit/perf_stat.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "nasbench/support/numbers.h"

namespace tenshot::datasets {
namespace {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> fields;
  while (true) {
    const std::size_t end = text.find(separator);
    fields.emplace_back(trimmed(text.substr(0, end)));
    if (end == std::string_view::npos) return fields;
    text.remove_prefix(end + 1);
  }
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
  if (sum.count) sum.missing.clear();
  sum.running_percent = std::min(sum.running_percent, more.running_percent);
}

}  // namespace

std::map<std::string, PerfStatCount> parse_perf_stat(std::string_view text) {
  std::map<std::string, PerfStatCount> counts;
  for (const std::string& line : split(text, '\n')) {
    if (line.empty() || line[0] == '#') continue;
    const std::vector<std::string> fields = split(line, ',');
    // value, unit (often empty), event: a decimal comma in the value moves the event one field on.
    const auto event = std::find_if(fields.begin() + 1, fields.end(), is_event);
    const auto at = static_cast<std::size_t>(event - fields.begin());
    if (event == fields.end() || at < 2 || at > 3) continue;
    PerfStatCount count;
    count.running_percent = percent_of(fields, at);
    if (fields[0].size() > 2 && fields[0].front() == '<' && fields[0].back() == '>') {
      count.missing = fields[0].substr(1, fields[0].size() - 2);
    } else {
      count.count = number_of(fields, 0, at - 1);
      if (count.count && !(std::isfinite(*count.count) && *count.count >= 0)) count.count.reset();
      if (!count.count) count.missing = "unreadable";
    }
    add(counts, plain_event(fields[at]), count);
  }
  return counts;
}

}  // namespace tenshot::datasets
