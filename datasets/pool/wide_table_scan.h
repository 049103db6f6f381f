#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "datasets/pool/pool.h"
#include "datasets/tables/architecture_column.h"
#include "datasets/tables/csv.h"

namespace tenshot::datasets {

/// Reads the rows of a wide table that are asked for, one after the other.
class WideTableScan {
 public:
  /// `csv` stands behind the header; it and `space` must outlive this. Throws as parse_wide_table.
  WideTableScan(CsvReader& csv, const NetworkSpace& space, const WideTableOptions& options);

  /// The columns that are read: the ids of their device-runtimes.
  const std::vector<std::string>& ids() const { return ids_; }

  /// An architecture, new in this table, and its latencies in ms, one a column, NaN where a latency is unusable.
  using RowSink = std::function<void(const Architecture&, const std::vector<double>&)>;
  /// Hands every row to `take`. Throws InputError when rows were asked for and there was none of them.
  void run(Findings& findings, const RowSink& take);

 private:
  CsvReader& csv_;
  std::optional<RowRange> rows_;
  double unit_ms_;
  ArchitectureColumn architectures_;
  std::vector<std::string> ids_;
  std::vector<std::size_t> positions_;
};

/// The environment of a device-runtime that comes from this table, as JSON text.
std::string imported_from(const std::string& file);
/// A device-runtime of which a table says nothing but one quantity, with room for `rows` measurements.
DeviceRuntime imported_device(const std::string& id, const std::string& environment, Quantity quantity,
                              std::size_t rows);
/// Gives the device what `all` says of its operators inside the networks that it measured.
void add_operator_latencies(DeviceRuntime& device, const NetworkSpace& space,
                            const std::map<std::string, std::vector<OperatorLatency>>& all);

}  // namespace tenshot::datasets
