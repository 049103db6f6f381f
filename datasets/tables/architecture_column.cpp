#include "datasets/tables/architecture_column.h"

#include <cmath>

#include "datasets/tables/measurements.h"
#include "nasbench/spaces/networks.h"
#include "nasbench/support/files.h"
#include "nasbench/support/number_text.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/text.h"

namespace tenshot::datasets {
namespace {

/// A network may be called by its file. What predicts alone reads no such file, and knows the suffixes from here.
nasbench::Architecture parse_named(const nasbench::NetworkSpace& space, const std::string& text) {
  try {
    return space.parse(text);
  } catch (const InputError&) {
    const bool is_file = ends_with(text, ".onnx") || ends_with(text, ".tflite") || ends_with(text, ".param");
    if (!is_file || &space != &nasbench::networks()) throw;
  }
  return space.parse(std::filesystem::path(text).stem().string());
}

}  // namespace

Finding finding_at(const CsvReader& csv, std::size_t column, Problem problem) {
  return {problem, csv.file(), csv.line(), csv.header()[column], std::string(trimmed(csv.fields()[column]))};
}

std::optional<double> read_latency(const CsvReader& csv, std::size_t column, Findings& findings, double unit_ms) {
  const LatencyEntry entry = parse_latency(csv.fields()[column]);
  const double latency_ms = unit_ms * entry.latency_ms;
  if (!entry.problem && std::isfinite(latency_ms)) return latency_ms;
  findings.add(finding_at(csv, column, entry.problem.value_or(Problem::not_finite)));
  return std::nullopt;
}

ArchitectureColumn::ArchitectureColumn(const CsvReader& csv, const nasbench::NetworkSpace& space,
                                       std::string_view expected_columns)
    : csv_(csv),
      space_(space),
      column_(csv.require(&space == &nasbench::networks() && csv.find("network") ? "network" : "architecture",
                          expected_columns)) {}

std::optional<nasbench::Architecture> ArchitectureColumn::read(Findings& findings) {
  const std::size_t fields = csv_.fields().size();
  if (fields != csv_.header().size()) {
    findings.add({Problem::field_count, csv_.file(), csv_.line(), "",
                  counted(fields, "field") + " where the header has " + std::to_string(csv_.header().size())});
    return std::nullopt;
  }
  const std::string_view text = trimmed(csv_.fields()[column_]);
  const auto leave_out = [&](Problem problem) {
    findings.add(finding_at(csv_, column_, problem));
    return std::nullopt;
  };
  if (text.empty()) return leave_out(Problem::missing);
  nasbench::Architecture architecture;
  try {
    architecture = parse_named(space_, std::string(text));
  } catch (const InputError&) {
    return leave_out(Problem::unknown_architecture);
  }
  if (!seen_.insert(architecture).second) return leave_out(Problem::duplicate);
  return architecture;
}

bool says_another_unit(const std::string& column) {
  const auto units = {"_us", "_ns", "_uj", "_kib", "_seconds", "latency_s", "energy_j", "fps"};
  return std::any_of(units.begin(), units.end(), [&](const char* unit) { return ends_with(column, unit); });
}

void require_no_swap(const CsvReader& csv, const std::vector<std::string>& others, const std::string& what) {
  const auto name =
      std::find_if(others.begin(), others.end(), [&](const auto& other) { return csv.find(other).has_value(); });
  if (name == others.end()) return;
  throw InputError(csv.file() + ": has the column " + *name + ", so it holds no " + what + "; are two files swapped?");
}

void throw_nothing_usable(const std::string& file, const std::string& what, const Findings& findings,
                          const nasbench::NetworkSpace& space) {
  const bool named = &space == &nasbench::networks();
  std::string reason = "it has no rows";
  if (!findings.empty()) {
    const std::string first = findings.first().front().message();
    reason = findings.summary() + "; first " + first.substr(0, first.rfind("; left out"));
  }
  throw InputError(file + ": holds no usable " + what + " of the space " + std::string(space.name()) + " (" + reason +
                   "); " +
                   (named ? "a network is written as it is called, such as " : "an architecture is written like ") +
                   space.example() + (named ? ", and --networks names its operators" : ""));
}

Accuracies read_accuracies(const std::filesystem::path& file, const nasbench::NetworkSpace& space) {
  const std::string text = read_file(file), expected = "architecture,accuracy";
  CsvReader csv(text, file.string());
  ArchitectureColumn architectures(csv, space, expected);
  const std::size_t column = csv.require("accuracy", expected);
  Accuracies read;
  Findings findings;
  while (csv.next()) {
    const std::optional<nasbench::Architecture> architecture = architectures.read(findings);
    if (!architecture) continue;
    const std::optional<double> accuracy = parse_number(csv.fields()[column]);
    if (!accuracy || !std::isfinite(*accuracy)) {
      findings.add(finding_at(csv, column, Problem::not_a_number));
      continue;
    }
    read.architectures.push_back(*architecture);
    read.accuracy.push_back(*accuracy);
  }
  if (read.architectures.empty()) throw_nothing_usable(file.string(), "accuracy", findings, space);
  if (!findings.empty()) read.left_out = file.filename().string() + ": left out: " + findings.summary();
  return read;
}

}  // namespace tenshot::datasets
