#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "datasets/pool/device_file.h"
#include "datasets/pool/wide_table_file.h"
#include "nasbench/spaces/networks.h"
#include "nasbench/support/files.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/text.h"
#include "nasbench/support/words.h"

namespace tenshot::datasets {
namespace {

constexpr std::string_view expected_columns = "architecture[,index] and one column of latencies in ms per device";

using DeviceColumn = WideTableScan::DeviceColumn;

std::string header_place(const CsvReader& csv) { return csv.file() + ":" + std::to_string(csv.header_line()) + ": "; }

/// Whether the column stands beside the measurements of a device-runtime, or says something else of a network.
bool is_beside_measurements(const std::string& column) {
  const auto names = {"architecture", "index",    "id",    "row",    "runs", "batch", "threads",
                      "params",       "params_m", "flops", "gflops", "macs", "top1",  "accuracy"};
  const auto ends = {"_std", "_std_ms", "_stddev", "_fps"};
  return begins_with(column, "stddev_") || begins_with(column, "sentinel_") ||
         std::find(names.begin(), names.end(), column) != names.end() ||
         std::any_of(ends.begin(), ends.end(), [&](const char* end) { return ends_with(column, end); });
}

std::vector<DeviceColumn> device_columns(const CsvReader& csv, const NetworkSpace& space) {
  std::vector<DeviceColumn> columns;
  std::unordered_set<std::string_view> names;
  for (std::size_t position = 0; position < csv.header().size(); ++position) {
    const std::string& column = csv.header()[position];
    // Tables written by pandas have an unnamed column of row numbers.
    if (column.empty() || is_beside_measurements(lower_case(column))) continue;
    if (column == "network" && &space == &nasbench::networks()) continue;
    if (lower_case(column) == "device" || lower_case(column) == "device_id") {
      throw InputError(header_place(csv) + "'" + column +
                       "': expected a column for each device (in pandas: DataFrame.pivot)");
    }
    if (!names.insert(column).second) {
      throw InputError(header_place(csv) + "the header has column '" + excerpt(column) + "' twice; rename one");
    }
    columns.push_back({column, position});
  }
  if (columns.empty()) {
    throw InputError(header_place(csv) + "the header has no column of latencies; found " + quoted_list(csv.header()) +
                     ", expected " + std::string(expected_columns));
  }
  return columns;
}

std::string devices_text(const std::vector<DeviceColumn>& columns) {
  std::vector<std::string> ids;
  for (const DeviceColumn& column : columns) ids.push_back(column.id);
  return "the devices of this table are " + quoted_list(ids);
}

/// The columns of the devices asked for, in that order.
std::vector<DeviceColumn> columns_asked_for(const CsvReader& csv, const std::vector<DeviceColumn>& columns,
                                            const std::vector<std::string>& devices) {
  std::vector<DeviceColumn> chosen;
  std::unordered_set<std::string_view> names;
  for (const std::string& device : devices) {
    const auto column = std::find_if(columns.begin(), columns.end(), [&](const auto& c) { return c.id == device; });
    if (column == columns.end()) {
      throw InputError(header_place(csv) + "no column '" + excerpt(device) + "'; " + devices_text(columns));
    }
    if (!names.insert(device).second) {
      throw InputError(csv.file() + ": device '" + device + "' is asked for twice; name it once");
    }
    chosen.push_back(*column);
  }
  return chosen;
}

/// Refuses a column whose name says another quantity, or another unit than is read.
void require_unit(const std::string& place, const std::string& column, const WideTableOptions& options) {
  for (const Quantity quantity : quantities_in({column})) {
    if (quantity == options.quantity) continue;
    throw InputError(place + "is of " + std::string(title(quantity)) + ", asked for " +
                     std::string(title(options.quantity)) + "; say --quantity " + std::string(name(quantity)) +
                     ", or name the columns to read");
  }
  const std::string name = lower_case(column);
  bool is_other = options.unit_ms == 1 && says_another_unit(name);
  for (const char* unit : {"us", "ms", "s"}) {
    if (options.unit_ms != 1 && milliseconds_of(unit) != options.unit_ms)
      is_other |= ends_with(name, std::string("_") + unit);
  }
  if (!is_other) return;
  throw InputError(place +
                   "seems to be in another unit; say --unit us or s, by --devices where they differ, or rename it");
}

std::vector<DeviceColumn> chosen_columns(const CsvReader& csv, const std::vector<DeviceColumn>& all,
                                         const WideTableOptions& options) {
  std::vector<DeviceColumn> columns = options.devices.empty() ? all : columns_asked_for(csv, all, options.devices);
  for (const DeviceColumn& column : columns) {
    const std::string place = header_place(csv) + "column '" + excerpt(column.id) + "' ";
    require_unit(place, column.id, options);
    if (is_device_id(column.id)) continue;
    throw InputError(place + "cannot name a device-runtime (" + std::string(device_id_rule) +
                     "); rename it, or name the columns to read");
  }
  return columns;
}

class RowSelection {
 public:
  RowSelection(const CsvReader& csv, const std::optional<RowRange>& range) : csv_(csv), range_(range) {
    if (range_ && csv.find("index")) index_ = csv.require("index", expected_columns);
  }

  /// Whether csv's current row is among them; call it once a row. A row without a usable index is a finding.
  bool takes_row(Findings& findings) {
    const long long position = position_++;
    // A row whose fields are not the header's is left for ArchitectureColumn to name.
    if (!range_ || csv_.fields().size() != csv_.header().size()) return true;
    long long row = position;
    if (index_ != none) {
      const std::string_view text = csv_.fields()[index_];
      const std::optional<long long> index = parse_integer(text);
      if (!index) {
        findings.add(finding_at(csv_, index_, trimmed(text).empty() ? Problem::missing : Problem::not_a_number));
        return false;
      }
      row = *index;
    }
    first_ = std::min(first_, row);
    last_ = std::max(last_, row);
    const bool taken = row >= range_->begin && row < range_->end;
    any_taken_ = any_taken_ || taken;
    return taken;
  }

  void require_any() const {
    if (!range_ || any_taken_) return;
    throw InputError(csv_.file() + ": no row from " + std::to_string(range_->begin) + " up to " +
                     std::to_string(range_->end) + " (exclusive)" +
                     (first_ > last_ ? std::string("; the table has no rows")
                                     : "; its rows are " + std::to_string(first_) + " to " + std::to_string(last_)));
  }

 private:
  static constexpr auto none = static_cast<std::size_t>(-1);

  const CsvReader& csv_;
  std::optional<RowRange> range_;
  std::size_t index_ = none;  ///< the column that numbers the rows
  long long position_ = 0;
  long long first_ = std::numeric_limits<long long>::max();
  long long last_ = std::numeric_limits<long long>::min();
  bool any_taken_ = false;
};

/// Rows the table can have at most: lines, but never more than its bytes have room for fields.
std::size_t most_rows(std::string_view text, std::size_t columns, const std::optional<RowRange>& range) {
  const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
  const std::size_t rows = std::min(lines, text.size() / columns + 1);
  return range ? std::min(rows, static_cast<std::size_t>(range->end - range->begin)) : rows;
}

}  // namespace

RowRange parse_row_range(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon != std::string_view::npos) {
    const auto begin = parse_integer(text.substr(0, colon));
    const auto end = parse_integer(text.substr(colon + 1));
    if (begin && end && *begin >= 0 && *begin < *end) return {*begin, *end};
  }
  throw InputError("rows '" + excerpt(text) + "': expected BEGIN:END with 0 <= BEGIN < END, such as 0:900");
}

WideTableScan::WideTableScan(CsvReader& csv, const NetworkSpace& space, const WideTableOptions& options)
    : csv_(csv), rows_(options.rows), unit_ms_(options.unit_ms), architectures_(csv, space, expected_columns) {
  require_no_swap(csv, {column("lower", options.quantity)}, "table of devices, but predictions");
  columns_ = chosen_columns(csv, device_columns(csv, space), options);
  for (const auto& [device, latencies] : options.operator_latencies) {
    if (std::any_of(columns_.begin(), columns_.end(), [&, id = &device](const auto& c) { return c.id == *id; }))
      continue;
    throw InputError(header_place(csv) + "operators are said to be of '" + excerpt(device) +
                     "', which is not imported; " + devices_text(columns_));
  }
}

void WideTableScan::run(Findings& findings, const RowSink& take) {
  RowSelection selection(csv_, rows_);
  std::vector<double> latencies_ms(columns_.size());
  while (csv_.next()) {
    if (!selection.takes_row(findings)) continue;
    const std::optional<Architecture> architecture = architectures_.read(findings);
    if (!architecture) continue;
    for (std::size_t d = 0; d < columns_.size(); ++d) {
      const std::optional<double> latency_ms = read_latency(csv_, columns_[d].position, findings, unit_ms_);
      latencies_ms[d] = latency_ms.value_or(std::numeric_limits<double>::quiet_NaN());
    }
    if (std::all_of(latencies_ms.begin(), latencies_ms.end(), [](double ms) { return std::isnan(ms); }))
      architectures_.forget(*architecture);
    else
      take(*architecture, latencies_ms);
  }
  selection.require_any();
}

DeviceRuntime imported_device(const std::string& id, const std::string& file, Quantity quantity, std::size_t rows) {
  DeviceRuntime device;
  device.quantity = quantity;
  device.id = id;
  device.device = id;
  device.batch = 0;
  device.environment =
      nlohmann::json{{"imported_from", excerpt(std::filesystem::path(file).filename().string())}}.dump();
  device.latencies.reserve(rows);
  return device;
}

void add_operator_latencies(DeviceRuntime& device, const NetworkSpace& space,
                            const std::map<std::string, std::vector<OperatorLatency>>& all) {
  const auto found = all.find(device.id);
  if (found == all.end()) return;
  std::set<std::string> measured;
  for (const Measurement& row : device.latencies) measured.insert(space.format(row.architecture));
  for (const OperatorLatency& latency : found->second) {
    if (latency.network.empty() || measured.count(latency.network) > 0) device.operator_latencies.push_back(latency);
  }
}

Pool parse_wide_table(std::string_view text, const std::string& file, const NetworkSpace& space,
                      const WideTableOptions& options) {
  CsvReader csv(text, file);
  WideTableScan scan(csv, space, options);
  Pool pool;
  pool.space = &space;
  const std::size_t rows = most_rows(text, csv.header().size(), options.rows);
  for (const DeviceColumn& column : scan.columns()) {
    pool.devices.push_back(imported_device(column.id, file, options.quantity, rows));
  }
  scan.run(pool.findings, [&](const Architecture& architecture, const std::vector<double>& latencies_ms) {
    for (std::size_t d = 0; d < latencies_ms.size(); ++d) {
      if (!std::isnan(latencies_ms[d])) pool.devices[d].latencies.push_back({architecture, latencies_ms[d]});
    }
  });
  for (DeviceRuntime& device : pool.devices) add_operator_latencies(device, space, options.operator_latencies);
  return pool;
}

Pool read_wide_table(const std::filesystem::path& path, const NetworkSpace& space, const WideTableOptions& options) {
  return parse_wide_table(read_file(path), name_in_messages(path), space, options);
}

}  // namespace tenshot::datasets
