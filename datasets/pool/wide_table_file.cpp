#include "datasets/pool/wide_table_file.h"

#include <cmath>
#include <unordered_set>

#include "datasets/pool/device_file.h"
#include "datasets/pool/wide_table_scan.h"
#include "datasets/tables/space_files.h"
#include "nasbench/support/file_blocks.h"
#include "nasbench/support/files.h"

namespace tenshot::datasets {
namespace fs = std::filesystem;

WideTableFile::WideTableFile(const fs::path& table, const NetworkSpace& space, const WideTableOptions& options,
                             const fs::path& out)
    : space_(space),
      environment_(imported_from(name_in_messages(table))),
      quantity_(options.quantity),
      operator_latencies_(options.operator_latencies) {
  FileBlocks blocks(table);
  CsvReader csv([&](std::string& text, std::size_t most) { return blocks.append_to(text, most); },
                name_in_messages(table));
  WideTableScan scan(csv, space, options);
  for (const std::string& id : scan.ids()) columns_.push_back({id});
  spool_ = std::make_unique<ColumnSpool>(out, columns_.size());
  scan.run(findings_, [&](const Architecture& architecture, const std::vector<double>& latencies_ms) {
    architectures_.push_back(architecture);
    spool_->append(latencies_ms);
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (std::isnan(latencies_ms[c])) continue;
      ++columns_[c].usable;
      columns_[c].whole_milliseconds = columns_[c].whole_milliseconds && latencies_ms[c] == std::floor(latencies_ms[c]);
    }
  });
  constexpr std::size_t enough = 5;
  for (Column& column : columns_) column.whole_milliseconds = column.whole_milliseconds && column.usable >= enough;
}

DeviceRuntime WideTableFile::device(std::size_t column) const {
  DeviceRuntime device = imported_device(columns_[column].id, environment_, quantity_, columns_[column].usable);
  const std::vector<double> latencies_ms = spool_->column(column);
  for (std::size_t a = 0; a < architectures_.size(); ++a) {
    if (std::isnan(latencies_ms[a])) continue;
    Measurement& measurement = device.latencies.emplace_back();
    measurement.architecture = architectures_[a];
    measurement.latency_ms = latencies_ms[a];
  }
  add_operator_latencies(device, space_, operator_latencies_);
  return device;
}

/// What any column measured, in the order in which the columns name it first. Only networks by name are asked for.
std::vector<Architecture> WideTableFile::known_architectures() const {
  std::vector<Architecture> known;
  if (space_.search_space() != nullptr) return known;
  std::unordered_set<Architecture, nasbench::ArchitectureHash> seen;
  for (std::size_t c = 0; c < columns_.size() && seen.size() < architectures_.size(); ++c) {
    for (const Measurement& row : device(c).latencies) {
      if (seen.insert(row.architecture).second) known.push_back(row.architecture);
    }
  }
  return known;
}

void WideTableFile::write_pool(const fs::path& folder) const {
  make_folder(folder);
  write_space_files(folder, space_, known_architectures());
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    if (columns_[c].usable > 0) write_device_files(folder, device(c), space_);
  }
}

}  // namespace tenshot::datasets
