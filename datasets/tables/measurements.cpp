#include "datasets/tables/measurements.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "datasets/tables/architecture_column.h"
#include "datasets/tables/csv.h"
#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "nasbench/support/numbers.h"

namespace tenshot::datasets {
namespace {

std::string expected_columns(Quantity quantity) {
  return "architecture," + column(quantity) + "[," + column("stddev", quantity) + ",runs]";
}

/// The position of the quantity's column. Throws InputError, and says which other quantity the file holds.
std::size_t require_column(const CsvReader& csv, Quantity quantity) {
  try {
    return csv.require(column(quantity), expected_columns(quantity));
  } catch (const InputError& error) {
    const std::vector<Quantity> others = quantities_in(csv.header());
    if (csv.find(column(quantity)) || others.empty()) throw;
    throw InputError(std::string(error.what()) + "; it holds " + column(others.front()) + ", which is --quantity " +
                     std::string(name(others.front())));
  }
}

bool equal_ignoring_case(std::string_view text, std::string_view lower_case) {
  return std::equal(text.begin(), text.end(), lower_case.begin(), lower_case.end(),
                    [](char c, char lower) { return (c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c) == lower; });
}

bool is_missing(std::string_view text) {
  constexpr std::array<std::string_view, 5> words = {"", "nan", "na", "n/a", "null"};
  return std::any_of(words.begin(), words.end(), [&](auto word) { return equal_ignoring_case(text, word); });
}

/// The optional columns of a measurements table.
class OptionalColumns {
 public:
  OptionalColumns(const CsvReader& csv, Quantity quantity) : csv_(csv), stddev_name_(column("stddev", quantity)) {
    const std::string expected = expected_columns(quantity);
    if (csv.find(stddev_name_)) stddev_ = csv.require(stddev_name_, expected);
    if (csv.find("runs")) runs_ = csv.require("runs", expected);
    if (csv.find("sentinel_ms")) sentinel_ = csv.require("sentinel_ms", expected);
  }

  void read(Measurement& row, Findings& findings) const {
    if (stddev_) row.stddev_ms = read_ms(*stddev_, stddev_name_, findings);
    if (sentinel_) row.sentinel_ms = read_ms(*sentinel_, "sentinel_ms", findings);
    if (runs_) read_runs(row, findings);
  }

 private:
  /// NaN where the column has no usable number.
  double read_ms(std::size_t column, const std::string& name, Findings& findings) const {
    const std::string_view text = trimmed(csv_.fields()[column]);
    const LatencyEntry entry = parse_latency(text);
    if (!entry.problem || entry.problem == Problem::zero) return entry.latency_ms;
    if (entry.problem != Problem::missing) {
      findings.add({*entry.problem, csv_.file(), csv_.line(), name, std::string(text)});
    }
    return std::numeric_limits<double>::quiet_NaN();
  }

  void read_runs(Measurement& row, Findings& findings) const {
    const std::string_view text = trimmed(csv_.fields()[*runs_]);
    if (is_missing(text)) return;
    const std::optional<long long> runs = parse_integer(text);
    if (runs && *runs >= 0) {
      row.runs = *runs;
    } else {
      findings.add(
          {runs ? Problem::negative : Problem::not_a_number, csv_.file(), csv_.line(), "runs", std::string(text)});
    }
  }

  const CsvReader& csv_;
  std::string stddev_name_;
  std::optional<std::size_t> stddev_;
  std::optional<std::size_t> runs_;
  std::optional<std::size_t> sentinel_;
};

}  // namespace

std::vector<Architecture> Measurements::architectures() const {
  std::vector<Architecture> result;
  result.reserve(rows.size());
  for (const Measurement& row : rows) result.push_back(row.architecture);
  return result;
}

std::vector<double> Measurements::latencies_ms() const {
  std::vector<double> result;
  result.reserve(rows.size());
  for (const Measurement& row : rows) result.push_back(row.latency_ms);
  return result;
}

LatencyEntry parse_latency(std::string_view text) {
  text = trimmed(text);
  const std::optional<double> value = parse_number(text);
  if (!value) return {0, is_missing(text) ? Problem::missing : Problem::not_a_number};
  if (std::isnan(*value)) return {0, Problem::missing};
  if (std::isinf(*value)) return {0, Problem::not_finite};
  if (*value == 0) return {0, Problem::zero};
  if (*value < 0) return {0, Problem::negative};
  return {*value, std::nullopt};
}

bool are_whole_milliseconds(const std::vector<double>& latencies_ms) {
  constexpr std::size_t enough = 5;
  return latencies_ms.size() >= enough && std::all_of(latencies_ms.begin(), latencies_ms.end(), [](double value) {
           return !std::isfinite(value) || value == std::floor(value);
         });
}

Measurements parse_measurements(std::string_view text, const std::string& file, const NetworkSpace& space,
                                Quantity quantity) {
  CsvReader csv(text, file);
  ArchitectureColumn architectures(csv, space, expected_columns(quantity));
  const std::string value_column = column(quantity);
  const std::size_t latency = require_column(csv, quantity);
  const OptionalColumns optional(csv, quantity);

  Measurements result;
  while (csv.next()) {
    ++result.entries;
    const std::optional<Architecture> architecture = architectures.read(result.findings);
    if (!architecture) continue;
    const std::string_view field = trimmed(csv.fields()[latency]);
    const LatencyEntry entry = parse_latency(field);
    if (entry.problem) {
      result.findings.add({*entry.problem, file, csv.line(), value_column, std::string(field)});
      continue;
    }
    Measurement& row = result.rows.emplace_back();
    row.architecture = *architecture;
    row.latency_ms = entry.latency_ms;
    optional.read(row, result.findings);
  }
  result.whole_milliseconds = are_whole_milliseconds(result.latencies_ms());
  return result;
}

Measurements read_measurements(const std::filesystem::path& path, const NetworkSpace& space, Quantity quantity) {
  return parse_measurements(read_file(path), name_in_messages(path), space, quantity);
}

std::vector<Quantity> quantities_of_file(const std::filesystem::path& path) {
  const std::string text = read_file(path);
  return quantities_in(CsvReader(text, name_in_messages(path)).header());
}

void write_measurements(const std::filesystem::path& path, const std::vector<Measurement>& rows,
                        const NetworkSpace& space, Quantity quantity) {
  const bool sentinel =
      std::any_of(rows.begin(), rows.end(), [](const Measurement& row) { return !std::isnan(row.sentinel_ms); });
  std::string text = "architecture," + column(quantity) + "," + column("stddev", quantity) + ",runs";
  text += sentinel ? ",sentinel_ms\n" : "\n";
  constexpr std::size_t typical_row = 128;
  text.reserve(text.size() + rows.size() * typical_row);
  for (const Measurement& row : rows) {
    space.append_format(text, row.architecture);
    text.push_back(',');
    append_shortest(text, row.latency_ms);
    text.push_back(',');
    if (!std::isnan(row.stddev_ms)) append_shortest(text, row.stddev_ms);
    text.push_back(',');
    if (row.runs > 0) text += std::to_string(row.runs);
    if (sentinel) text.push_back(',');
    if (!std::isnan(row.sentinel_ms)) append_shortest(text, row.sentinel_ms);
    text.push_back('\n');
  }
  write_file_atomically(path, text);
}

ArchitectureList read_architectures(const std::filesystem::path& path, const NetworkSpace& space) {
  const std::string text = read_file(path);
  CsvReader csv(text, name_in_messages(path));
  ArchitectureColumn column(csv, space, "architecture");
  ArchitectureList result;
  while (csv.next()) {
    if (const auto architecture = column.read(result.findings)) result.architectures.push_back(*architecture);
  }
  return result;
}

}  // namespace tenshot::datasets
