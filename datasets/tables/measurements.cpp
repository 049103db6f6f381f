#include "datasets/tables/measurements.h"

#include <cmath>

#include "datasets/tables/architecture_column.h"
#include "datasets/tables/csv.h"
#include "nasbench/support/files.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/words.h"

namespace tenshot::datasets {
namespace {

std::string expected_columns(Quantity quantity) {
  return "architecture," + column(quantity) + "[," + column("stddev", quantity) +
         ",runs]; dataset import --table reads tables of devices, and benchncnn's logs";
}

/// The position of the quantity's column. Throws InputError, and says which other quantity the file holds.
std::size_t require_column(const CsvReader& csv, Quantity quantity) {
  try {
    return csv.require(column(quantity), expected_columns(quantity));
  } catch (const InputError& error) {
    const std::vector<Quantity> others = quantities_in(csv.header());
    if (csv.find(column(quantity))) throw;
    for (const std::string& other : csv.header()) {
      if (!says_another_unit(lower_case(other))) continue;
      throw InputError(std::string(error.what()) + "; '" + excerpt(other) + "' seems to be in another unit");
    }
    if (others.empty()) throw;
    throw InputError(std::string(error.what()) + "; it holds " + column(others.front()) + ", which is --quantity " +
                     std::string(name(others.front())));
  }
}

bool is_missing(std::string_view text) {
  constexpr std::array<std::string_view, 5> words = {"", "nan", "na", "n/a", "null"};
  return std::find(words.begin(), words.end(), lower_case(std::string(text))) != words.end();
}

std::optional<std::size_t> optional_column(const CsvReader& csv, const std::string& name, Quantity quantity) {
  if (!csv.find(name)) return std::nullopt;
  return csv.require(name, expected_columns(quantity));
}

/// What an optional column says, which may be zero; NaN where it is not there or has no usable number.
double read_optional_ms(const CsvReader& csv, const std::optional<std::size_t>& column, Findings& findings) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  if (!column) return none;
  const LatencyEntry entry = parse_latency(csv.fields()[*column]);
  if (!entry.problem || entry.problem == Problem::zero) return entry.latency_ms;
  if (entry.problem != Problem::missing) findings.add(finding_at(csv, *column, *entry.problem));
  return none;
}

std::int64_t read_runs(const CsvReader& csv, const std::optional<std::size_t>& column, Findings& findings) {
  if (!column || is_missing(trimmed(csv.fields()[*column]))) return 0;
  const std::optional<long long> runs = parse_integer(csv.fields()[*column]);
  if (runs && *runs >= 0) return *runs;
  findings.add(finding_at(csv, *column, runs ? Problem::negative : Problem::not_a_number));
  return 0;
}

}  // namespace

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
  const std::size_t latency = require_column(csv, quantity);
  const auto stddev = optional_column(csv, column("stddev", quantity), quantity),
             runs = optional_column(csv, "runs", quantity), sentinel = optional_column(csv, "sentinel_ms", quantity);
  Measurements result;
  while (csv.next()) {
    ++result.entries;
    const std::optional<Architecture> architecture = architectures.read(result.findings);
    if (!architecture) continue;
    const std::optional<double> latency_ms = read_latency(csv, latency, result.findings);
    if (!latency_ms) {
      architectures.forget(*architecture);
      continue;
    }
    result.rows.push_back({*architecture, *latency_ms, read_optional_ms(csv, stddev, result.findings),
                           read_runs(csv, runs, result.findings), read_optional_ms(csv, sentinel, result.findings)});
  }
  return result;
}

Measurements read_measurements(const std::filesystem::path& path, const NetworkSpace& space, Quantity quantity) {
  return parse_measurements(read_file(path), name_in_messages(path), space, quantity);
}

void write_measurements(const std::filesystem::path& path, const std::vector<Measurement>& rows,
                        const NetworkSpace& space, Quantity quantity) {
  const bool sentinel =
      std::any_of(rows.begin(), rows.end(), [](const Measurement& row) { return !std::isnan(row.sentinel_ms); });
  std::string text = "architecture," + column(quantity) + "," + column("stddev", quantity) + ",runs";
  text += sentinel ? ",sentinel_ms\n" : "\n";
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
