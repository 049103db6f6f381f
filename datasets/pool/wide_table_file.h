#pragma once

#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
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

  /// A column that is read: the id of its device-runtime, and where it stands in the table.
  struct DeviceColumn {
    std::string id;
    std::size_t position = 0;
  };
  const std::vector<DeviceColumn>& columns() const { return columns_; }

  /// An architecture, new in this table, and its latencies in ms, one a column, NaN where a latency is unusable.
  using RowSink = std::function<void(const Architecture&, const std::vector<double>&)>;
  /// Hands every row to `take`. Throws InputError when rows were asked for and there was none of them.
  void run(Findings& findings, const RowSink& take);

 private:
  CsvReader& csv_;
  std::optional<RowRange> rows_;
  double unit_ms_;
  ArchitectureColumn architectures_;
  std::vector<DeviceColumn> columns_;
};

/// A device-runtime of which the table `file` says nothing but one quantity, with room for `rows` measurements.
DeviceRuntime imported_device(const std::string& id, const std::string& file, Quantity quantity, std::size_t rows);
/// Gives the device what `all` says of its operators inside the networks that it measured.
void add_operator_latencies(DeviceRuntime& device, const NetworkSpace& space,
                            const std::map<std::string, std::vector<OperatorLatency>>& all);

/// A matrix of numbers that is written row by row and read column by column, on disk beyond some megabytes: in a file
/// without a name, so that nothing of it is left whatever ends the process.
class ColumnSpool {
 public:
  /// The file is in `folder`, or, while that does not exist, in the nearest folder above. Throws FileError.
  ColumnSpool(const std::filesystem::path& folder, std::size_t columns);

  /// `row` has as many values as there are columns. Throws FileError (the disk is full).
  void append(const std::vector<double>& row);
  std::vector<double> column(std::size_t column) const;

 private:
  void write_block();

  std::filesystem::path folder_;
  std::size_t columns_;
  std::size_t rows_of_block_;
  std::size_t blocks_ = 0;      ///< on disk, each full
  std::vector<double> buffer_;  ///< rows of the block that is not full
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_{nullptr, std::fclose};
};

/// A wide table that is read as read_wide_table does, in memory for one device-runtime at a time: the latencies are
/// spooled to disk, so that what it takes grows with the rows and not with the columns.
class WideTableFile {
 public:
  /// `out` is where the pool will be written, and where the spool finds room. Throws as read_wide_table.
  WideTableFile(const std::filesystem::path& table, const NetworkSpace& space, const WideTableOptions& options,
                const std::filesystem::path& out);

  /// A column of latencies.
  struct Column {
    std::string id;
    std::size_t usable = 0;          ///< latencies
    bool whole_milliseconds = true;  ///< all of them, as are_whole_milliseconds() says
  };
  const std::vector<Column>& columns() const { return columns_; }
  const Findings& findings() const { return findings_; }

  DeviceRuntime device(std::size_t column) const;
  /// As write_pool, of the columns that have a usable latency, each once `complete` had it in hand.
  void write_pool(const std::filesystem::path& folder, const std::function<void(DeviceRuntime&)>& complete = {}) const;

 private:
  std::vector<Architecture> known_architectures() const;

  const NetworkSpace& space_;
  std::string table_;  ///< its name in messages
  WideTableOptions options_;
  std::vector<Column> columns_;
  std::vector<Architecture> architectures_;
  std::unique_ptr<ColumnSpool> spool_;
  Findings findings_;
};

}  // namespace tenshot::datasets
