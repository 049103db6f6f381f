#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

/// What measure.sh leaves in a kit's results/; for the sources of the kit only.
namespace tenshot::datasets {

/// The notes that it keeps, lines of key=value.
using KitNotes = std::map<std::string, std::string>;

/// Empty without the file; what is no such line is passed over.
KitNotes read_notes(const std::filesystem::path& path);

/// Empty without the key.
std::string note(const KitNotes& notes, const std::string& key);

/// The fields of a line, without the blanks around them.
std::vector<std::string> fields_of(std::string_view line, char separator);

// The run times that a kit's backends leave, milliseconds, in the order of the runs. All throw FormatError that names
// `file` where there is no time, or one that is not finite and positive.

/// trtexec --exportTimes: a list of objects, of which "computeMs" counts (the GPU's computing, without the copies to
/// and from it), or "latencyMs" where there is none; runs whose "startComputeMs" is under `warmup_ms` are passed over
/// (some releases export the warm-up too). Or the kit's own runners: {"format": "tenshot.times/1", "times_ms": […]}.
std::vector<double> times_from_json(std::string_view text, const std::string& file, double warmup_ms = 0);

/// Milliseconds, one a line; empty lines are passed over.
std::vector<double> times_from_lines(std::string_view text, const std::string& file);

/// onnxruntime_perf_test's result file: "model,seconds,peak working set,processor use,run" a line, among others.
std::vector<double> times_from_perf_test(std::string_view text, const std::string& file);

/// The times in a model's folder, of whichever of the files is there, with its notes. Throws FormatError as they do.
std::vector<double> read_times(const std::filesystem::path& folder, const KitNotes& meta);

/// One line of `perf stat -x,` (perf-stat(1), "CSV FORMAT").
struct PerfStatCount {
  std::optional<double> count;   ///< scaled by perf where it was multiplexed; nothing when perf says it has none
  double running_percent = 100;  ///< of the time; under 100, other events took turns and perf scaled the count
};

/// Events by name, without modifiers ("cycles:u" is "cycles") and without a PMU's prefix ("cpu_core/cycles/" is
/// "cycles"; of several core types the counts add up), in the locale C, which measure.sh sets. Lines that are comments,
/// or no count, are passed over; a line with a broken number is a count that is missing.
std::map<std::string, PerfStatCount> parse_perf_stat(std::string_view text);

/// Events a run that a model's folder tells, one a default counter, NaN where it does not: a long process minus a short
/// one, so that starting up cancels out. Adds the counters that perf scaled to `scaled`.
std::vector<double> counted_events(const std::filesystem::path& folder, std::set<std::string>& scaled);

/// What measure.sh noted of the clock that bounds the backend: Hz of a GPU, kHz of a processor, or nothing.
struct NotedClocks {
  std::optional<long long> before, after;
  bool steady = false;  ///< within 2 % of each other
  bool fixed = true;    ///< false where the board lets it follow the load
};

/// The clock at which a kit's architectures ran: the one that most of them had, within 5 %, where it did not move; the
/// faster of two that as many had. Nothing where fewer than half of those whose clocks are known had it. Clocks that
/// are not fixed follow the load, and looking before and after says little: within 25 % they count as one. measure.sh
/// measures again by the same rule (speed.sh).
std::optional<double> clock_level(const std::vector<NotedClocks>& architectures);

/// Whether a model ran at that clock, as far as one knows: a clock that follows the load and moved tells nothing.
bool is_at_level(const NotedClocks& clocks, double level);

/// "483000000, 47 % below the 918000000 of most"; "918000000 to 483000000, 918000000 is that of most" if it moved.
std::string in_words(const NotedClocks& clocks, double level);

}  // namespace tenshot::datasets
