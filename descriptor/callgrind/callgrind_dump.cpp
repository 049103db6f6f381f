#include "descriptor/callgrind/callgrind_dump.h"

#include <optional>
#include <utility>
#include <vector>

#include "nasbench/support/error.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/text.h"
#include "nasbench/support/words.h"

namespace tenshot::descriptor {
namespace {

constexpr std::size_t no_line = 0;

/// A line of the file, where errors can point to it.
struct Line {
  std::size_t number = no_line;
  std::string_view text;  ///< what follows the key
};

[[noreturn]] void fail(const std::string& file, std::size_t line, const std::string& message) {
  throw FormatError(file + (line == no_line ? "" : ":" + std::to_string(line)) + ": " + message);
}

/// Long numbers and strange bytes of a damaged file do not belong into a message as they are.
std::string shown(std::string_view text) {
  constexpr std::size_t most = 40;
  std::string printable;
  for (const char c : text.substr(0, most)) printable += c >= ' ' && c <= '~' ? c : '?';
  return "'" + printable + (text.size() > most ? "…'" : "'");
}

/// Counts may be fewer than events: the format leaves zeros at the end out.
std::map<std::string, double> counts_of(const Line& events, const Line& summary, const std::string& file) {
  const auto names = words_of<std::vector<std::string>>(std::string(events.text));
  const auto counts = words_of<std::vector<std::string>>(std::string(summary.text));
  if (names.empty()) fail(file, events.number, "'events:' names no event");
  if (counts.size() > names.size()) {
    fail(file, summary.number,
         "'summary:' has " + std::to_string(counts.size()) + " counts, expected at most " +
             std::to_string(names.size()) + ", one for each event");
  }
  std::map<std::string, double> result;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::optional<long long> count = i < counts.size() ? parse_integer(counts[i]) : 0;
    if (!count || *count < 0) {
      fail(file, summary.number, "'summary:' has " + shown(counts[i]) + ", expected a count of events");
    }
    if (!result.emplace(names[i], static_cast<double>(*count)).second) {
      fail(file, events.number, "'events:' names " + shown(names[i]) + " twice");
    }
  }
  return result;
}

/// The lines that matter here; the others say where in the program the events happened.
struct Lines {
  Line creator, trigger, events, summary, totals;
};

Lines lines_of(std::string_view text) {
  Lines lines;
  const std::pair<std::string_view, Line*> keys[] = {{"creator:", &lines.creator},
                                                     {"desc: Trigger: Client Request:", &lines.trigger},
                                                     {"events:", &lines.events},
                                                     {"summary:", &lines.summary},
                                                     {"totals:", &lines.totals}};
  std::size_t number = 0;
  // A line without its end is cut short, and not taken.
  for (std::size_t start = 0, end; (end = text.find('\n', start)) != std::string_view::npos; start = end + 1) {
    const std::string_view line = text.substr(start, end - start);
    ++number;
    for (const auto& [key, found] : keys) {
      if (begins_with(line, key)) *found = {number, trimmed(line.substr(key.size()))};
    }
  }
  return lines;
}

}  // namespace

CallgrindDump parse_callgrind_dump(std::string_view text, const std::string& file) {
  const Lines lines = lines_of(text);
  if (!begins_with(lines.creator.text, "callgrind-")) {
    fail(file, lines.creator.number,
         "not a callgrind dump: expected a line 'creator: callgrind-…', found " + shown(lines.creator.text));
  }
  if (lines.totals.number == no_line) {
    fail(file, no_line, "a callgrind dump that is cut short: expected a line 'totals:' at its end");
  }
  if (lines.events.number == no_line || lines.summary.number == no_line) {
    fail(file, no_line, "a damaged callgrind dump: expected lines 'events:' and 'summary:'");
  }
  return {std::string(lines.creator.text), std::string(lines.trigger.text),
          counts_of(lines.events, lines.summary, file)};
}

}  // namespace tenshot::descriptor
