#include <algorithm>
#include <iostream>
#include <map>

#include "datasets/kit/conditions.h"
#include "datasets/kit/kit_profiles.h"
#include "datasets/kit/kit_results.h"
#include "datasets/operators/kernel_table.h"
#include "datasets/pool/benchncnn.h"
#include "datasets/pool/describe.h"
#include "datasets/pool/device_file.h"
#include "datasets/pool/joined_pools.h"
#include "datasets/pool/validate.h"
#include "datasets/pool/wide_table_file.h"
#include "datasets/tables/architecture_column.h"
#include "datasets/tables/quantity.h"
#include "datasets/tables/space_files.h"
#include "nasbench/spaces/networks.h"
#include "nasbench/support/files.h"
#include "nasbench/support/words.h"
#include "trainer/cli/shared_options.h"

namespace tenshot::cli {
namespace {

/// Adds what the pool's folder `out` has of the device-runtime already, and says so.
void add_what_is_there(const std::string& out, datasets::DeviceRuntime& device, const nasbench::NetworkSpace& space) {
  const std::filesystem::path earlier = std::filesystem::path(out) / device.id / "device.json";
  if (!is_there(earlier)) return;
  datasets::DeviceOfSpace there = datasets::read_device(earlier, device.quantity);
  if (there.space != &space) {
    throw InputError(earlier.string() + ": is of the space " + std::string(there.space->name()) +
                     ", and what is imported of " + std::string(space.name()) + "; give another --out or --id");
  }
  const datasets::MeasuringConditions then = datasets::conditions_of(there.device);
  std::map<std::string, std::string> was(then.begin(), then.end());
  for (const auto& [what, now] : datasets::conditions_of(device)) {
    if ((what != "runtime" && what != "power mode") || was[what].empty() || was[what] == now) continue;
    say(device.id + ": its " + what + " was '" + was[what] + "' and is '" + now +
            "'; give another setting another --id",
        {{"warns", true}});
  }
  say(datasets::add_earlier(device, there.device));
}

void write_or_add(const std::string& out, datasets::DeviceRuntime device, const nasbench::NetworkSpace& space) {
  if (!datasets::is_device_id(device.id)) {
    throw UsageError("'" + excerpt(device.id) + "' cannot name a device-runtime (" +
                     std::string(datasets::device_id_rule) + "); give another --id");
  }
  add_what_is_there(out, device, space);
  MadeFolders made;
  made.folder(out);
  datasets::write_device(out, device, space);
  say_written(out, "device-runtime " + device.id + " of " + std::to_string(device.latencies.size()) + " networks",
              "tenshot dataset describe " + shell_word(out));
}

datasets::DeviceRuntime imported_device(const OptionParser& options, const std::string& from,
                                        const datasets::MeasuredSource& measured, datasets::Quantity quantity) {
  datasets::DeviceRuntime device;
  if (measured.kit) {
    device =
        device_of(*measured.kit, options.has("id") ? options.get("id") : datasets::default_device_id(*measured.kit));
  } else if (measured.device) {
    device = *measured.device;
    if (device.device == device.id) device.device = options.get("id");
    device.id = options.get("id");
  } else {
    device = datasets::imported_device(options.get("id"), from, quantity, 0);
  }
  if (!measured.kit || quantity == datasets::Quantity::latency) device.descriptor = measured.descriptor;
  if (measured.kit && !measured.left_out_of_all) return device;  // of one kit, with its deviations and runs
  device.latencies = measured.rows;
  if (!device.latencies.empty()) return device;
  for (std::size_t i = 0; i < measured.architectures.size(); ++i) {
    device.latencies.push_back({measured.architectures[i], measured.latency_ms[i]});
  }
  return device;
}

/// --kit and --measurements: one device-runtime of all that they hold, in the pool's folder `out`. One of that id that
/// the pool has already is added to (datasets/pool/joined_pools.h). Throws InputError where a --kit is no kit.
void import_measured(const OptionParser& options, const std::string& out) {
  std::vector<std::string> paths = options.all("kit");
  for (const std::string& folder : paths) {
    if (!datasets::is_kit(folder)) throw InputError(folder + ": is no kit (it has no manifest.json)");
  }
  for (std::string& path : options.all("measurements")) paths.push_back(std::move(path));
  FileRoles files;
  for (const std::string& path : paths) files.reads_measured("--measurements", path);
  files.reads_networks(options);
  files.writes_devices("--out", out);
  const auto kit =
      std::find_if(paths.begin(), paths.end(), [](const std::string& path) { return datasets::is_kit(path); });
  if (kit == paths.end() && !options.has("id")) {
    throw UsageError(
        "tenshot dataset import needs --id, the name of the device that was measured, where there is no kit");
  }
  networks_of(options);
  const nasbench::NetworkSpace& space =
      kit == paths.end() ? datasets::named_space(options.get("space")) : *datasets::read_kit_manifest(*kit).space;
  const datasets::Quantity quantity = quantity_option(options).value_or(datasets::Quantity::latency);
  const datasets::JoinedSources joined = read_measurements(options, paths, space, quantity);
  datasets::DeviceRuntime device = imported_device(options, paths.front(), joined.measured, quantity);
  if (quantity == datasets::Quantity::latency) device.operator_latencies = joined.measured.operator_latencies;
  write_or_add(out, std::move(device), space);
}

void require_all(const OptionParser& options, const std::string& table, const datasets::Findings& findings) {
  if (!options.has("strict") || findings.empty()) return;
  throw InputError(table + ": of its rows and numbers " + std::to_string(findings.total()) +
                   " would be left out, and --strict accepts none");
}

/// What benchncnn printed begins within the first lines; a wide table may be larger than memory.
bool is_benchncnn_file(const std::string& table) {
  constexpr std::size_t looked_at = 1 << 20;
  std::string head;
  return table != "-" && FileBlocks(table).append_to(head, looked_at) && datasets::is_benchncnn_output(head);
}

/// Networks by name become one device-runtime, called as the file unless --id says otherwise.
void import_benchncnn(const OptionParser& options, const std::string& table, const std::string& out) {
  if (options.has("space") && options.get("space") != nasbench::networks().name()) {
    throw UsageError("--space: benchncnn measures networks by name");
  }
  for (const char* other : {"devices", "rows", "unit", "operator-latencies", "quantity"}) {
    if (options.has(other) && options.get(other) != name(datasets::Quantity::latency))
      throw UsageError("--" + std::string(other) + " is of a CSV, not of what benchncnn prints");
  }
  const std::string id = options.has("id") ? options.get("id") : std::filesystem::path(table).stem().string();
  datasets::Findings findings;
  datasets::DeviceRuntime device = datasets::parse_benchncnn(read_file(table), table, id, findings);
  report(findings);
  require_all(options, table, findings);
  write_or_add(out, std::move(device), nasbench::networks());
}

std::map<std::string, std::vector<datasets::OperatorLatency>> operator_latencies_of(const OptionParser& options) {
  const std::filesystem::path networks = options.required("networks");
  if (networks.extension() != ".csv") {
    throw UsageError("--operator-latencies names columns of a CSV of operators; --networks is " + networks.string());
  }
  datasets::ColumnOfDevice columns;
  for (const std::string& pair : filled_parts(options.get("operator-latencies"))) {
    const std::size_t equals = pair.find('=');
    if (equals == 0 || equals == std::string::npos || equals + 1 == pair.size()) {
      throw UsageError("--operator-latencies: '" + pair + "', expected DEVICE=COLUMN");
    }
    if (!columns.emplace(pair.substr(0, equals), pair.substr(equals + 1)).second)
      throw UsageError("--operator-latencies names " + pair.substr(0, equals) + " twice");
  }
  return datasets::read_operator_latencies(networks, columns);
}

}  // namespace

void run_dataset_import(const OptionParser& options) {
  const datasets::Quantity quantity = quantity_option(options).value_or(datasets::Quantity::latency);
  const bool of_device = options.has("kit") || options.has("measurements");
  if (of_device && options.has("table"))
    throw UsageError("--table is one way, --kit and --measurements are another: give one");
  for (const char* other : {"unit", "rows", "devices", "operator-latencies"}) {
    if (of_device && options.has(other)) throw UsageError("--" + std::string(other) + " is of the columns of --table");
  }
  if (of_device) return import_measured(options, options.required("out"));
  const std::string table = options.required("table"), out = options.required("out");
  FileRoles files("--table", table);
  files.reads_networks(options);
  files.writes_devices("--out", out);
  datasets::WideTableOptions wide;
  wide.quantity = quantity;
  if (options.has("devices")) wide.devices = filled_parts(options.get("devices"));
  if (options.has("rows")) wide.rows = datasets::parse_row_range(options.get("rows"));
  if (options.has("unit")) {
    if (unit(quantity) != "ms")
      throw UsageError("--unit is of latencies; --quantity is " + std::string(name(quantity)));
    wide.unit_ms = datasets::milliseconds_of(options.get("unit"));
  }
  networks_of(options);
  if (is_benchncnn_file(table)) return import_benchncnn(options, table, out);
  if (options.has("id")) throw UsageError("--id names what a --kit, or a file of what benchncnn printed, becomes");
  if (options.has("operator-latencies")) wide.operator_latencies = operator_latencies_of(options);
  const nasbench::NetworkSpace& space = datasets::named_space(options.get("space"));
  const datasets::WideTableFile read(table, space, wide, out);
  const auto& columns = read.columns();
  if (std::all_of(columns.begin(), columns.end(), [](const auto& column) { return column.usable == 0; })) {
    datasets::throw_nothing_usable(table, std::string(title(quantity)), read.findings(), space);
  }
  report(read.findings());
  require_all(options, table, read.findings());
  std::vector<std::string> written;
  for (const auto& column : columns) {  // a device that cannot be added to is refused before anything is written
    if (column.usable > 0) written.push_back(column.id);
    const std::filesystem::path earlier = std::filesystem::path(out) / column.id;
    if (column.usable > 0 && is_there(earlier / "device.json")) datasets::read_device(earlier, quantity);
    if (column.usable == 0) say(column.id + ": has no usable " + std::string(title(quantity)) + " and is left out");
    if (column.whole_milliseconds) say(column.id + ": " + whole_numbers(quantity));
  }
  read.write_pool(out, [&](datasets::DeviceRuntime& device) { add_what_is_there(out, device, space); });
  say_written(out,
              "pool of " + std::to_string(written.size()) + " device-runtimes (" + datasets::quoted_list(written) + ")",
              "tenshot train --pool " + shell_word(out) + " --out pool.tenshot");
}

void run_dataset_describe(const OptionParser& options) {
  const std::string folder = options.required("pool");
  const datasets::Pool pool = datasets::read_pool(folder, quantity_option(options));
  const datasets::PoolSummary summary = datasets::describe(pool);
  std::cout << (options.has("json") ? datasets::to_json(summary, pool.findings).dump(1) + "\n"
                                    : datasets::to_text(summary, pool.findings));
}

void run_dataset_validate(const OptionParser& options) {
  const std::string folder = options.required("pool");
  const datasets::ValidationReport report = datasets::validate(folder);
  if (options.has("json")) {
    nlohmann::json found = datasets::to_json(report);
    found.erase("remarks");
    found["verdict"] = !report.sound() ? "problems" : report.remarks.empty() ? "sound" : "sound, with remarks";
    put_outcome(found);
    for (const std::string& remark : report.remarks) say(remark, {{"warns", true}});
  } else {
    std::cout << datasets::to_text(report);
    std::cout.flush();
  }
  const bool is_doubtful = options.has("strict") && !report.remarks.empty();
  if (!report.sound() || is_doubtful) print_outcome();
  if (!report.sound()) throw InputError(folder + ": this pool has problems, listed above");
  if (is_doubtful) {
    throw DoubtfulVerdict(folder + ": networks were never measured undisturbed, and --strict does not accept that");
  }
}

/// Matches the profiles of a measured kit to its operators, and writes them into its results.
void run_dataset_operators(const OptionParser& options) {
  const std::string folder = options.required("kit");
  if (!datasets::is_kit(folder)) throw InputError(folder + ": is no kit (it has no manifest.json)");
  const datasets::KitProfiles profiles = datasets::read_kit_profiles(folder);
  for (const std::string& problem : profiles.problems) say(problem);
  if (profiles.networks == 0) {
    throw InputError(folder + ": holds no profile that can be used; run measure.sh --profile on the device" +
                     (profiles.problems.empty() ? "" : ", and see: " + profiles.problems.front()));
  }
  const std::filesystem::path file = std::filesystem::path(folder) / "results" / "operators.csv";
  write_file_atomically(file, datasets::kernel_table(profiles.rows));
  say(profiles.summary(), {{"layers", profiles.layers},
                           {"matched", profiles.matched},
                           {"networks", profiles.networks},
                           {"matched_share", profiles.ms > 0 ? profiles.matched_ms / profiles.ms : 0}});
  say_written(file.string(), std::to_string(profiles.rows.size()) + " operators",
              "tenshot dataset import --kit " + shell_word(folder) + " --out pool");
}

}  // namespace tenshot::cli
