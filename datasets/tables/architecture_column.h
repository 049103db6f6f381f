#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/tables/csv.h"
#include "datasets/tables/findings.h"
#include "nasbench/spaces/network_space.h"

namespace tenshot::datasets {

/// What is wrong with the field of csv's current row in that column.
Finding finding_at(const CsvReader& csv, std::size_t column, Problem problem);

/// The latency in a column of csv's row, whose unit is so many ms. Nothing, and a finding, unless finite and positive.
std::optional<double> read_latency(const CsvReader& csv, std::size_t column, Findings& findings, double unit_ms = 1);

/// The `architecture` column of a table, read row by row, each once; of networks by name it may be called `network`.
class ArchitectureColumn {
 public:
  /// `csv` and `space` must outlive this. Throws InputError as CsvReader::require.
  ArchitectureColumn(const CsvReader& csv, const nasbench::NetworkSpace& space, std::string_view expected_columns);

  /// The architecture of csv's current row. Nothing, and a finding, when the row has more or fewer fields than the
  /// header, or its architecture is missing, unknown, or stood in an earlier row.
  std::optional<nasbench::Architecture> read(Findings& findings);
  void forget(const nasbench::Architecture& unusable) { seen_.erase(unusable); }  ///< a later row of it counts

 private:
  const CsvReader& csv_;
  const nasbench::NetworkSpace& space_;
  std::size_t column_;
  nasbench::ArchitectureSet seen_;
};

/// Whether the name of a column says another unit than tables have: "latency_us", "energy_j", "fps".
bool says_another_unit(const std::string& column);

/// Throws InputError where a table has one of the columns `others`, so that it holds no `what` ("x, but predictions").
void require_no_swap(const CsvReader& csv, const std::vector<std::string>& others, const std::string& what);

/// Throws InputError, one line: `file` holds no usable `what` ("measurement"), what was left out and why, where the
/// first of it stands, and what a correct architecture looks like.
[[noreturn]] void throw_nothing_usable(const std::string& file, const std::string& what, const Findings& findings,
                                       const nasbench::NetworkSpace& space);

/// What a table says of the accuracies of networks.
struct Accuracies {
  std::vector<nasbench::Architecture> architectures;
  std::vector<double> accuracy;  ///< finite, in the table's own unit
  std::string left_out;          ///< how many rows, and why; empty where none
};

/// Reads a CSV of `architecture` (or `network`) and `accuracy`. Throws FileError, and InputError without usable rows.
Accuracies read_accuracies(const std::filesystem::path& file, const nasbench::NetworkSpace& space);

}  // namespace tenshot::datasets
