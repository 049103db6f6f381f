#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "datasets/pool/column_spool.h"
#include "datasets/pool/pool.h"

namespace tenshot::datasets {

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
  /// As write_pool, of the columns that have a usable latency.
  void write_pool(const std::filesystem::path& folder) const;

 private:
  std::vector<Architecture> known_architectures() const;

  const NetworkSpace& space_;
  std::string environment_;
  Quantity quantity_;
  std::map<std::string, std::vector<OperatorLatency>> operator_latencies_;
  std::vector<Column> columns_;
  std::vector<Architecture> architectures_;
  std::unique_ptr<ColumnSpool> spool_;
  Findings findings_;
};

}  // namespace tenshot::datasets
