#include "datasets/pool/pool.h"

#include <nlohmann/json.hpp>

#include "datasets/operators/kernel_table.h"
#include "datasets/pool/device_file.h"
#include "datasets/tables/csv.h"
#include "datasets/tables/space_files.h"
#include "nasbench/kernels/fusion_rules.h"
#include "nasbench/spaces/networks.h"
#include "nasbench/support/files.h"
#include "nasbench/support/json_reader.h"

namespace tenshot::datasets {
namespace fs = std::filesystem;

namespace {

/// Whether a folder in a pool is no device of it but a pool of another space.
bool is_other_pool(const fs::path& folder) {
  return !is_there(folder / "device.json") &&
         (is_there(folder / networks_file_name) || is_there(folder / space_file_name));
}

/// The space that stands beside a device's folder, or in it; null for a device of a space that needs no file.
const NetworkSpace* kept_space_of(const fs::path& file) {
  if (file == "-") return nullptr;
  const nlohmann::json json = parse_json(read_file(file), file.string());
  const auto space = json.is_object() ? json.find("space") : json.end();
  if (!json.is_object() || space == json.end() || !space->is_string()) return nullptr;
  const std::vector<std::string> known = nasbench::space_names();
  const bool is_known = std::find(known.begin(), known.end(), space->get<std::string>()) != known.end();
  if (is_known && space->get<std::string>() != nasbench::networks().name()) return nullptr;
  const NetworkSpace* kept = read_space_files(fs::absolute(file).parent_path().parent_path());
  return kept != nullptr ? kept : read_space_files(fs::absolute(file).parent_path());
}

DeviceFile device_file_at(const fs::path& file, const NetworkSpace* kept) {
  const std::string name = name_in_messages(file);
  return device_file_from_json(parse_json(read_file(file), name), name, kept);
}

/// Whether a device measured `quantity`, if one is asked for: its device file says so, or its measurements have it.
bool holds(const DeviceFile& contents, const fs::path& file, std::optional<Quantity> quantity) {
  if (!quantity || contents.device.quantity == *quantity) return true;
  const fs::path measurements = file.parent_path() / contents.latencies;
  if (contents.latencies.empty() || !is_there(measurements)) return false;
  const std::string text = read_file(measurements);
  const std::vector<Quantity> held = quantities_in(CsvReader(text, measurements.string()).header());
  return std::find(held.begin(), held.end(), *quantity) != held.end();
}

constexpr const char* operators_name = "operators.csv";

void write_operators_of(const fs::path& file, const std::vector<OperatorLatency>& latencies) {
  std::vector<KernelRow> rows;
  for (const OperatorLatency& latency : latencies) {
    KernelRow& row = rows.emplace_back();
    row.kernel = nasbench::fusion_types(latency.operation).front();
    row.leading = latency.operation;
    row.isolation = profiled_isolation;
    row.purpose = latency.network;
    row.latency_ms = latency.latency_ms;
  }
  write_file_atomically(file, kernel_table(rows));
}

DeviceOfSpace with_measurements(DeviceFile contents, const fs::path& file, std::optional<Quantity> quantity) {
  DeviceRuntime& device = contents.device;
  if (quantity) device.quantity = *quantity;
  if (device.quantity != Quantity::latency) device.descriptor = {};
  if (contents.latencies.empty()) return std::move(contents);
  const fs::path latencies = file.parent_path() / contents.latencies;
  if (!is_there(latencies)) {
    throw FileError(file.string() + ": its latencies '" + contents.latencies +
                    "' are not beside it; copy that file too");
  }
  Measurements measurements = read_measurements(latencies, *contents.space, device.quantity);
  device.latencies = std::move(measurements.rows);
  contents.findings = std::move(measurements.findings);
  if (device.quantity == Quantity::latency && contents.space == &nasbench::networks()) {
    const fs::path operators = file.parent_path() / operators_name;
    if (is_there(operators)) device.operator_latencies = operators_in_networks(read_kernel_table(operators));
  }
  return std::move(contents);
}

void require_same_quantity(const Pool& pool, const DeviceRuntime& device, const fs::path& folder) {
  if (pool.devices.empty() || pool.quantity() == device.quantity) return;
  throw InputError(folder.string() + ": holds " + column(device.quantity) + ", other devices of this pool hold " +
                   column(pool.quantity()) + "; say which by --quantity");
}

}  // namespace

const DeviceRuntime* Pool::find(std::string_view id) const {
  const auto found = std::find_if(devices.begin(), devices.end(), [&](const DeviceRuntime& d) { return d.id == id; });
  return found == devices.end() ? nullptr : &*found;
}

std::vector<fs::path> device_folders(const fs::path& folder) {
  if (!is_folder(folder)) {
    throw FileError(folder.string() +
                    (is_there(folder) ? ": is a file, expected a pool's folder" : ": no such folder"));
  }
  std::vector<fs::path> folders;
  for (const fs::path& entry : entries_of(folder)) {
    const bool hidden = entry.filename().string().front() == '.';
    if (!hidden && is_folder(entry) && !is_other_pool(entry)) folders.push_back(entry);
  }
  return folders;
}

DeviceOfSpace read_device(const fs::path& path, std::optional<Quantity> quantity) {
  const fs::path file = is_folder(path) ? path / "device.json" : path;
  DeviceFile contents = device_file_at(file, kept_space_of(file));
  if (!holds(contents, file, quantity)) {
    throw InputError(file.string() + ": holds " + column(contents.device.quantity) + ", asked for " +
                     column(*quantity) + " (--quantity " + std::string(name(*quantity)) + ")");
  }
  return with_measurements(std::move(contents), file, quantity);
}

std::vector<std::string> device_ids(const Pool& pool) {
  std::vector<std::string> ids;
  for (const DeviceRuntime& device : pool.devices) ids.push_back(device.id);
  return ids;
}

Pool read_pool(const fs::path& folder, std::optional<Quantity> quantity) {
  Pool pool;
  const std::vector<fs::path> folders = device_folders(folder);
  const NetworkSpace* kept = read_space_files(folder);
  std::size_t without = 0;
  for (const fs::path& device_folder : folders) {
    const fs::path file = device_folder / "device.json";
    if (!is_there(file)) continue;
    DeviceFile contents = device_file_at(file, kept);
    if (!holds(contents, file, quantity)) {
      ++without;
      continue;
    }
    DeviceOfSpace device = with_measurements(std::move(contents), file, quantity);
    if (pool.space != nullptr && pool.space != device.space) {
      throw InputError(device_folder.string() + ": is of space '" + std::string(device.space->name()) +
                       "', other devices of this pool are of '" + std::string(pool.space->name()) +
                       "'; keep one space in one folder");
    }
    if (pool.find(device.device.id) != nullptr) {
      throw InputError(device_folder.string() + ": device '" + device.device.id + "' stands in another folder too");
    }
    require_same_quantity(pool, device.device, device_folder);
    pool.space = device.space;
    pool.findings.add(device.findings);
    pool.devices.push_back(std::move(device.device));
  }
  if (pool.devices.empty() && without > 0) {
    throw InputError(folder.string() + ": none of its " + std::to_string(without) + " devices holds " +
                     column(*quantity) + " (--quantity " + std::string(name(*quantity)) + ")");
  }
  if (pool.devices.empty()) {
    const bool one_device = is_there(folder / "device.json");
    throw FileError(folder.string() + ": holds no device, expected */device.json" +
                    (one_device ? "; this is one device's folder, give the folder above it" : ""));
  }
  std::sort(pool.devices.begin(), pool.devices.end(),
            [](const DeviceRuntime& a, const DeviceRuntime& b) { return a.id < b.id; });
  return pool;
}

void write_device_files(const fs::path& folder, const DeviceRuntime& device, const NetworkSpace& space) {
  if (!is_device_id(device.id)) {
    throw InputError("device '" + excerpt(device.id) + "' cannot name a folder; expected " +
                     std::string(device_id_rule));
  }
  const std::string name = "device '" + device.id + "'";
  std::string text;
  try {
    const nlohmann::json json = to_json(device, space);
    device_file_from_json(json, name, &space);  // What could not be read back is not written.
    text = json.dump(2) + "\n";
  } catch (const FormatError& error) {
    throw InputError(error.what());
  } catch (const nlohmann::json::exception&) {
    throw InputError(name + ": holds text that is not UTF-8, which a device file cannot");
  }
  const fs::path target = folder / device.id;
  make_folder(target);
  write_measurements(target / measurements_name(device.quantity), device.latencies, space, device.quantity);
  if (!device.operator_latencies.empty()) write_operators_of(target / operators_name, device.operator_latencies);
  write_file_atomically(target / "device.json", text);
}

void write_device(const fs::path& folder, const DeviceRuntime& device, const NetworkSpace& space) {
  write_pool(folder, {&space, {device}, {}});
}

void require_one_space(const fs::path& folder, const NetworkSpace& space, const std::vector<std::string>& replaced) {
  for (const fs::path& there : device_folders(folder)) {
    const fs::path file = there / "device.json";
    if (!is_there(file) || std::count(replaced.begin(), replaced.end(), there.filename().string()) > 0) continue;
    const nlohmann::json json = parse_json(read_file(file), file.string());
    const auto kept = json.is_object() ? json.find("space") : json.end();
    if (kept == json.end() || !kept->is_string() || kept->get<std::string>() == space.name()) return;
    throw InputError(file.string() + ": is of space '" + excerpt(kept->get<std::string>()) + "', and not of '" +
                     std::string(space.name()) + "' as what is to be written; keep one space in one folder");
  }
}

void write_pool(const fs::path& folder, const Pool& pool) {
  make_folder(folder);
  require_one_space(folder, *pool.space, device_ids(pool));
  write_space_files(folder, *pool.space, latency_matrix(pool).architectures);
  for (const DeviceRuntime& device : pool.devices) write_device_files(folder, device, *pool.space);
}

}  // namespace tenshot::datasets
